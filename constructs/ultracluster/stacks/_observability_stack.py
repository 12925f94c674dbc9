"""Metrics, alerts and dashboards: can be deleted and created again."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from ultracluster.clusterfile import ClusterFile
from ultracluster.network import Network
from ultracluster.observability import Observability
from ultracluster.orchestration import Orchestrator
from ultracluster.stacks._outputs import observability_outputs, write_outputs
from ultracluster.storage import Storage


class ObservabilityStack(cdk.Stack):
    """Prometheus, Grafana, alerts and alarms. Deleting it deletes metrics, and changes neither jobs nor their data."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: ClusterFile,
        network: Network,
        storage: Storage,
        orchestrator: Orchestrator,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, id, description=f"Observability of the cluster {cluster.name}", **kwargs)
        self.observability = Observability.from_cluster_file(self, cluster, network=network, storage=storage)
        if self.observability is not None:
            orchestrator.add_metrics_access(self, self.observability)
            write_outputs(self, observability_outputs(self.observability))
