"""Grafana OSS on an EC2 instance, where Amazon Managed Grafana is not available or not wanted."""

import io
import json
import re
import shlex
import tarfile
from collections.abc import Mapping

import aws_cdk as cdk
import jsii
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.boot import scripts, without_comments
from ultracluster.catalogue.monitoring import SELF_HOSTED_VERSION
from ultracluster.compute import ScriptAsset, image_id, metadata_options, tag_specifications
from ultracluster.network import check_same_vpc
from ultracluster.observability._checks import region_problem
from ultracluster.observability._cloudwatch_access import cloudwatch_source
from ultracluster.observability._dashboards import CORE_PLUGIN, dashboard_problems, fitted
from ultracluster.observability._iprometheus_workspace import IPrometheusWorkspace
from ultracluster.observability._prometheus_workspace import workspace_of
from ultracluster.planning import checked, known, stack_of, text_problem
from ultracluster.planning.capacity import Image
from ultracluster.rules import Refusal, error
from ultracluster.security import NodeRole

# Amazon Linux 2023 has the agent of Session Manager and the AWS CLI.
# https://docs.aws.amazon.com/linux/al2023/ug/ec2.html (read 2026-11-21)
_IMAGE = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64"
_INSTANCE_TYPE, _DISK_GIB, _DEVICE = "t4g.small", 10, "/dev/xvda"
_HTTPS, _GRAFANA = 443, 3000
_STRICT = "set -euo pipefail"

# $NAME is Grafana's own: it takes the value from its environment.
# https://grafana.com/docs/grafana/latest/administration/provisioning/ (read 2026-11-21)
_DATA_SOURCE = """\
apiVersion: 1
prune: true
datasources:
  - uid: ultracluster
    name: Prometheus
    type: prometheus
    access: proxy
    isDefault: true
    editable: false
    url: $ULTRACLUSTER_PROMETHEUS_URL
    jsonData:
      httpMethod: POST
      timeInterval: 30s
      sigV4Auth: true
      sigV4AuthType: default
      sigV4Region: $ULTRACLUSTER_PROMETHEUS_REGION
"""
_DASHBOARDS = """\
apiVersion: 1
providers:
  - name: ultracluster
    folder: Cluster
    type: file
    disableDeletion: false
    allowUiUpdates: false
    options:
      path: /etc/ultracluster/grafana/dashboards
"""
_TOKEN = error("grafana-cloudwatch-region", "Files of the server contain the Region of CloudWatch.")
_VERSION = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,3}", re.ASCII)


@jsii.implements(ec2.IConnectable, iam.IGrantable, cdk.ITaggableV2)
class SelfHostedGrafana(Construct):
    """One small instance in a private subnet, reached through Session Manager.

    Dashboards and data sources come from files, so the instance has no state: an Auto Scaling group replaces it when it
    fails, and whenever the files change. Grafana listens on the loopback address; users forward a port, which IAM
    permits.

    As a principal of grants it is its role: `workspace.grants.query(grafana)`. The default port of its `connections`
    is 3000.

    Args:
        name: Name of the cluster.
        vpc: The VPC.
        subnet: A private subnet that reaches AWS, and rpm.grafana.com for the signed package.
        workspace: Prometheus workspace, its ARN or its id, as the data source.
        dashboards: JSON of each dashboard, by its uid.
        cloudwatch_region: Region whose CloudWatch metrics are a data source too, for `cloudwatch_dashboards`; then call
            `CloudWatchGrants.read(grafana)`. Default: no such data source.
        version: Version of Grafana OSS.

    Raises:
        Refusal: If a dashboard, the version, an id or a region is not valid; all at once.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        name: str,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        workspace: IPrometheusWorkspace | str,
        dashboards: Mapping[str, str],
        cloudwatch_region: str | None = None,
        version: str = SELF_HOSTED_VERSION,
    ) -> None:
        super().__init__(scope, id)
        problems = [
            *text_problem("version", version, _VERSION, f"a version such as {SELF_HOSTED_VERSION}"),
            *region_problem("cloudwatch_region", cloudwatch_region),
            *dashboard_problems(dashboards),
            *check_same_vpc({"vpc": vpc, "subnet": subnet}),
        ]
        if cloudwatch_region is not None and not known(cloudwatch_region):
            problems.append(_TOKEN("cloudwatch_region is written to a file: give its name, such as us-east-2"))
        if problems:
            raise Refusal(self, problems)
        source = workspace_of(self, workspace)
        role = NodeRole(self, "NodeRole")
        #: Its role.
        self.role: iam.IRole = role
        bundle = _bundle(fitted(dashboards, CORE_PLUGIN), cloudwatch_region)
        asset = ScriptAsset(self, "Content", text=bundle, suffix="tar")
        asset.grants.read(self.role)
        group = ec2.SecurityGroup(self, "Group", vpc=vpc, description="Grafana", allow_all_outbound=False)
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(_HTTPS), "AWS, and the package of Grafana")
        self._connections = ec2.Connections(security_groups=[group], default_port=ec2.Port.tcp(_GRAFANA))
        command = [version, asset.url, asset.sha256, source.query_url, source.region]
        words = " ".join(shlex.quote(word) if known(word) else word for word in command)
        script = without_comments(scripts.text("self-hosted-grafana.sh"))
        # Not of a launch template: tags of a cluster reach this instance, which keeps no state, and not its nodes.
        self._tags = cdk.TagManager(cdk.TagType.STANDARD, "AWS::AutoScaling::AutoScalingGroup")
        self._tags.set_tag("Name", f"{name}-grafana")
        properties = ec2.CfnLaunchTemplate
        template = properties(
            self,
            "Template",
            launch_template_data=properties.LaunchTemplateDataProperty(
                image_id=image_id(self, Image(parameter=_IMAGE)),
                instance_type=_INSTANCE_TYPE,
                iam_instance_profile=properties.IamInstanceProfileProperty(
                    arn=role.instance_profile.instance_profile_arn
                ),
                metadata_options=metadata_options(),
                network_interfaces=[
                    properties.NetworkInterfaceProperty(
                        device_index=0,
                        subnet_id=subnet.subnet_id,
                        groups=[group.security_group_id],
                        associate_public_ip_address=False,
                        delete_on_termination=True,
                    )
                ],
                block_device_mappings=[
                    properties.BlockDeviceMappingProperty(
                        device_name=_DEVICE,
                        ebs=properties.EbsProperty(
                            volume_size=_DISK_GIB, volume_type="gp3", encrypted=True, delete_on_termination=True
                        ),
                    )
                ],
                user_data=cdk.Fn.base64(script.replace(_STRICT, f"set -- {words}\n{_STRICT}", 1)),
                tag_specifications=tag_specifications(
                    self._tags.rendered_tags, "instance", "volume", "network-interface"
                ),
            ),
        )
        self.resource = autoscaling.CfnAutoScalingGroup(
            self,
            "Resource",
            min_size="1",
            max_size="1",
            launch_template=autoscaling.CfnAutoScalingGroup.LaunchTemplateSpecificationProperty(
                launch_template_id=template.ref, version=template.attr_latest_version_number
            ),
            vpc_zone_identifier=[subnet.subnet_id],
        )
        # A new version of the template replaces the instance.
        self.resource.cfn_options.update_policy = cdk.CfnUpdatePolicy(
            auto_scaling_rolling_update=cdk.CfnAutoScalingRollingUpdate(min_instances_in_service=0, max_batch_size=1)
        )
        self.resource.node.add_dependency(role)
        cdk.Validations.of(self.resource).acknowledge(
            cdk.Acknowledgment(
                id="AwsSolutions-AS3",
                reason="the group keeps one stateless instance; its replacement needs no action",
            )
        )
        stack: cdk.Stack = stack_of(self)
        # CloudFormation names it after stack and logical id. A reference would make other stacks wait for this one.
        #: Name of its Auto Scaling group, with `*` for the end that CloudFormation gives it, for conditions of IAM.
        self.group_pattern = f"{stack.stack_name}-{stack.resolve(self.resource.logical_id)}-*"
        #: Command that forwards the port; then open http://localhost:3000.
        self.command = (
            f"aws ssm start-session --region {stack.region} --document-name AWS-StartPortForwardingSession "
            "--parameters portNumber=3000,localPortNumber=3000 --target $(aws ec2 describe-instances "
            f"--region {stack.region} --filters Name=instance-state-name,Values=running "
            f"Name=tag:aws:autoscaling:groupName,Values={self.resource.ref} "
            "--query 'Reservations[0].Instances[0].InstanceId' --output text)"
        )

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the instance; the default port is 3000."""
        return self._connections

    @property
    def cdk_tag_manager(self) -> cdk.TagManager:
        """Tags of the instance, its volume and its network interface."""
        return self._tags

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role of the instance."""
        return self.role.grant_principal


def _bundle(dashboards: Mapping[str, str], cloudwatch_region: str | None = None) -> bytes:
    cloudwatch = ""
    if cloudwatch_region is not None:
        source = cloudwatch_source("cloudwatch", "CloudWatch", cloudwatch_region, "default")
        # JSON is YAML.
        cloudwatch = f"  - {json.dumps({**source, 'editable': False})}\n"
    files = {
        "provisioning/datasources/ultracluster.yaml": _DATA_SOURCE + cloudwatch,
        "provisioning/dashboards/ultracluster.yaml": _DASHBOARDS,
        **{f"dashboards/{uid}.json": text for uid, text in dashboards.items()},
    }
    packed = io.BytesIO()
    # The same bytes for the same files: no clock, no owner.
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, text in sorted(files.items()):
            content = text.encode()
            member = tarfile.TarInfo(path)
            member.mode = 0o644
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()
