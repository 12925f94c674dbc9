"""EFA between the nodes."""

from ultracluster.monitoring.dashboards.builder._common import ANY_IS_ODD, CLUSTER, MOST, NODES, TO_NODE, of
from ultracluster.monitoring.dashboards.builder._spec import Dashboard, Panel, Query, Row

_NODES = 'instance=~"$node"'

_SENT = (
    f'node:node_amazonefa_tx_bytes:sum_rate5m{{{{cluster="$cluster", {_NODES}}}}}{{0}} '
    'and on (cluster, instance) node_job:ultracluster_gpu_job_info:max{{cluster="$cluster"}}{0}'
)

NETWORK = Dashboard(
    uid="ultracluster-network",
    title="Network",
    about="Does EFA carry what it should, and which node or device loses packets?",
    variables=(CLUSTER, NODES),
    rows=(
        Row(
            title="Traffic",
            panels=(
                Panel(kind="timeseries", title="EFA, whole cluster", width=12, unit="Bps",
                      queries=(of("node:node_amazonefa_tx_bytes:sum_rate5m", "sent", within=_NODES, over="sum({})"),
                               of("node:node_amazonefa_rx_bytes:sum_rate5m", "received", within=_NODES,
                                  over="sum({})")),
                      why="Both run together; a gap between them is lost traffic or a node without metrics."),
                Panel(kind="timeseries", title="IP, whole cluster", width=12, unit="Bps",
                      queries=(of("node:node_network_transmit_bytes:sum_rate5m", "sent", within=_NODES, over="sum({})"),
                               of("node:node_network_receive_bytes:sum_rate5m", "received", within=_NODES,
                                  over="sum({})")),
                      why="Storage over TCP, images, and jobs that fell back from EFA to TCP."),
                Panel(kind="timeseries", title="Nodes that send most", width=12, unit="Bps", to=TO_NODE,
                      queries=(of("node:node_amazonefa_tx_bytes:sum_rate5m", "{{instance}}", within=_NODES,
                                  over=MOST),),
                      why="Over EFA. In a collective all nodes of a job send alike."),
                Panel(kind="timeseries", title="Nodes of a job that send least", width=12, unit="Bps", to=TO_NODE,
                      queries=(Query(expr=f"{_SENT.format('')} and bottomk(10, {_SENT.format(' @ end()')})",
                                     legend="{{instance}}"),),
                      why="A node of a job at zero, while the others send, is stuck or on TCP."),
            ),
        ),
        Row(
            title="Trouble",
            panels=(
                Panel(kind="timeseries", title="Dropped packets by device", least=0, steps=ANY_IS_ODD,
                      unit="pps", to=TO_NODE,
                      queries=(of("node_device:node_amazonefa_rx_drops:rate5m", "{{instance}} {{device}}",
                                  within=_NODES,
                                  over="topk(10, {})"),),
                      why="Arrived and dropped. Nothing drawn is good."),
                Panel(kind="timeseries", title="Sent again", least=0, unit="percentunit", to=TO_NODE,
                      steps=((None, "green"), (0.01, "orange")),
                      queries=(of("node:node_amazonefa_retrans_pkts:ratio_rate5m", "{{instance}}", within=_NODES,
                                  over=MOST),),
                      why="Packets sent again as a share of those sent. No threshold is published; one percent is "
                      "ours."),
                Panel(kind="timeseries", title="Remote ends in trouble", least=0, unit="cps", to=TO_NODE,
                      queries=(of("node:node_amazonefa_remote_events:sum_rate5m", "{{instance}}", within=_NODES,
                                  over=MOST),),
                      why="Ends that do not answer, or badly. If many nodes name trouble at once, look for the one "
                      "that all of them talk to."),
                Panel(kind="table", title="Nodes without all their EFA devices", width=24, height=6, to=TO_NODE,
                      queries=(Query(expr='max by (instance, instance_type, group) '
                                     '(ultracluster_node_expected_efa_devices'
                                     f'{{cluster="$cluster", {_NODES}}} - '
                                     f'node:ultracluster_efa_devices:count{{cluster="$cluster"}}'
                                     ' > 0)'),),
                      columns={"instance": "Node", "instance_type": "Type", "group": "Node group",
                               "Value": "Missing"}, why="Empty is good."),
            ),
        ),
    ),
)  # fmt: skip
