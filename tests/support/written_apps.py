"""Apps whose assemblies are in files: what a rehearsal makes of a template needs no start of the CDK."""

import json
from collections.abc import Callable
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_kms as kms
from aws_cdk import aws_pcs as pcs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from aws_cdk import aws_ssm as ssm

_FLAGS = {"@aws-cdk/core:defaultCrossStackReferences": "weak"}
# Writes one of the assemblies beside it, as any app does for the CLI. Its name is an expression.
_PROGRAM = """
import json, os, pathlib, shutil
context = json.loads(os.environ["CDK_CONTEXT_JSON"])
assembly = pathlib.Path(__file__).parent / {name}
shutil.copytree(assembly, os.environ["CDK_OUTDIR"], dirs_exist_ok=True)
"""


def written_app_in(folder: Path, name: str = "'assembly'", **assemblies: Callable[[cdk.App], None]) -> Path:
    """Write an app that has some assemblies, and return its directory.

    Args:
        folder: Directory of the app.
        name: Python expression of `context` and `os.environ` with the name of the assembly that it writes.
        assemblies: Name -> function that fills an app.
    """
    for assembly, fill in assemblies.items():
        write(folder / assembly, fill)
    (folder / "app.py").write_text(_PROGRAM.format(name=name))
    (folder / "cdk.json").write_text(json.dumps({"app": "python3 app.py", "context": _FLAGS}))
    return folder


def write(outdir: Path, fill: Callable[[cdk.App], None], **context: object) -> None:
    """Synthesize an app, with more context than the flags."""
    app = cdk.App(context=_FLAGS | context, outdir=str(outdir), analytics_reporting=False)
    fill(app)
    app.synth()


def stacks_of_every_kind(app: cdk.App) -> None:
    """Two stacks and a stage, whose file system holds a subnet of another stack.

    With strong and weak references, look-ups, public parameters, every kind of maker.
    """
    env = cdk.Environment(account="210987654321", region="eu-north-1")
    base = cdk.Stack(app, "Base", env=env, termination_protection=True)
    vpc = ec2.Vpc(base, "Vpc", max_azs=1, flow_logs={"All": ec2.FlowLogOptions()})
    key = kms.Key(base, "Key", removal_policy=cdk.RemovalPolicy.DESTROY)
    group = ec2.SecurityGroup(base, "Group", vpc=vpc)
    group.add_ingress_rule(group, ec2.Port.all_traffic())
    cdk.CrossStackReferences.of(key).produce(cdk.ReferenceStrength.STRONG)

    stage = cdk.Stage(app, "Stage", env=env)
    net = cdk.Stack(stage, "Net")
    ipv4 = ec2.CfnVPC(net, "Vpc", cidr_block="10.1.0.0/24")
    place = ec2.CfnSubnet(net, "Subnet", vpc_id=ipv4.attr_vpc_id, cidr_block="10.1.0.0/25")
    top = cdk.Stack(stage, "Top")
    lustre = fsx.CfnFileSystem(
        top,
        "Lustre",
        file_system_type="LUSTRE",
        subnet_ids=[place.ref],
        storage_capacity=4800,
        lustre_configuration={"deploymentType": "PERSISTENT_2", "perUnitStorageThroughput": 500},
    )
    lustre.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
    more = cdk.Stack(app, "More", env=env)
    image = ec2.MachineImage.from_ssm_parameter("/aws/service/pcs/ami/dlami-base-ubuntu2404/x86_64/latest/ami-id")
    cards = [
        {"networkCardIndex": i, "deviceIndex": min(i, 1), "interfaceType": "efa", "groups": [group.security_group_id]}
        for i in range(16)
    ]
    data = {"imageId": image.get_image(more).image_id, "networkInterfaces": cards}
    template = ec2.CfnLaunchTemplate(more, "Template", launch_template_data=data)
    subnet = vpc.private_subnets[0].subnet_id
    cluster = pcs.CfnCluster(
        more,
        "Cluster",
        networking={"subnetIds": [subnet], "securityGroupIds": [group.security_group_id]},
        scheduler={"type": "SLURM", "version": "25.05"},
        size="SMALL",
    )
    gone = cdk.RemovalPolicy.DESTROY
    bucket = s3.Bucket(more, "Bucket", encryption_key=key, auto_delete_objects=True, removal_policy=gone)
    files = [deployment.Source.data("a.txt", "a")]
    deployment.BucketDeployment(more, "Files", destination_bucket=bucket, sources=files)
    names = [template.attr_latest_version_number, cluster.attr_id]
    ssm.StringParameter(more, "Names", string_value=cdk.Fn.join(",", names))
