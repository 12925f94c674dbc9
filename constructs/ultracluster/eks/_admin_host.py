"""Admin host of an EKS cluster."""

from collections.abc import Mapping
from dataclasses import replace

import aws_cdk as cdk
import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct, IDependable

from ultracluster.catalogue.ec2 import image_parameter
from ultracluster.compute import user_data
from ultracluster.eks._admin_access import HTTPS, access_entry, https_rule
from ultracluster.eks._interfaces import IEksCluster
from ultracluster.network import check_private, check_same_vpc
from ultracluster.planning import checked, stack_of
from ultracluster.rules import Refusal
from ultracluster.security import NodeRole, acknowledge_wildcards
from ultracluster.storage import ILustreFileSystem

_SSH = 22
_VOLUME_GIB = 20
# The part of AmazonSSMManagedInstanceCore that runs associations.
# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSSMManagedInstanceCore.html (read 2026-11-21)
_ASSOCIATIONS = ("ssm:DescribeAssociation", "ssm:ListInstanceAssociations", "ssm:UpdateInstanceAssociationStatus")


@jsii.implements(ec2.IConnectable, iam.IGrantable)
class EksAdminHost(cdk.Resource):
    """A small instance in the VPC that administers an EKS cluster, reached by Session Manager only.

    It runs the newest Amazon Linux 2023, so a deployment after a release of AWS's image replaces it: it holds nothing.
    It has no public address, no inbound rule but those of Lustre's servers, IMDSv2 with a hop limit of 1, and an
    encrypted volume. Its role has an access entry with `AmazonEKSClusterAdminPolicy`, because it installs definitions
    and roles. Permission to start a session on it is permission to administer
    the cluster.

    Args:
        cluster: Cluster that it administers.
        vpc: VPC of the host.
        subnet: Private subnet of the host.
        endpoints: Security group of the interface endpoints, in a VPC without internet access. Default: none.
        lustre: File systems by mount point. EFA is not used. Default: none.
        instance_type: Instance type of x86_64, the architecture of the bundled kubectl and helm. Default: `t3.small`.

    Raises:
        Refusal: If the subnet is public, or subnet or endpoints are of another VPC.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster | IEksCluster,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        endpoints: ec2.ISecurityGroup | None = None,
        lustre: Mapping[str, ILustreFileSystem] | None = None,
        instance_type: str = "t3.small",
    ) -> None:
        super().__init__(scope, id)
        problems = check_same_vpc({"vpc": vpc, "subnet": subnet, "endpoints": endpoints})
        problems += check_private({"subnet": subnet})
        if problems:
            raise Refusal(self, problems)
        #: Cluster that it administers.
        self.cluster: eks.ICluster = cluster.cluster if hasattr(cluster, "cluster") else cluster
        #: Role of the host.
        self.role = NodeRole(self, "Role")
        stack: cdk.Stack = stack_of(self)
        run = [
            stack.format_arn(service="ec2", resource="instance", resource_name="*"),
            stack.format_arn(service="ssm", resource="association", resource_name="*"),
        ]
        self.role.add_to_principal_policy(iam.PolicyStatement(actions=list(_ASSOCIATIONS), resources=run))
        acknowledge_wildcards(
            self.role,
            run,
            "The agent of Systems Manager reads and updates its own associations; ids of instances and associations "
            "are not known at synthesis",
        )
        arn = stack.format_arn(service="eks", resource="cluster", resource_name=cluster.cluster_name)
        self.role.add_to_principal_policy(iam.PolicyStatement(actions=["eks:DescribeCluster"], resources=[arn]))
        #: Access entry of the role.
        self.access_entry = access_entry(self, "Entry", cluster=self.cluster, role=self.role)
        self._group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="Admin host of the Kubernetes cluster", allow_all_outbound=False
        )
        # AWS's services, chart repositories, and the API server.
        self._group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.tcp(HTTPS), "AWS, registries and the API server")
        self._connections = ec2.Connections(security_groups=[self._group], default_port=ec2.Port.tcp(_SSH))
        #: What must exist before the host administers the cluster, besides its instance.
        self.ready: list[IDependable] = [self.role, self.access_entry]
        self._allow("ApiServer", self.cluster.cluster_security_group_id, "API server from the admin host")
        if endpoints is not None:
            self._allow("Endpoints", endpoints.security_group_id, "Calls of AWS services from the admin host")
        l1 = ec2.CfnInstance
        self.resource = l1(
            self,
            "Resource",
            image_id=ssm.StringParameter.value_for_typed_string_parameter_v2(
                self, image_parameter("al2023", "x86_64"), ssm.ParameterValueType.AWS_EC2_IMAGE_ID
            ),
            instance_type=instance_type,
            iam_instance_profile=self.role.instance_profile.instance_profile_name,
            network_interfaces=[
                l1.NetworkInterfaceProperty(
                    device_index="0",
                    subnet_id=subnet.subnet_id,
                    group_set=[self._group.security_group_id],
                    associate_public_ip_address=False,
                )
            ],
            metadata_options=l1.MetadataOptionsProperty(http_tokens="required", http_put_response_hop_limit=1),
            block_device_mappings=[
                l1.BlockDeviceMappingProperty(
                    device_name="/dev/xvda",
                    ebs=l1.EbsProperty(volume_size=_VOLUME_GIB, volume_type="gp3", encrypted=True),
                )
            ],
            propagate_tags_to_volume_on_creation=True,
            user_data=self._mounts(lustre) if lustre else None,
        )
        cdk.Tags.of(self.resource).add("Name", self.node.path.replace("/", "-"))
        #: Id of the instance.
        self.instance_id = self.resource.ref
        for finding, reason in (
            ("AwsSolutions-EC26", "Its volume is encrypted; the rule fails in a stack that has launch templates"),
            ("AwsSolutions-EC28", "It runs no workload, and no alarm uses its metrics"),
            ("AwsSolutions-EC29", "It holds nothing: a deployment replaces it with a newer image"),
        ):
            cdk.Validations.of(self.resource).acknowledge(cdk.Acknowledgment(id=finding, reason=reason))

    @property
    def connections(self) -> ec2.Connections:
        """Network connections of the host, which accepts none; the default port is that of SSH."""
        return self._connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Role of the host."""
        return self.role.grant_principal

    def _allow(self, id: str, group_id: str, description: str) -> None:
        rule = https_rule(self, id, group_id=group_id, source=self._group, description=description)
        self.ready.append(rule)

    def _mounts(self, lustre: Mapping[str, ILustreFileSystem]) -> str:
        """Allow and mount file systems, on first use.

        See: https://docs.aws.amazon.com/fsx/latest/LustreGuide/install-lustre-client.html (read 2026-11-22)
        """
        rules = Construct(self, "Rules")
        for index, file_system in enumerate(lustre.values()):
            file_system.allow_clients(self, scope=Construct(rules, f"Lustre{index}"))
        # Without the unit that sets up EFA, which this type has not.
        mounts = [replace(file_system.mount(path), after=()) for path, file_system in lustre.items()]
        commands = ["dnf install --assumeyes lustre-client"]
        return cdk.Fn.base64(user_data(mounts=mounts, commands=commands))
