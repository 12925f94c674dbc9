"""Metrics, alerts and dashboards: may be thrown away and made anew."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster import patterns
from ultracluster.clusterfile import ClusterFile
from ultracluster.orchestration import PcsCluster
from ultracluster.patterns import Kubernetes


class ObservabilityStack(cdk.Stack):
    """Prometheus, Grafana, alerts and alarms. Metrics go with it; jobs and their data don't notice."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: patterns.Network,
        storage: patterns.Storage,
        plane: PcsCluster | Kubernetes,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id, description=f"Observability of the cluster {cluster.name}", **kwargs)
        self.parts = (
            patterns.kubernetes_observability(self, cluster, network, storage, plane)
            if isinstance(plane, Kubernetes)
            else patterns.observability(self, cluster, network, storage, nodes=[plane.node_role])
        )
        if self.parts is None:
            return
        outputs = {
            "PrometheusWorkspaceId": ("Workspace of the metrics", self.parts.workspace.workspace_id),
            # What `ultracluster render --kubernetes --outputs` writes into objects; nodes of Slurm read a parameter.
            "RemoteWriteUrl": ("Where metrics are written to",
                               self.parts.workspace.remote_write_url if isinstance(plane, Kubernetes) else None),
            "AlertTopicArn": ("Topic of alerts and alarms", self.parts.topic.topic_arn),
            "Dashboards": ("How to get to the dashboards: an address, or a command and then "
                           "http://localhost:3000", self.parts.dashboards),
        }  # fmt: skip
        for id, (description, value) in outputs.items():
            if value is not None:
                cdk.CfnOutput(self, id, description=description, value=value)
