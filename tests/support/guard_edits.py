"""Edits of the golden templates, each with what it does to stateful resources: the table that tests go through."""

import copy
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from cdk_rehearsal.guard import Fate
from support import GOLDEN

Template = dict[str, Any]

LUSTRE = "LustreF8935BA0"
GROUP = "LustreGroup54F4D61B"
RULES = ("LustreRulesSelfEgress46B2A791", "LustreRulesSelfIngressD82758AE")
KEY = "Key961B73FD"
DATA = "DataBucketE6B0FAA8"
DATA_POLICY = "DataBucketPolicyE215AACA"
LOGS = "DataAccessLogsC0C25EE4"
LOGS_POLICY = "DataAccessLogsPolicy459727B3"
LUSTRE_LOG = "LustreLogGroup600912ED"
FLOW_LOG = "NetworkFlowLogGroup4F8CEEEF"
SLURM = "Slurm2B67DB19"
SLURM_LOGS, NODE_LOGS = "LogsLogGroupF3C6ECB9", "NodeLogsLogGroup984EEA8D"
GONE: Any = object()


class Edit(NamedTuple):
    """One edit: the template, what is done to it, and what becomes of whom; who is not named is kept."""

    name: str
    stack: str
    change: Callable[[Template], None]
    fates: dict[str, Fate]


def golden(stack: str) -> Template:
    return dict(json.loads((GOLDEN / f"llama-{stack}.json").read_text()))


def edited(edit: Edit) -> Template:
    template = copy.deepcopy(golden(edit.stack))
    edit.change(template)
    return template


def put(value: Any, *path: str) -> Callable[[Template], None]:
    """Set the value at a path below Resources, or take it away."""

    def change(template: Template) -> None:
        node = template["Resources"]
        for depth, part in enumerate(path[:-1]):
            node = node.setdefault(part, {}) if depth else node[part]
        if value is GONE:
            del node[path[-1]]
        else:
            node[path[-1]] = value

    return change


def lustre(value: Any, *path: str) -> Callable[[Template], None]:
    return put(value, LUSTRE, "Properties", *path)


def config(value: Any, name: str) -> Callable[[Template], None]:
    return lustre(value, "LustreConfiguration", name)


def both(*changes: Callable[[Template], None]) -> Callable[[Template], None]:
    def change(template: Template) -> None:
        for item in changes:
            item(template)

    return change


def rename(old: str, new: str) -> Callable[[Template], None]:
    def change(template: Template) -> None:
        text = json.dumps(template["Resources"]).replace(f'"{old}', f'"{new}')
        template["Resources"] = json.loads(text)
        template["Outputs"] = json.loads(json.dumps(template["Outputs"]).replace(f'"{old}"', f'"{new}"'))

    return change


def drop(logical_id: str) -> Callable[[Template], None]:
    """Take a resource out, and the outputs and metric filters that refer to it."""

    def change(template: Template) -> None:
        del template["Resources"][logical_id]
        unrefer(template, logical_id)

    return change


def unrefer(template: Template, logical_id: str) -> None:
    for part, kind in (("Outputs", None), ("Resources", "AWS::Logs::MetricFilter")):
        template[part] = {
            name: body
            for name, body in template[part].items()
            if body.get("Type") != kind or f'"{logical_id}"' not in json.dumps(body)
        }


def under(condition: Any, logical_id: str) -> Callable[[Template], None]:
    def change(template: Template) -> None:
        name = f"Wanted{logical_id}"
        template.setdefault("Conditions", {})[name] = condition
        template["Resources"][logical_id]["Condition"] = name
        unrefer(template, logical_id)

    return change


OTHER_KEY = "arn:aws:kms:us-east-2:123456789012:key/00000000-0000-0000-0000-000000000000"
LUSTRE_FOLLOWS = {LUSTRE: Fate.REPLACED, GROUP: Fate.REPLACED, **dict.fromkeys(RULES, Fate.REPLACED)}
KEPT: dict[str, Fate] = {}

MOVED = both(*(rename(f"Lustre{item}", f"StorageLustre{item}") for item in ("F8935BA0", "Group", "Rules")))

EDITS = [
    # Nothing stateful is touched.
    Edit("the template's own description", "Storage", lambda t: t.update(Description="x"), KEPT),
    Edit("metadata alone", "Storage", put({"aws:cdk:path": "x"}, LUSTRE, "Metadata"), KEPT),
    Edit("a capacity written as text", "Storage", lustre("43200", "StorageCapacity"), KEPT),
    Edit("a boolean written as text", "Storage", config("True", "EfaEnabled"), KEPT),
    Edit(
        "GetAtt in its short form", "Storage", lustre([{"Fn::GetAtt": f"{GROUP}.GroupId"}], "SecurityGroupIds"), KEPT
    ),
    Edit(
        "the same reference through Fn::Sub",
        "Storage",
        lustre([{"Fn::Sub": f"${{{GROUP}.GroupId}}"}], "SecurityGroupIds"),
        KEPT,
    ),
    Edit("one more resource", "Storage", put({"Type": "AWS::S3::Bucket"}, "Another"), KEPT),
    Edit("a log group that nobody keeps", "Storage", put("/aws/fsx/other", LUSTRE_LOG, "Properties", "LogGroupName"),
         {LUSTRE: Fate.UPDATED}),
    Edit("protection that is stronger", "Storage", put("Retain", LUSTRE, "DeletionPolicy"), KEPT),
    Edit("a condition that always holds", "Storage", under({"Fn::Equals": ["a", "a"]}, DATA_POLICY), KEPT),
    # Updates in place.
    Edit("tags", "Storage", lustre([{"Key": "team", "Value": "x"}], "Tags"), {LUSTRE: Fate.UPDATED}),
    Edit("one more storage server", "Storage", lustre(48000, "StorageCapacity"), {LUSTRE: Fate.UPDATED}),
    Edit("compression", "Storage", config("NONE", "DataCompressionType"), {LUSTRE: Fate.UPDATED}),
    Edit("as many metadata IOPS as AUTOMATIC gave", "Storage",
         config({"Mode": "USER_PROVISIONED", "Iops": 12000}, "MetadataConfiguration"), {LUSTRE: Fate.UPDATED}),
    Edit("the key's description", "Storage", put("x", KEY, "Properties", "Description"), {KEY: Fate.UPDATED}),
    Edit("the bucket's lifecycle", "Storage", put(GONE, DATA, "Properties", "LifecycleConfiguration"),
         {DATA: Fate.UPDATED}),
    Edit("tags of the group: its id stays", "Storage", put([{"Key": "a", "Value": "b"}], GROUP, "Properties", "Tags"),
         {GROUP: Fate.UPDATED}),
    # Replacements.
    Edit("another key", "Storage", lustre(OTHER_KEY, "KmsKeyId"), {LUSTRE: Fate.UNKNOWN}),
    Edit("no key", "Storage", lustre(GONE, "KmsKeyId"), {LUSTRE: Fate.REPLACED}),
    Edit("from a backup", "Storage", lustre("backup-0123456789abcdef0", "BackupId"), {LUSTRE: Fate.REPLACED}),
    Edit("another deployment type", "Storage",
         both(config("PERSISTENT_1", "DeploymentType"), config(200, "PerUnitStorageThroughput"),
              config(GONE, "EfaEnabled"), config(GONE, "MetadataConfiguration")),
         {LUSTRE: Fate.REPLACED}),
    Edit("tags copied to backups", "Storage", config(True, "CopyTagsToBackups"), {LUSTRE: Fate.REPLACED}),
    Edit("another subnet, by its id", "Storage", lustre(["subnet-0fedcba9876543210"], "SubnetIds"),
         {LUSTRE: Fate.UNKNOWN}),
    Edit("a second security group", "Storage",
         lustre([{"Fn::GetAtt": [GROUP, "GroupId"]}, "sg-0123456789abcdef0"], "SecurityGroupIds"),
         {LUSTRE: Fate.REPLACED}),
    Edit("the group's description, which replaces it", "Storage",
         put("Lustre", GROUP, "Properties", "GroupDescription"), LUSTRE_FOLLOWS),
    Edit("a rule's protocol", "Storage", put("icmp", RULES[0], "Properties", "IpProtocol"), {RULES[0]: Fate.REPLACED}),
    Edit("a name for the bucket", "Storage", put("my-own-name", DATA, "Properties", "BucketName"),
         {DATA: Fate.REPLACED, DATA_POLICY: Fate.REPLACED, LOGS_POLICY: Fate.UPDATED}),
    Edit("another size of the controller", "Cluster", put("LARGE", SLURM, "Properties", "Size"),
         {SLURM: Fate.REPLACED, SLURM_LOGS: Fate.REPLACED, NODE_LOGS: Fate.REPLACED}),
    Edit("another subnet of the controller", "Cluster",
         put(["subnet-0fedcba9876543210"], SLURM, "Properties", "Networking", "SubnetIds"),
         {SLURM: Fate.UNKNOWN, SLURM_LOGS: Fate.UNKNOWN, NODE_LOGS: Fate.UNKNOWN}),
    # Refused by the service.
    Edit("EFA off", "Storage", config(False, "EfaEnabled"), {LUSTRE: Fate.REFUSED}),
    Edit("another tier with EFA", "Storage", config(500, "PerUnitStorageThroughput"), {LUSTRE: Fate.REFUSED}),
    Edit("a smaller capacity", "Storage", lustre(38400, "StorageCapacity"), {LUSTRE: Fate.REFUSED}),
    Edit("a capacity off the grid", "Storage", lustre(45600, "StorageCapacity"), {LUSTRE: Fate.REFUSED}),
    Edit("another storage class", "Storage", lustre("HDD", "StorageType"), {LUSTRE: Fate.REFUSED}),
    Edit("fewer metadata IOPS than AUTOMATIC gave", "Storage",
         config({"Mode": "USER_PROVISIONED", "Iops": 6000}, "MetadataConfiguration"), {LUSTRE: Fate.REFUSED}),
    Edit("metadata IOPS and capacity at once", "Storage",
         both(config({"Mode": "USER_PROVISIONED", "Iops": 24000}, "MetadataConfiguration"),
              lustre(48000, "StorageCapacity")), {LUSTRE: Fate.REFUSED}),
    Edit("no metadata configuration any more", "Storage", config(GONE, "MetadataConfiguration"),
         {LUSTRE: Fate.REFUSED}),
    Edit("an older Lustre", "Storage", lustre("2.12", "FileSystemTypeVersion"), {LUSTRE: Fate.REFUSED}),
    Edit("another kind of key", "Storage", put("RSA_4096", KEY, "Properties", "KeySpec"), {KEY: Fate.REFUSED}),
    Edit("another type under the id", "Storage", put("AWS::EFS::FileSystem", LUSTRE, "Type"), {LUSTRE: Fate.REFUSED}),
    # Removals.
    Edit("the file system leaves", "Storage", drop(LUSTRE), {LUSTRE: Fate.ORPHANED}),
    Edit("its id is renamed", "Storage", rename(LUSTRE, "Lustre2"), {LUSTRE: Fate.ORPHANED}),
    Edit("its construct is moved", "Storage", MOVED,
         {LUSTRE: Fate.ORPHANED, GROUP: Fate.ORPHANED, **dict.fromkeys(RULES, Fate.ORPHANED)}),
    Edit("the bucket policy leaves", "Storage", drop(DATA_POLICY), {DATA_POLICY: Fate.ORPHANED}),
    Edit("the controller leaves", "Cluster", drop(SLURM),
         {SLURM: Fate.DELETED, SLURM_LOGS: Fate.UNKNOWN, NODE_LOGS: Fate.UNKNOWN}),
    Edit("a condition that never holds", "Storage", under({"Fn::Equals": ["a", "b"]}, LUSTRE), {LUSTRE: Fate.ORPHANED}),
    Edit("the flow logs' group leaves", "Network", drop(FLOW_LOG), {FLOW_LOG: Fate.ORPHANED}),
    # Protection.
    Edit("no DeletionPolicy any more", "Storage", put(GONE, LUSTRE, "DeletionPolicy"), {LUSTRE: Fate.UNPROTECTED}),
    Edit("Delete instead of Retain", "Storage", put("Delete", KEY, "UpdateReplacePolicy"), {KEY: Fate.UNPROTECTED}),
    Edit("Snapshot instead of Retain", "Storage", put("Snapshot", DATA, "DeletionPolicy"), {DATA: Fate.UNPROTECTED}),
    Edit("unprotected and removed at once", "Storage",
         both(put(GONE, LUSTRE, "DeletionPolicy"), under({"Fn::Equals": ["a", "b"]}, LUSTRE)), {LUSTRE: Fate.DELETED}),
]  # fmt: skip
