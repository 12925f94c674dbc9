"""EFA between the nodes."""

from functools import partial

from ultracluster.monitoring.dashboards._common import (
    ANY_IS_ODD,
    CLUSTER,
    LACKS,
    MOST,
    NODES,
    TO_NODE,
    named,
    of,
    together,
)
from ultracluster.monitoring.dashboards._spec import Dashboard, Query, series, table

_NODES = 'instance=~"$node"'
_here = partial(of, within=_NODES)
_PLACE = "max by (cluster, instance, network_node_2, network_node_3, ultraserver) ({1})"
_SENT = (
    f'node:node_amazonefa_tx_bytes:sum_rate5m{{{{cluster="$cluster", {_NODES}}}}}{{0}} '
    'and on (cluster, instance) node_job:ultracluster_gpu_job_info:max{{cluster="$cluster"}}{0}'
)

NETWORK = Dashboard(
    uid="ultracluster-network",
    title="Network",
    about="Does EFA carry what it should, and which node or device loses packets?",
    variables=(CLUSTER, NODES),
    rows={
        "Traffic": (
            series("EFA, whole cluster",
                   "Both run together; a gap between them is lost traffic or a node without metrics.",
                   (_here("node:node_amazonefa_tx_bytes:sum_rate5m", "sent", over="sum({})"),
                    _here("node:node_amazonefa_rx_bytes:sum_rate5m", "received", over="sum({})")),
                   width=12, unit="Bps"),
            series("IP, whole cluster", "Storage over TCP, images, and jobs that fell back from EFA to TCP.",
                   (_here("node:node_network_transmit_bytes:sum_rate5m", "sent", over="sum({})"),
                    _here("node:node_network_receive_bytes:sum_rate5m", "received", over="sum({})")),
                   width=12, unit="Bps"),
            series("Nodes that send most", "Over EFA. In a collective all nodes of a job send alike.",
                   (_here("node:node_amazonefa_tx_bytes:sum_rate5m", "{{node}} {{instance}}", over=MOST),),
                   width=12, unit="Bps", to=TO_NODE),
            series("Nodes of a job that send least",
                   "A node of a job at zero, while the others send, is stuck or on TCP.",
                   (Query(expr=named(f"{_SENT.format('')} and bottomk(10, {_SENT.format(' @ end()')})"),
                          legend="{{node}} {{instance}}"),), width=12, unit="Bps", to=TO_NODE),
        ),
        "Topology": (
            table("Nodes by network node", "From the top of the network; the third is the nearest to the nodes. Nodes "
                  "of one UltraServer share NVLink. Names are hashes of your account.",
                  (together("count by (network_node_1, network_node_2, network_node_3, ultraserver) "
                            "({0} and on (cluster, instance) {1})", "ultracluster_node_topology_info",
                            "ultracluster_node_up"),), width=12,
                  columns={"network_node_1": "First", "network_node_2": "Second", "network_node_3": "Third",
                           "ultraserver": "UltraServer", "Value": "Nodes"}),
            table("Problems by network node", "Nodes with an alert. Several below one network node, or of one "
                  "UltraServer: the network or the rack, and not the nodes. Empty is good.",
                  (together("count by (network_node_2, network_node_3, ultraserver, problem) "
                            "(group by (cluster, instance, problem) ({0}) * on (cluster, instance) group_left "
                            f"(network_node_2, network_node_3, ultraserver) {_PLACE})",
                            "ultracluster_node_problem", "ultracluster_node_topology_info"),), width=12,
                  columns={"network_node_2": "Second", "network_node_3": "Third", "ultraserver": "UltraServer",
                           "problem": "Problem", "Value": "Nodes"}),
            series("Sent again, by network node", "Mean over the nodes below it. One line above the others: its links.",
                   (together("avg by (network_node_3) ({0} * on (cluster, instance) group_left (network_node_3) "
                             f"{_PLACE})",
                             "node:node_amazonefa_retrans_pkts:ratio_rate5m", "ultracluster_node_topology_info",
                             legend="{{network_node_3}}"),), width=24, least=0, unit="percentunit"),
        ),
        "Trouble": (
            series("Dropped packets by device", "Arrived and dropped. Nothing drawn is good.",
                   (_here("node_device:node_amazonefa_rx_drops:rate5m", "{{node}} {{instance}} {{device}}",
                         over="topk(10, {})"),), least=0, steps=ANY_IS_ODD, unit="pps", to=TO_NODE),
            series("Sent again",
                   "Packets sent again as a share of those sent. The threshold of one percent is not a published one.",
                   (_here("node:node_amazonefa_retrans_pkts:ratio_rate5m", "{{node}} {{instance}}", over=MOST),),
                   least=0, unit="percentunit", to=TO_NODE, steps=((None, "green"), (0.01, "orange"))),
            series("Remote ends in trouble", "Ends that do not answer, or badly. If many nodes name trouble at once, "
                   "look for the one that all of them send to.",
                   (_here("node:node_amazonefa_remote_events:sum_rate5m", "{{node}} {{instance}}", over=MOST),),
                   least=0, unit="cps", to=TO_NODE),
            table("Nodes without all their EFA devices", "Empty is good.",
                  (together(f"max by (instance, instance_type, group) ({LACKS} > 0)",
                            "ultracluster_node_expected_efa_devices", "node:ultracluster_efa_devices:count",
                            legend="{{node}}", within=_NODES),),
                  width=24, height=6, to=TO_NODE,
                  columns={"instance": "Node", "node": "Name", "instance_type": "Type", "group": "Node group",
                           "Value": "Missing"}),
        ),
    },
)  # fmt: skip
