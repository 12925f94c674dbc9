"""Elastic groups: Karpenter launches nodes with the same network interfaces as the launch templates.

See: https://karpenter.sh/docs/concepts/nodeclasses (1.14, read 2026-11-21)
"""

from ultracluster.boot import FSX_TAINT
from ultracluster.catalogue.ec2 import interfaces
from ultracluster.kubernetes._charts import release
from ultracluster.kubernetes._nodes import ROOT_DEVICES, PlatformNodes, device_labels
from ultracluster.kubernetes._objects import Object, make
from ultracluster.kubernetes._platform import KarpenterNodes, Platform
from ultracluster.kubernetes._release import HelmRelease
from ultracluster.planning.capacity import Block, Spot, TargetedReservation

# API group of HyperPod's own node class.
_SERVICE = "karpenter.sagemaker.amazonaws.com"
# A node that has nothing to do for so long is ended: longer than the pause between two jobs of a person.
_IDLE = "30m"
# The driver that removes `FSX_TAINT`.
_FSX_DRIVER = "fsx.csi.aws.com"


def karpenter_release(platform: Platform, nodes: KarpenterNodes) -> HelmRelease:
    """Return Karpenter, with repair of nodes that EKS's node monitoring agent reports."""
    gates = {"nodeRepair": True, "reservedCapacity": True}
    settings: Object = {"clusterName": platform.cluster, "featureGates": gates}
    if nodes.queue is not None:
        settings["interruptionQueue"] = nodes.queue
    return release("karpenter", platform.versions, {"replicas": 2, "settings": settings})


def karpenter_objects(platform: Platform) -> list[Object]:
    """Return a node class and a node pool for each elastic group."""
    result = []
    for group in platform.nodes:
        if not group.elastic:
            continue
        if platform.karpenter is not None:
            result += [_node_class(platform, group, platform.karpenter), _node_pool(platform, group)]
        elif platform.service_karpenter:
            result += [_service_class(group), _service_pool(group)]
    return result


def _service_class(group: PlatformNodes) -> Object:
    """Return the node class of a group of HyperPod, which has the network interfaces and disks.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html (read
    2026-11-25)
    """
    return make(f"{_SERVICE}/v1", "HyperpodNodeClass", group.name, spec={"instanceGroups": [group.name]})


def _service_pool(group: PlatformNodes) -> Object:
    """Return the node pool of a group of HyperPod, whose purchase option is that of the group."""
    return _pool(
        group,
        {"group": _SERVICE, "kind": "HyperpodNodeClass", "name": group.name},
        [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [group.label_of_type]}],
    )


def _node_class(platform: Platform, group: PlatformNodes, nodes: KarpenterNodes) -> Object:
    named = group.image or nodes.image
    image: Object = {"id": named} if named.startswith("ami-") else {"alias": named}
    root = {
        "deleteOnTermination": True,
        "encrypted": True,
        "volumeSize": f"{group.root_volume_gib}Gi",
        "volumeType": "gp3",
    }
    spec: Object = {
        "amiFamily": {"al2023": "AL2023", "bottlerocket": "Bottlerocket"}[group.os],
        "amiSelectorTerms": [image],
        "blockDeviceMappings": [{"deviceName": ROOT_DEVICES[group.os], "ebs": root}],
        # One hop: pods do not reach the node's credentials.
        "metadataOptions": {"httpEndpoint": "enabled", "httpPutResponseHopLimit": 1, "httpTokens": "required"},
        "networkInterfaces": [
            {"deviceIndex": row.device, "interfaceType": row.kind, "networkCardIndex": row.card}
            for row in interfaces(group.instance_type, group.layout)
        ],
        "role": nodes.role,
        "securityGroupSelectorTerms": [{"id": id} for id in nodes.security_groups],
        "subnetSelectorTerms": [{"id": id} for id in nodes.subnets],
        "tags": {"Name": f"{platform.cluster}-{group.name}", **group.tags},
    }
    if group.pods is not None:
        spec["kubelet"] = {"maxPods": group.pods}
    if group.placement_group is not None:
        spec["placementGroupSelector"] = {"name": group.placement_group}
    if group.instance_type.nvme[0]:
        spec["instanceStorePolicy"] = "RAID0"
    if isinstance(group.capacity, (Block, TargetedReservation)):
        spec["capacityReservationSelectorTerms"] = [{"id": group.capacity.reservation_id}]
    return make("karpenter.k8s.aws/v1", "EC2NodeClass", group.name, spec=spec)


def _node_pool(platform: Platform, group: PlatformNodes) -> Object:
    spot = isinstance(group.capacity, Spot)
    reserved = isinstance(group.capacity, (Block, TargetedReservation))
    bought = "spot" if spot else "reserved" if reserved else "on-demand"
    pool = _pool(
        group,
        {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": group.name},
        [
            {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": [group.instance_type.name]},
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [bought]},
        ],
    )
    # The kubelet registers them, once: https://github.com/kubernetes-sigs/karpenter/issues/1772 and
    # https://github.com/aws/karpenter-provider-aws, pkg/providers/launchtemplate/launchtemplate.go (1.14, both read
    # 2026-11-27)
    if any(volume.driver == _FSX_DRIVER for volume in platform.volumes.values()):
        taint = {"effect": FSX_TAINT.effect, "key": FSX_TAINT.key}
        pool["spec"]["template"]["spec"]["startupTaints"] = [taint]
    return pool


def _pool(group: PlatformNodes, node_class: Object, requirements: list[Object]) -> Object:
    template: Object = {"expireAfter": "Never", "nodeClassRef": node_class, "requirements": requirements}
    if group.node_taints:
        template["taints"] = [{"effect": taint.effect, "key": taint.key} for taint in group.node_taints]
    limits = {"cpu": str(group.count * group.instance_type.vcpus)}
    if group.instance_type.gpus:
        limits["nvidia.com/gpu"] = str(group.count * group.instance_type.gpus)
    spec = {
        # Only idle nodes end, also those that an edit made out of date: moving the pods of a gang would end the gang.
        # https://karpenter.sh/docs/concepts/disruption (1.14, read 2026-11-26)
        "disruption": {
            "budgets": [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "100%", "reasons": ["Empty"]}],
            "consolidateAfter": _IDLE,
            "consolidationPolicy": "WhenEmpty",
        },
        "limits": limits,
        "template": {
            "metadata": {"labels": {**device_labels(group.instance_type), **group.further_labels, **group.labels}},
            "spec": template,
        },
    }
    return make("karpenter.sh/v1", "NodePool", group.name, spec=spec)
