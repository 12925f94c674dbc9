"""EFA between the nodes."""

from ultracluster.monitoring.dashboards._common import ANY_IS_ODD, CLUSTER, LACKS, NODES, TO_NODE, named
from ultracluster.monitoring.dashboards._spec import Dashboard, Query, Variable, series, table

_SENT = "node:node_amazonefa_tx_bytes:sum_rate5m"
_TOPOLOGY = "ultracluster_node_topology_info"
_PLACES = {
    "network_node_2": "Second network node",
    "network_node_3": "Third network node",
    "ultraserver": "UltraServer",
}
_TO_PLACE = ("ultracluster-network", "network_node_3")
_NODES = 'cluster="$cluster", instance=~"$node"'
_WITHIN = ", ".join([_NODES, *(f'{label}=~"${label}"' for label in _PLACES)])
_PLACE = f"max by (cluster, instance, {', '.join(_PLACES)}) ({_TOPOLOGY}{{{_WITHIN}}})"
_GROUPED = f"on (cluster, instance) group_left ({', '.join(_PLACES)}) {_PLACE}"
_UP = 'and on (cluster, instance) ultracluster_node_up{cluster="$cluster"}'


def _chosen(metric: str, at: str = "") -> str:
    """Return a metric of the selected nodes and places; `at` is a moment, such as ` @ end()`.

    Nodes whose place is not known have no labels of a place: they are there while all places are selected.
    """
    place = f"{_TOPOLOGY}{{{_WITHIN}}}{at} or ultracluster_node_up{{{_WITHIN}}}{at}"
    return f"{metric}{{{_NODES}}}{at} and on (cluster, instance) ({place})"


def _here(metric: str, legend: str, *, over: str = "{}") -> Query:
    filled = over.format(_chosen(metric))
    return Query(named(filled) if "{{node}}" in legend else filled, legend)


def _most(metric: str) -> Query:
    return Query(named(f"{_chosen(metric)} and topk(10, {_chosen(metric, ' @ end()')})"), "{{node}} {{instance}}")


def _in_jobs(at: str = "") -> str:
    jobs = f'node_job:ultracluster_gpu_job_info:max{{cluster="$cluster"}}{at}'
    return f"{_chosen(_SENT, at)} and on (cluster, instance) {jobs}"


_EFA_MISSING = LACKS.format(
    f"({_chosen('ultracluster_node_expected_efa_devices')})", f"node:ultracluster_efa_devices:count{{{_NODES}}}"
)

NETWORK = Dashboard(
    uid="ultracluster-network",
    title="Network",
    about="Does EFA carry what it should, and which node, network node or device loses packets?",
    variables=(
        CLUSTER,
        *(Variable(name=label, title=title, metric=_TOPOLOGY, label=label, several=True)
          for label, title in _PLACES.items()),
        NODES,
    ),
    rows={
        "Traffic": (
            series("EFA of the selected nodes", "Both run together; a gap between them is lost traffic "
                   "or a node without metrics.",
                   (_here(_SENT, "sent", over="sum({})"),
                    _here("node:node_amazonefa_rx_bytes:sum_rate5m", "received", over="sum({})")),
                   width=12, unit="Bps"),
            series("IP of the selected nodes", "Storage over TCP, images, and jobs that fell back from "
                   "EFA to TCP.",
                   (_here("node:node_network_transmit_bytes:sum_rate5m", "sent", over="sum({})"),
                    _here("node:node_network_receive_bytes:sum_rate5m", "received", over="sum({})")),
                   width=12, unit="Bps"),
            series("Nodes that send most", "Over EFA. In a collective all nodes of a job send alike.",
                   (_most(_SENT),), width=12, unit="Bps", to=TO_NODE),
            series("Nodes of a job that send least",
                   "A node of a job at zero, while the others send, is stuck or on TCP.",
                   (Query(named(f"{_in_jobs()} and bottomk(10, {_in_jobs(' @ end()')})"), "{{node}} {{instance}}"),),
                   width=12, unit="Bps", to=TO_NODE),
        ),
        "Topology": (
            table("Nodes by network node", "From the top of the network; the third is the nearest to the nodes. Nodes "
                  "of one UltraServer share NVLink. Names are hashes of your account. A row selects its third.",
                  (Query(f"count by (network_node_1, {', '.join(_PLACES)}) ({_TOPOLOGY}{{{_WITHIN}}} {_UP})"),),
                  width=12, to=_TO_PLACE,
                  columns={"network_node_1": "First", "network_node_2": "Second", "network_node_3": "Third",
                           "ultraserver": "UltraServer", "Value": "Nodes"}),
            table("Problems by network node", "Nodes with an alert. Several below one network node, or of one "
                  "UltraServer: the network or the rack, and not the nodes. Empty is good.",
                  (Query(f"count by ({', '.join(_PLACES)}, problem) (group by (cluster, instance, problem) "
                         f'(ultracluster_node_problem{{cluster="$cluster"}}) * {_GROUPED})'),),
                  width=12, to=_TO_PLACE,
                  columns={"network_node_2": "Second", "network_node_3": "Third", "ultraserver": "UltraServer",
                           "problem": "Problem", "Value": "Nodes"}),
            table("Nodes of the selection", "Where each node is, and the tensor activity of its GPUs now: whether one "
                  "network node, rack or UltraServer is behind the others.",
                  (Query(named("node:ultracluster_gpu_tensor_active_ratio:avg"
                               f'{{cluster="$cluster"}} * {_GROUPED}')),),
                  width=12, unit="percentunit", to=TO_NODE,
                  columns={"instance": "Node", "node": "Name", "network_node_3": "Third",
                           "ultraserver": "UltraServer", "Value": "Tensor activity"}),
            series("Sent again, by network node", "Mean over the nodes below it. One line above the others: its links.",
                   (Query("avg by (network_node_3) (node:node_amazonefa_retrans_pkts:ratio_rate5m"
                          f'{{cluster="$cluster"}} * {_GROUPED})', "{{network_node_3}}"),),
                   width=12, least=0, unit="percentunit"),
        ),
        "Trouble": (
            series("Dropped packets by device", "Arrived and dropped. Nothing drawn is good.",
                   (_here("node_device:node_amazonefa_rx_drops:rate5m", "{{node}} {{instance}} {{device}}",
                         over="topk(10, {})"),), least=0, steps=ANY_IS_ODD, unit="pps", to=TO_NODE),
            series("Sent again",
                   "Packets sent again as a share of those sent. The threshold of one percent is not a published one.",
                   (_most("node:node_amazonefa_retrans_pkts:ratio_rate5m"),),
                   least=0, unit="percentunit", to=TO_NODE, steps=((None, "green"), (0.01, "orange"))),
            series("Remote ends in trouble", "Ends that do not answer, or badly. If many nodes name trouble at once, "
                   "look for the one that all of them send to.",
                   (_most("node:node_amazonefa_remote_events:sum_rate5m"),), least=0, unit="cps", to=TO_NODE),
            table("Nodes without all their EFA devices", "Empty is good.",
                  (Query(named(f"max by (instance, instance_type, group) ({_EFA_MISSING} > 0)")),),
                  width=24, height=6, to=TO_NODE,
                  columns={"instance": "Node", "node": "Name", "instance_type": "Type", "group": "Node group",
                           "Value": "Missing"}),
        ),
    },
)  # fmt: skip
