"""Stateful resources: those whose data an empty replacement does not restore, and why."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cdk_rehearsal.guard._template import Template
from cdk_rehearsal.registry import walk

_FILES = "it holds the files"
_ROWS = "it holds the tables"

#: Resource type -> what would be lost with it. A selection; what a template retains counts as well.
STATEFUL: Mapping[str, str] = MappingProxyType(
    {
        "AWS::FSx::FileSystem": _FILES,
        "AWS::FSx::Volume": _FILES,
        "AWS::FSx::StorageVirtualMachine": "its volumes hold the files",
        "AWS::FSx::Snapshot": "it is a copy of the files",
        "AWS::FSx::DataRepositoryAssociation": "changes that are not exported to S3 yet are lost with the link",
        "AWS::S3::Bucket": "it holds the objects",
        "AWS::S3Express::DirectoryBucket": "it holds the objects",
        "AWS::S3Tables::TableBucket": _ROWS,
        "AWS::S3Tables::Table": "it holds the rows",
        "AWS::S3Vectors::VectorBucket": "it holds the vectors",
        "AWS::S3Vectors::Index": "it holds the vectors",
        "AWS::S3Files::FileSystem": "writes that have not reached its bucket yet are lost with it",
        "AWS::EFS::FileSystem": _FILES,
        "AWS::EC2::Volume": "it holds the blocks",
        "AWS::KMS::Key": "what it encrypted cannot be read without it",
        "AWS::KMS::ReplicaKey": "what it encrypted cannot be read without it",
        "AWS::SecretsManager::Secret": "a generated secret exists nowhere else",
        "AWS::Backup::BackupVault": "it holds the recovery points",
        "AWS::Backup::LogicallyAirGappedBackupVault": "it holds the recovery points",
        "AWS::ECR::Repository": "it holds the images",
        "AWS::APS::Workspace": "it holds the metrics' history",
        "AWS::Grafana::Workspace": "it holds dashboards made by hand, and users",
        "AWS::PCS::Cluster": "its queues hold the waiting jobs, and its accounting database the history",
        "AWS::EKS::Cluster": "it holds every Kubernetes object",
        "AWS::SageMaker::Cluster": "its nodes hold Slurm's state and local volumes",
        "AWS::SageMaker::Domain": "its home file system holds the users' files",
        "AWS::SageMaker::MlflowTrackingServer": "it holds the record of the experiments",
        "AWS::DynamoDB::Table": "it holds the items",
        "AWS::DynamoDB::GlobalTable": "it holds the items",
        "AWS::RDS::DBInstance": _ROWS,
        "AWS::RDS::DBCluster": _ROWS,
        "AWS::RDS::GlobalCluster": _ROWS,
        "AWS::DocDB::DBCluster": "it holds the documents",
        "AWS::Neptune::DBCluster": "it holds the graph",
        "AWS::Redshift::Cluster": _ROWS,
        "AWS::Timestream::Table": "it holds the series",
        "AWS::OpenSearchService::Domain": "it holds the indices",
        "AWS::Cognito::UserPool": "it holds the users",
        "AWS::CloudFormation::Stack": "its own template may hold any of these",
    }
)

# EKS add-on -> what would be lost with it.
_ADD_ONS = {
    "amazon-sagemaker-hyperpod-taskgovernance": "its Kueue holds the admitted and the waiting jobs",
    "aws-efs-csi-driver": "running pods lose their mounts of EFS, whose connections its pods keep",
}
# By Pod Identity it has its permissions: https://karpenter.sh/docs/troubleshooting, "Unable to delete nodes after
# uninstalling Karpenter" (1.14, read 2026-11-27).
_KARPENTER = "only Karpenter ends the instances that it launched: without its permissions they run on, and cost money"
#: Kept for what was started from them, and built again from what the template says: each content is another resource.
_BUILT = frozenset({"AWS::ImageBuilder::Image"})
_AUDIT = "it holds audit data: {} writes to it"
# The properties in which they name their log group.
_AUDIT_WRITERS = {
    "AWS::EC2::FlowLog": ("LogGroupName", "LogDestination"),
    "AWS::CloudTrail::Trail": ("CloudWatchLogsLogGroupArn",),
}
KEPT = ("Retain", "RetainExceptOnCreate")
_POLICIES = ("DeletionPolicy", "UpdateReplacePolicy")


def stateful(template: Template) -> dict[str, str]:
    """Return the stateful resources of a template by logical id, each with what would be lost.

    A security group, a rule, a bucket policy or a log group counts when its template retains it: the author of
    that needs it. So do the permissions of Karpenter, without which nothing ends its instances. An image of Image
    Builder does not count: it is built again from its recipe.
    """
    audit = _audit_logs(template)
    result = {}
    for logical_id, resource in template.resources.items():
        kind = resource["Type"]
        kept = [f"{policy} {resource[policy]}" for policy in _POLICIES if resource.get(policy) in KEPT]
        if kind in STATEFUL:
            result[logical_id] = STATEFUL[kind]
        elif kind == "AWS::EKS::Addon" and (lost := _ADD_ONS.get(str(resource.get("Properties", {}).get("AddonName")))):
            result[logical_id] = lost
        elif _permits_karpenter(resource):
            result[logical_id] = _KARPENTER
        elif kind.endswith("::MODULE"):
            result[logical_id] = "the resources of the module are known at AWS only"
        elif logical_id in audit:
            result[logical_id] = _AUDIT.format(audit[logical_id])
        elif kept and kind not in _BUILT:
            result[logical_id] = f"its template keeps it ({kept[0]})"
    return result


def _permits_karpenter(resource: Mapping[str, Any]) -> bool:
    """Return whether a resource of a template gives Karpenter its permissions."""
    service_account = (resource.get("Properties") or {}).get("ServiceAccount")
    return resource.get("Type") == "AWS::EKS::PodIdentityAssociation" and service_account == "karpenter"


def _audit_logs(template: Template) -> dict[str, str]:
    result = {}
    for writer, resource in template.resources.items():
        for name in _AUDIT_WRITERS.get(resource["Type"], ()):
            for target in _names((resource.get("Properties") or {}).get(name)):
                if template.resources.get(target, {}).get("Type") == "AWS::Logs::LogGroup":
                    result[target] = writer
    return result


def _names(node: Any) -> Iterator[str]:
    """Go through every text of an expression that may be a logical id, wherever an intrinsic holds it."""
    for text in walk(node):
        if isinstance(text, str):
            yield text
            yield text.partition(".")[0]
            for piece in text.split("${")[1:]:
                yield piece.partition("}")[0].partition(".")[0]
