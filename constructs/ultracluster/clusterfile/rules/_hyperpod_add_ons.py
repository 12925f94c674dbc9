"""Add-ons of SageMaker HyperPod that a deployment does not create, and what to do instead."""

from collections.abc import Mapping

from ultracluster.clusterfile._draft import Draft

_LATER = "or create it after the deployment: aws eks create-addon"
_INSTEAD: Mapping[str, str] = {
    "amazon-sagemaker-hyperpod-taskgovernance": "has a Kueue of its own, and a cluster has one; remove it, and write "
    "scheduler: task-governance",
}


def instead_of_add_on(name: str, draft: Draft) -> str:
    """Return why the add-on is not created, and what to do."""
    if not draft.traits.kubernetes_nodes.add_ons:
        return "is for clusters of SageMaker HyperPod; remove it, or write orchestrator: hyperpod-kubernetes"
    created = ", ".join(draft.traits.kubernetes_nodes.add_ons)
    return _INSTEAD.get(name, f"is not one of those that this release creates, {created}; remove it, {_LATER}")
