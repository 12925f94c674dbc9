"""IAM policies of the people of a cluster file's Slurm cluster."""

from dataclasses import dataclass

from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.orchestration import Output
from ultracluster.slurm._administrator_policy import PcsAdministratorPolicy
from ultracluster.slurm._interfaces import IPcsCluster
from ultracluster.slurm._node_health import allow_health_mode
from ultracluster.slurm._node_outputs import session
from ultracluster.slurm._pcs_compute_node_group import PcsComputeNodeGroup
from ultracluster.slurm._user_policy import PcsUserPolicy
from ultracluster.storage import Storage


@dataclass(frozen=True, kw_only=True)
class PeoplePolicies:
    """The policies, and the group that users log in to."""

    administrator: PcsAdministratorPolicy
    user: PcsUserPolicy
    login: PcsComputeNodeGroup

    def outputs(self, cluster: ClusterFile) -> list[Output]:
        """Return the outputs that attach the policies, and that log users in."""
        command = f"{session(self.login, cluster)} --document-name {self.user.session_document.ref}"
        return [
            Output(
                "AdministratorPolicyArn",
                "IAM policy of who operates the cluster",
                self.administrator.managed_policy_arn,
            ),
            Output("UserPolicyArn", "IAM policy of who runs jobs", self.user.managed_policy_arn),
            Output("UserLoginCommand", "How users log in, as the Linux user of their tag SSMSessionRunAs", command),
        ]


def people_policies(
    scope: Construct,
    cluster: ClusterFile,
    controller: IPcsCluster,
    storage: Storage,
    *,
    login_role: iam.IRole,
    login: PcsComputeNodeGroup,
    grafana: str | None,
) -> PeoplePolicies:
    """Create the policies of administrators and users; users have the data bucket too.

    Args:
        scope: Scope of the policies.
        cluster: Cluster file.
        controller: Slurm controller.
        storage: Storage of the cluster, with its data bucket.
        login_role: Role of the login nodes.
        login: Login nodes.
        grafana: Name of the Auto Scaling group of the Grafana server; see `PcsUserPolicy`.
    """
    policies = PeoplePolicies(
        administrator=PcsAdministratorPolicy(
            scope, "AdministratorPolicy", cluster=controller, node_roles=[controller.node_role, login_role]
        ),
        user=PcsUserPolicy(
            scope,
            "UserPolicy",
            cluster=controller,
            login=login,
            grafana=grafana,
        ),
        login=login,
    )
    allow_health_mode(policies.administrator, scope, cluster=cluster.name)
    if storage.data_bucket is not None:
        storage.data_bucket.grants.read_write(policies.user)
    return policies
