"""Rules that constructs and the cluster file share, each once: both check their own form of them."""

from collections.abc import Mapping
from typing import Literal

from ultracluster.rules._rule import Rule, RuleText, register

_ERRORS: Mapping[str, str] = {
    "capacity-count": "A reservation cannot hold more nodes than it has instances.",
    "capacity-service": "The service that launches the nodes must support the purchase option.",
    "image": "An image must be ready for the service and have the architecture of the type.",
    "kubernetes-chart": "A Helm release that does not exist, or a version that does not serve these nodes.",
    "kubernetes-name": "Kubernetes takes lowercase labels of at most 63 characters as names.",
    "kubernetes-platform": "Devices, schedulers, teams and volumes of one cluster must be possible together.",
    "kubernetes-second-zone": "EKS needs subnets in two zones of the region.",
    "kubernetes-service-cidr": "EKS takes private ranges of some sizes for Services, outside the VPC.",
    "layout": "The instance type must have the network interfaces of the layout.",
    "local-zone": "A Local Zone has neither NAT gateways nor Slurm controllers.",
    "lustre-efa-interfaces": "AWS's tool configures a limited number of EFA interfaces.",
    "metrics-retention": "Prometheus keeps metrics for 1 to 1095 whole days.",
    "min-nodes": "PCS powers nodes off for some capacities only.",
    "network-range": "The ranges of VPC and subnets must be valid, within the VPC, and not overlap.",
    "network-subnets": "Each zone with nodes has one subnet, and each subnet has nodes.",
    "node-script": "AWS PCS takes some names, locations, arguments and contents of scripts only.",
    "node-script-checksum": "A script runs as root on each node: a node verifies its checksum first.",
    "node-script-count": "AWS PCS takes at most 20 scripts in a stage, and 20 arguments of each.",
    "node-script-size": "AWS PCS takes scripts of at most 2 MiB.",
    "perimeter": "A policy compares either the organization or the accounts of a request.",
    "placement-group": "EC2 takes a placement group with some capacities only.",
    "purchase-option": "EC2 sells each type with some purchase options: declare a new one under `types`.",
    "root-volume": "Container images need space, and a gp3 volume has a largest size.",
    "slurm-account": "The tree of accounts must have one root and no loop.",
    "slurm-accounting": "Accounts, QoS and billing need the accounting database.",
    "slurm-accounts-size": "One document of Systems Manager holds a limited number of accounts and users.",
    "slurm-controller-limit": "A Slurm controller manages a limited number of instances; its size cannot change.",
    "slurm-gres": "PCS and Slurm take some records of gres.conf only.",
    "slurm-metrics": "PCS serves metrics of newer versions only, and sets what they need.",
    "slurm-purge-time": "PCS keeps accounting records for whole days.",
    "slurm-queue-nodes": "A queue has nodes of sections that exist, and PCS one kind of node for each.",
    "slurm-rest-api": "PCS has the REST API of newer versions only.",
    "slurm-setting": "PCS refuses settings that it manages, and Slurm those that contradict.",
    "slurm-user": "Linux and Slurm take some names, numbers and keys only.",
    "ultraserver-whole": "An UltraServer is bought whole: counts must be multiples of its instances.",
    "unknown-instance-type": "Network interfaces follow from the type: declare a new one under `types`.",
}
# They rest on a fact with a date: `accept` allows them in a cluster file, and constructs warn.
_ACCEPTABLE: Mapping[str, str] = {
    "hyperpod-region": "HyperPod is not available in every region.",
    "hyperpod-type": "HyperPod has some instance types only.",
    "kubernetes-scaling-tier": "EKS has some tiers of the control plane only.",
    "kubernetes-version": "EKS runs some versions of Kubernetes only, until a date.",
    "lustre-tier": "FSx for Lustre sells some throughput tiers, and not all of them in each zone.",
    "lustre-version": "FSx runs some versions of Lustre only.",
    "pcs-region": "AWS PCS is not available in every region.",
    "slurm-size": "PCS has some sizes of controllers only.",
    "slurm-version": "PCS runs some versions of Slurm only, until a date.",
}
_WARNINGS: Mapping[str, str] = {
    "association-foreign-bucket": "A link names an existing bucket, whose policy, key and lifecycle are not known.",
    "association-foreign-file-system": "An existing file system is linked; its links and backups are not known.",
    "association-foreign-key": "The data bucket is linked, and its existing key must allow FSx.",
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
