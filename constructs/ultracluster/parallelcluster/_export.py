"""The configuration of a cluster, in the words of ParallelCluster 3."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ultracluster.catalogue.ec2 import Architecture, partition_of
from ultracluster.clusterfile import ClusterFile, source_range
from ultracluster.kubernetes import to_yaml
from ultracluster.parallelcluster._notes import Note, key_notes, path_of
from ultracluster.parallelcluster._queues import architecture, queues
from ultracluster.parallelcluster._scripts import Scripts
from ultracluster.parallelcluster._settings import slurm_settings
from ultracluster.parallelcluster._storage import shared_storage
from ultracluster.parallelcluster._subnets import Subnets

#: File of the configuration, in the output directory.
CONFIGURATION = "parallelcluster/cluster.yaml"
# All types of the catalogue, GB200 included, and both architectures: SUPPORTED_OSES and SUPPORTED_OSES_FOR_P6E_GB200 of
# pcluster/constants.py, aws-parallelcluster 3.16.1 (read 2026-11-23). The images that this library builds have it too.
_OS = "ubuntu2404"
# HeadNodeMemorySizeValidator of aws-parallelcluster 3.16.1 requires 16 GiB at most, for 385 nodes and more (read
# 2026-11-23); every second doubling of the nodes doubles the head node here.
_HEAD_NODES: Mapping[int, str] = {32: "2xlarge", 512: "4xlarge", 2048: "8xlarge"}
_FAMILIES: Mapping[Architecture, str] = {"x86_64": "m7i", "arm64": "m7g"}
# RetentionInDays of the schema of aws-parallelcluster 3.16.1 (read 2026-11-23).
_RETENTIONS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653)
# Nobody: AllowedIps is 0.0.0.0/0 by default.
_NOBODY = "127.0.0.1/32"


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """A configuration of ParallelCluster.

    Args:
        text: YAML for `pcluster create-cluster`.
        scripts: Scripts of the custom actions by path; they belong into the bucket.
        scripts_url: Where in the bucket, or None without scripts.
        notes: What is not carried over, or not as it was.
    """

    text: str
    scripts: Mapping[str, str]
    scripts_url: str | None
    notes: tuple[Note, ...]


def parallelcluster_configuration(cluster: ClusterFile, *, bucket: str | None = None) -> Configuration:
    """Return the configuration of ParallelCluster 3.16 for a cluster file.

    Args:
        cluster: The cluster file, with `orchestrator: slurm`.
        bucket: Bucket of the scripts of the custom actions. Default: none, and with it no custom actions;
            a file with an existing data bucket must have one if nodes run scripts.

    Raises:
        ValueError: If the orchestrator is not AWS PCS, or a script of nodes would be in the existing data bucket of
            the file, to which jobs write. Without `bucket`, they would: earlier configurations have them there.
    """
    if cluster.traits.capacity_service != "pcs":
        raise ValueError(
            f"ParallelCluster runs Slurm, and orchestrator is {cluster.orchestrator}; load the file with "
            "orchestrator='slurm', which names each key without an equivalent, and what to write instead"
        )
    notes: list[Note] = list(key_notes(cluster))
    scripts = Scripts(cluster, bucket, notes)
    subnets = Subnets(cluster, notes)
    scripts.note_login_nodes()
    slurm_queues = queues(cluster, subnets, scripts, notes)
    storage = shared_storage(cluster, [group.zone for group in cluster.node_groups], notes)
    head_node = _head_node(cluster, subnets, scripts)
    document = {
        "Region": cluster.region,
        "Image": {"Os": _OS},
        "Imds": {"ImdsSupport": "v2.0"},
        "HeadNode": head_node,
        "LoginNodes": _login_nodes(cluster, subnets, notes),
        "Scheduling": {
            "Scheduler": "slurm",
            "SlurmSettings": slurm_settings(cluster, notes),
            "SlurmQueues": slurm_queues,
        },
        "SharedStorage": storage,
        "Monitoring": {"Logs": {"CloudWatch": _logs(cluster, notes)}},
        "DirectoryService": _directory(cluster, notes),
        "Tags": [{"Key": key, "Value": value} for key, value in cluster.tags.items()],
    }
    notes += _lost_defaults(cluster)
    return Configuration(
        text=to_yaml([{key: value for key, value in document.items() if value not in (None, [])}]),
        scripts=scripts.files,
        scripts_url=scripts.url if scripts.files else None,
        notes=tuple(dict.fromkeys(notes)),
    )


def _head_node(cluster: ClusterFile, subnets: Subnets, scripts: Scripts) -> dict[str, Any]:
    size = next((size for most, size in _HEAD_NODES.items() if cluster.instances <= most), "12xlarge")
    ssh = cluster.slurm.login.ssh
    policy = f"arn:{partition_of(cluster.region)}:iam::aws:policy/AmazonSSMManagedInstanceCore"
    actions = scripts.of_head_node()
    return {
        "InstanceType": f"{_FAMILIES[architecture(cluster)]}.{size}",
        "Networking": {"SubnetId": subnets.of(cluster.control_plane_zone, ("network",))},
        "Ssh": {
            **({"KeyName": ssh.key_pair} if ssh else {}),
            "AllowedIps": source_range(ssh.sources[0]) if ssh else _NOBODY,
        },
        "Imds": {"Secured": cluster.slurm.imds == "root"},
        # Session Manager, as on the login nodes of AWS PCS.
        "Iam": {"AdditionalIamPolicies": [{"Policy": policy}], **scripts.permissions()},
        **({"CustomActions": actions} if actions else {}),
    }


def _login_nodes(cluster: ClusterFile, subnets: Subnets, notes: list[Note]) -> dict[str, Any]:
    login, family = cluster.slurm.login, architecture(cluster)
    name = cluster.service_type.name
    if cluster.service_type.architecture != family:
        name = f"{_FAMILIES[family]}.2xlarge"
        notes.append(
            Note(
                path=path_of(cluster, "slurm", "login", "type"),
                reason=f"login nodes have the architecture of the nodes, {family}; the configuration has {name}",
                fix=f"choose another type of {family}",
            )
        )
    if login.ssh and len(login.ssh.sources) > 1:
        notes.append(
            Note(
                path=("slurm", "login", "ssh", "from"),
                reason="AllowedIps is one range; the configuration has the first",
                fix="create a managed prefix list, and name it in AllowedIps",
            )
        )
    policy = f"arn:{partition_of(cluster.region)}:iam::aws:policy/AmazonSSMManagedInstanceCore"
    pool = {
        "Name": "login",
        "InstanceType": name,
        "Count": login.count,
        "Networking": {"SubnetIds": [subnets.of(cluster.control_plane_zone, ("network",))]},
        "Ssh": {"AllowedIps": source_range(login.ssh.sources[0]) if login.ssh else _NOBODY},
        "Iam": {"AdditionalIamPolicies": [{"Policy": policy}]},
    }
    return {"Pools": [pool]}


def _logs(cluster: ClusterFile, notes: list[Note]) -> dict[str, Any]:
    days = -(-cluster.slurm.logs.retention.seconds // 86_400)
    kept = next((allowed for allowed in _RETENTIONS if allowed >= days), _RETENTIONS[-1])
    if kept != days:
        notes.append(
            Note(
                path=("slurm", "logs", "retention"),
                reason=f"RetentionInDays cannot be {days}; the configuration has {kept}",
                fix=f"use one of {', '.join(map(str, _RETENTIONS))} d",
            )
        )
    return {"RetentionInDays": kept, "DeletionPolicy": "Retain"}


def _directory(cluster: ClusterFile, notes: list[Note]) -> dict[str, Any] | None:
    section = cluster.slurm.directory
    if section is None:
        return None
    directory = section.one
    if directory.key:
        notes.append(
            Note(
                path=path_of(cluster, "slurm", "directory", "managed-ad" if section.managed_ad else "ldap", "key"),
                reason="ParallelCluster does not allow the head node to decrypt with the key",
                fix="allow its role kms:Decrypt in the policy of the key",
            )
        )
    # What sssd.conf of the nodes under AWS PCS has too: boot/_directory.py.
    configs = (
        {
            "ldap_schema": "AD",
            "ldap_id_mapping": "True",
            "ldap_user_ssh_public_key": "altSecurityIdentities",
            "ldap_account_expire_policy": "ad",
        }
        if section.managed_ad
        else {
            "ldap_schema": "rfc2307",
            "ldap_id_mapping": "False",
            "ldap_user_ssh_public_key": "sshPublicKey",
            "ldap_account_expire_policy": "shadow",
        }
    )
    configs |= {"access_provider": "ldap", "ldap_access_order": section.for_nodes.access_order}
    return {
        "DomainName": directory.base_dn,
        "DomainAddr": ",".join(directory.servers),
        "DomainReadOnlyUser": directory.bind_dn,
        "PasswordSecretArn": directory.secret,
        "LdapTlsReqCert": "demand",
        **({"LdapAccessFilter": directory.filter} if directory.filter else {}),
        **({"LdapTlsCaCert": "/etc/ultracluster/directory-ca.pem"} if directory.certificates else {}),
        "AdditionalSssdConfigs": configs,
    }


def _lost_defaults(cluster: ClusterFile) -> Iterator[Note]:
    """Note what a cluster file brings without a key of its own, and ParallelCluster lacks."""
    if cluster.storage.data_bucket is True:
        yield Note(
            path=path_of(cluster, "storage", "data-bucket"),
            reason="ParallelCluster creates no data bucket",
            fix="create one, and name it in S3Access of HeadNode.Iam and of each queue's Iam",
        )
    elif cluster.storage.existing_bucket and cluster.storage.existing_bucket.key:
        yield Note(
            path=("storage", "data-bucket", "key"),
            reason="S3Access allows no use of a KMS key",
            fix="allow the roles of head node and queues kms:Decrypt and kms:GenerateDataKey in the policy of the key",
        )
    if cluster.observability.on and "observability" not in cluster.model_fields_set:
        yield Note(
            path=("orchestrator",),
            reason="ParallelCluster has CloudWatch dashboards and alarms in the place of Prometheus and Grafana",
            fix="run Prometheus yourself: ultracluster render --rules --dashboards writes its rules and dashboards",
        )
    if cluster.slurm.imds == "root":
        yield Note(
            path=path_of(cluster, "slurm", "imds"),
            reason="ParallelCluster limits the instance metadata service to root on the head node only",
            fix="limit it on compute nodes in a custom action, with iptables --match owner",
        )
    if not cluster.network.internet:
        yield Note(
            path=("network", "internet"),
            reason="ParallelCluster creates no endpoints, and without internet access has requirements of its own",
            fix="https://docs.aws.amazon.com/parallelcluster/latest/ug/"
            "aws-parallelcluster-in-a-single-public-subnet-no-internet-v3.html",
        )
    for name in sorted({group.section for group in cluster.node_groups if group.ultraserver}):
        yield Note(
            path=("nodes", name, "type"),
            reason="ParallelCluster starts IMEX, and a prolog that its users install makes the domain of each job",
            fix="install AWS's prolog: https://docs.aws.amazon.com/parallelcluster/latest/ug/"
            "support-nvidia-imex-p6e-gb200-instance.html",
        )
    for name, section in cluster.nodes.items():
        if section.image not in (None, "aws"):
            yield _image_note(("nodes", name, "image"))
    if cluster.image != "aws":
        yield _image_note(("image",))
    if cluster.slurm.login.image not in (None, "aws"):
        yield _image_note(("slurm", "login", "image"))


def _image_note(path: tuple[str, ...]) -> Note:
    return Note(
        path=path,
        reason=f"an image for AWS PCS lacks ParallelCluster's software; nodes have ParallelCluster's of {_OS}",
        fix="build one with pcluster build-image, with this image as ParentImage, and set CustomAmi",
    )
