"""Rules that constructs and the cluster file share, each once: both check their own form of them."""

from collections.abc import Mapping
from typing import Literal

from ultracluster.rules._rule import Rule, RuleText, register

_ERRORS: Mapping[str, str] = {
    "capacity-count": "A reservation cannot hold more nodes than it has instances.",
    "capacity-service": "The service that launches the nodes must support the purchase option.",
    "hyperpod-bucket": "HyperPod reads lifecycle scripts from buckets named sagemaker-... only.",
    "image": "An image must be ready for the service and have the architecture of the type.",
    "kubernetes-chart": "A Helm release that does not exist, or a version that does not serve these nodes.",
    "kubernetes-name": "Kubernetes accepts names of lowercase letters, digits and hyphens, of at most 63 characters.",
    "kubernetes-platform": "Devices, schedulers, teams and volumes of one cluster must be possible together.",
    "kubernetes-second-zone": "EKS requires subnets in two zones of the Region.",
    "kubernetes-service-cidr": "EKS accepts private ranges of /24 to /12 for Services, outside the VPC.",
    "layout": "The instance type must have the network interfaces of the layout.",
    "local-zone": "A Local Zone has neither NAT gateways nor Slurm controllers.",
    "lustre-efa-interfaces": "AWS's tool configures a limited number of EFA interfaces.",
    "metrics-retention": "Prometheus keeps metrics for 1 to 1095 whole days.",
    "min-nodes": "AWS PCS powers off on-demand and Spot nodes only.",
    "network-range": "The ranges of VPC and subnets must be valid, within the VPC, and not overlap.",
    "network-subnets": "Each zone with nodes has one subnet, and each subnet has nodes.",
    "node-script": "AWS PCS accepts scripts in S3 or at HTTPS addresses, by name, with text arguments.",
    "node-script-checksum": "A script runs as root on each node: a node verifies its checksum first.",
    "node-script-count": "AWS PCS accepts at most 20 scripts in a stage, and 20 arguments for each.",
    "node-script-size": "AWS PCS accepts scripts of at most 2 MiB.",
    "perimeter": "A policy compares either the organization or the accounts of a request.",
    "placement-group": "EC2 supports a cluster placement group for some purchase options only.",
    "purchase-option": "EC2 offers each type with some purchase options: declare a new one under `types`.",
    "root-volume": "Container images need space, and a gp3 volume has a largest size.",
    "slurm-account": "The tree of accounts must have one root and no loop.",
    "slurm-accounting": "Accounts, QoS and billing need the accounting database.",
    "slurm-accounts-size": "One document of Systems Manager holds a limited number of accounts and users.",
    "slurm-controller-limit": "A Slurm controller manages a limited number of instances; its size cannot change.",
    "slurm-gres": "PCS accepts one `gpu` record of gres.conf for a node group, in Slurm's form.",
    "slurm-metrics": "AWS PCS serves Slurm's metrics from a version on, and sets what they need.",
    "slurm-purge-time": "PCS keeps accounting records for whole days.",
    "slurm-queue-nodes": "A queue has nodes of sections that exist, and PCS one kind of node for each.",
    "slurm-rest-api": "AWS PCS supports Slurm's REST API from a version on.",
    "slurm-setting": "PCS refuses settings that it manages, and Slurm those that contradict.",
    "slurm-user": "Linux and Slurm limit names and ids of users, and sshd accepts public keys of known types.",
    "ultraserver-whole": "An UltraServer is reserved whole: counts must be multiples of its instances.",
    "unknown-instance-type": "Network interfaces follow from the type: declare a new one under `types`.",
}
# They rest on a fact with a date: `accept` allows them in a cluster file, and constructs warn.
_ACCEPTABLE: Mapping[str, str] = {
    "hyperpod-region": "HyperPod is not available in every Region.",
    "hyperpod-type": "HyperPod supports a list of instance types, named ml.TYPE.",
    "kubernetes-scaling-tier": "EKS supports fixed scaling tiers of the control plane.",
    "kubernetes-version": "EKS supports each version of Kubernetes until a date.",
    "lustre-tier": "FSx for Lustre supports fixed throughput tiers, and fewer of them in some zones.",
    "lustre-version": "FSx supports Lustre 2.10, 2.12 and 2.15.",
    "pcs-region": "AWS PCS is not available in every Region.",
    "slurm-size": "AWS PCS supports the controller sizes SMALL, MEDIUM and LARGE.",
    "slurm-version": "AWS PCS supports each version of Slurm until a date.",
}
_WARNINGS: Mapping[str, str] = {
    "association-foreign-bucket": "A data repository association names an existing bucket, whose policy, key and "
    "lifecycle are not known.",
    "association-foreign-file-system": "An existing file system gets data repository associations; those that it "
    "has, and its backups, are not known.",
    "association-foreign-key": "The data bucket has a data repository association, and its existing key must allow "
    "FSx.",
    "declared-type": "A type is declared in the file, so its facts cannot be checked.",
    "existing-bucket": "The data bucket exists; the library does not configure or protect it.",
    "existing-lustre": "An existing file system is mounted; the library does not protect it.",
    "unpinned-image": "An image is AWS's newest at each deployment; nodes are replaced when it changes.",
}


def _rules(kind: Literal["error", "warning"], reasons: Mapping[str, str], *, acceptable: bool) -> dict[str, RuleText]:
    return {id: RuleText(id=id, kind=kind, reason=reason, acceptable=acceptable) for id, reason in reasons.items()}


#: The rules by id.
SHARED: Mapping[str, RuleText] = {
    **_rules("error", _ERRORS, acceptable=False),
    **_rules("error", _ACCEPTABLE, acceptable=True),
    **_rules("warning", _WARNINGS, acceptable=True),
}


def shared(id: str) -> Rule:
    """Register a rule of `SHARED` for constructs, which warn where `accept` of a cluster file allows an error."""
    rule = SHARED[id]
    return register(
        Rule(id=id, kind="warning" if rule.acceptable else "error", reason=rule.reason, acceptable=rule.acceptable)
    )
