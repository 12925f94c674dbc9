"""Observability add-on of SageMaker HyperPod."""

from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from ultracluster.catalogue.schedulers import hyperpod_add_ons as facts
from ultracluster.eks import EksAddOn, IEksCluster, pod_role
from ultracluster.observability import IPrometheusWorkspace
from ultracluster.planning import checked


class HyperPodObservabilityAddOn(Construct):
    """Metrics of jobs, queues and models of HyperPod, written to a workspace of Amazon Managed Service for Prometheus.

    Its metrics of nodes and GPUs are off by default, because the collectors of the platform write those: a second
    exporter of GPUs takes the profiling counters of the first.

    Args:
        cluster: EKS cluster of the add-on, with a node of HyperPod that has room for its pods: `4xlarge` or larger.
        workspace: Workspace to which it writes.
        node_metrics: Whether it collects metrics of nodes and GPUs, too. Default: no.
        role: Role of its collector, which must be allowed to write to the workspace. Default: a new one.
        version: Version. Default: the default of EKS when the add-on is created.

    See: https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-setup.html (read 2026-11-25)
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: eks.ICluster | IEksCluster,
        workspace: IPrometheusWorkspace,
        node_metrics: bool = False,
        role: iam.IRole | None = None,
        version: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        if role is None:
            role = pod_role(self, "Role")
            workspace.grants.write(role)
        levels = dict.fromkeys(facts.JOB_METRICS, "BASIC")
        levels |= dict.fromkeys(facts.NODE_METRICS, "BASIC" if node_metrics else "DISABLED")
        #: The add-on.
        self.add_on = EksAddOn(
            self,
            "AddOn",
            cluster=cluster,
            name=facts.OBSERVABILITY,
            version=version,
            service_account=facts.OBSERVABILITY_ACCOUNT,
            role=role,
            configuration={
                "ampWorkspace": {"arn": workspace.workspace_arn, "prometheusEndpoint": workspace.query_url},
                "logging": {"enabled": False},
                "metricsProvider": {
                    kind: {"level": level, "scrapeInterval": facts.SCRAPE_SECONDS}
                    for kind, level in sorted(levels.items())
                },
            },
        )
        if (policy := role.node.try_find_child("DefaultPolicy")) is not None:
            # Its collector starts with its permissions.
            self.add_on.node.add_dependency(policy)
