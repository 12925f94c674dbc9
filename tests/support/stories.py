"""Stories: raw exporter samples of a small cluster and a clock, and which alerts they ring.

`tests/monitoring/stories/README.md` is the page for those who write stories. `python -m support.stories` in `tests`
prints the table of all of them.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

from support import ROOT, story_rules, yaml12
from support.story_runs import LABELS, STALE, answers, evaluate
from ultracluster.monitoring.alerts import ALERTS, alertmanager
from ultracluster.monitoring.names import EFA_COUNTERS, Profile, read_from_exporters

#: When each alert fired, in minutes, by story: the table of the reference. `python -m support.stories` writes it.
TIMES = ROOT / "tests" / "monitoring" / "stories" / "times.json"
FOLDER = ROOT / "tests" / "monitoring" / "stories"
_KEYS = {"at", "until", "nodes", "gpu", "device", "labels", "set", "grow", "stop", "gone"}
_TOP = {"story", "kind", "minutes", "fault", "expected", "changes", "rings", "also", "after", "pages", "world", "ends"}
# Minutes of the longest story, at least.
_LONGEST = 12 * 60
# Minutes after which the healthy cluster is assumed to be steady, and the last one in which that may begin.
_SHORT, _BEGINS = 30, 7


@dataclass(frozen=True, kw_only=True)
class World:
    """The cluster of a story: so many nodes, of which the first `busy` have the job 7. The others have none."""

    nodes: int = 4
    busy: int | None = None
    gpus: int = 2
    efa: int = 2

    def names(self, which: str) -> list[str]:
        """Return the nodes of a word, `all`, `job` or `idle`, or the node of this name."""
        every = [f"train-{number}" for number in range(1, self.nodes + 1)]
        busy = self.nodes - 1 if self.busy is None else self.busy
        return {"all": every, "job": every[:busy], "idle": every[busy:]}.get(which, [which])


@dataclass(frozen=True, kw_only=True)
class Story:
    """A story.

    Args:
        name: What happens, one line.
        benign: Nobody must be woken: no critical alert may fire.
        minutes: Length.
        changes: What changes when, see the page.
        rings: Alerts that must fire, each with the minutes after the first change within which it does.
        also: Alerts that may fire too.
        after: Alerts that must have ended at the end of the story.
        fault: Minute of the fault, where changes before it only prepare the cluster.
        world: The cluster.
        expected: Nodes that the group must have, by default those of the world.
        ends: Minute in which the Capacity Block of the group ends.
        pages: Critical alerts that the alert manager may send, if it is broken.
    """

    name: str
    benign: bool
    minutes: int
    changes: list[dict[str, Any]]
    rings: Mapping[str, int] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    fault: int | None = None
    world: World = field(default_factory=World)
    expected: int | None = None
    ends: int | None = None
    pages: int = 1

    @property
    def start(self) -> int:
        """Minute of the fault, by default of the first change."""
        return min((change["at"] for change in self.changes), default=0) if self.fault is None else self.fault


@dataclass(frozen=True)
class Series:
    """A series: its exporter, and its value or its growth in a minute while nothing happens."""

    exporter: str
    value: float
    grows: float = 0


def stories() -> Iterator[Story]:
    """Read every file of the folder.

    Raises:
        ValueError: If a story has an unknown key, node or alert.
    """
    for path in sorted(FOLDER.glob("*.yaml")):
        for data in yaml12.load(path.read_text()):
            yield _story(data, path.name)


def _story(data: dict[str, Any], file: str) -> Story:
    name = f"{file}: {data.get('story')}"
    unknown = {*data} - _TOP | {key for change in data.get("changes", []) for key in {*change} - _KEYS}
    alerts = {*data.get("rings", {}), *data.get("also", ()), *data.get("after", ())} - {*ALERTS}
    if unknown or alerts or data["kind"] not in ("benign", "broken"):
        raise ValueError(f"{name}: unknown keys {sorted(unknown)}, alerts {sorted(alerts)} or kind {data.get('kind')}")
    return Story(
        name=data["story"],
        benign=data["kind"] == "benign",
        minutes=data["minutes"],
        changes=data.get("changes", []),
        rings=data.get("rings", {}),
        also=frozenset(data.get("also", ())),
        after=frozenset(data.get("after", ())),
        fault=data.get("fault"),
        world=World(**data.get("world", {})),
        expected=data.get("expected"),
        ends=data.get("ends"),
        pages=data.get("pages", 1),
    )


@cache
def baseline(world: World) -> Mapping[str, Series]:
    """The healthy cluster: series by name and labels, as exporters write them."""
    result: dict[str, Series] = {}

    def add(node: str, exporter: str, metric: str, value: float, grows: float = 0, /, **labels: str) -> None:
        result[_key(node, exporter, metric, labels)] = Series(exporter, value, grows)

    for node in world.names("all"):
        busy = node in world.names("job")
        for exporter in ("node", "dcgm", "agent"):
            add(node, exporter, "up", 1)
        devices = {"ultracluster_expected_gpus": world.gpus, "ultracluster_expected_efa_devices": world.efa}
        for metric, value in {**devices, **_NODE}.items():
            add(node, "node", metric, value)
        add(node, "node", "ultracluster_node_info", 1, node=node)
        for mode, share in (("idle", 0.6), ("user", 0.4), ("iowait", 0)):
            add(node, "node", "ultracluster_cpu_seconds_total", 1e6, 192 * 60 * share, mode=mode)
        add(node, "node", "node_network_transmit_bytes_total", 0, 60 * 1.5e6, device="ens32")
        for check in ("devices", "mounts"):
            add(node, "node", "ultracluster_health_ok", 1, check=check)
        for metric, value in _MOUNT.items():
            add(node, "node", metric, value, path="/fsx")
        for kind in ("read", "write"):
            grows = 60 * 1e9 if busy else 0
            add(node, "node", f"ultracluster_lustre_{kind}_bytes_total", 0, grows, filesystem="fs1", mount="ffff8881")
        for number in range(world.efa):
            device = f"rdmap{number}s0"
            add(node, "node", "node_amazonefa_info", 1, device=device)
            for counter in EFA_COUNTERS:
                flows = busy and counter in ("tx_bytes", "rx_bytes", "tx_pkts")
                grows = 60 * (1e9 if counter.endswith("bytes") else 1.2e5) if flows else 0
                add(node, "node", f"node_amazonefa_{counter}", 0, grows, device=device, port="1")
        for gpu in map(str, range(world.gpus)):
            if busy:
                add(node, "node", "ultracluster_gpu_job", 1, gpu=gpu, job_id="7")
            for metric, (at_work, idle) in _GPU.items():
                add(node, "dcgm", metric, at_work if busy else idle, gpu=gpu, UUID=f"GPU-{node}-{gpu}")
        for metric, value in _AGENT.items():
            add(node, "agent", metric, value)
    for metric, (value, grows) in _TRAINING.items():
        add("train-1", "node", metric, value, grows, job_id="7")
    (*_, last) = world.names("all")
    add(last, "node", "ultracluster_slurm_job_info", 1, job_id="7", user="ada", account="nlp", partition="train",
        name="pretrain")  # fmt: skip
    return result


_NODE = {
    "node_memory_MemTotal_bytes": 2e12, "node_memory_MemAvailable_bytes": 1.4e12, "node_load1": 60,
    'node_filesystem_avail_bytes{mountpoint="/",fstype="ext4"}': 3e11,
    'node_filesystem_size_bytes{mountpoint="/",fstype="ext4"}': 5e11,
    'ultracluster_health_breaker_open{action="drain"}': 0,
    "node_timex_offset_seconds": 2e-6, "node_timex_sync_status": 1, "ultracluster_fabric_manager_up": 1,
    'ultracluster_nvswitch_errors{kind="fatal"}': 0, 'ultracluster_nvswitch_errors{kind="other"}': 0,
}  # fmt: skip
_MOUNT = {"ultracluster_mount_mounted": 1, "ultracluster_mount_over_efa": 1, "ultracluster_mount_check_seconds": 0.03}
# At work and idle, under DCGM's names before 4.7.
_GPU = {
    "DCGM_FI_DEV_GPU_TEMP": (62, 34), "DCGM_FI_DEV_MEMORY_TEMP": (68, 36), "DCGM_FI_DEV_POWER_USAGE": (590, 92),
    "DCGM_FI_DEV_ENFORCED_POWER_LIMIT": (700, 700),
    "DCGM_FI_DEV_SM_CLOCK": (1905, 345), "DCGM_FI_DEV_FB_USED": (71000, 4), "DCGM_FI_DEV_FB_FREE": (10000, 81000),
    "DCGM_FI_DEV_GPU_UTIL": (97, 0), "DCGM_FI_PROF_GR_ENGINE_ACTIVE": (0.95, 0), "DCGM_FI_PROF_SM_ACTIVE": (0.86, 0),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": (0.46, 0), "DCGM_FI_PROF_DRAM_ACTIVE": (0.5, 0),
    "DCGM_FI_PROF_NVLINK_TX_BYTES": (1e11, 0), "DCGM_FI_PROF_NVLINK_RX_BYTES": (1e11, 0),
    "DCGM_FI_DEV_XID_ERRORS": (0, 0), "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": (0, 0), "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": (0, 0),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": (0, 0), "DCGM_FI_DEV_ROW_REMAP_FAILURE": (0, 0),
    "DCGM_FI_DEV_ROW_REMAP_PENDING": (0, 0), "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": (0, 0),
    "DCGM_FI_DEV_POWER_VIOLATION": (0, 0), "DCGM_FI_DEV_THERMAL_VIOLATION": (0, 0),
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL": (0, 0), "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": (0, 0),
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": (0, 0),
}  # fmt: skip
_QUEUE = '{remote_name="amp",url="https://aps"}'
_AGENT = {
    f"prometheus_remote_storage_samples_failed_total{_QUEUE}": 0,
    f"prometheus_remote_storage_samples_dropped_total{_QUEUE}": 0,
}
# Value and growth in a minute: eight seconds a step.
_TRAINING = {
    "train_step": (1000, 7.5), "train_step_seconds": (8, 0), "train_tokens_total": (1e9, 2.4e8), "train_loss": (2.1, 0),
    "train_mfu_ratio": (0.41, 0), "train_checkpoint_interval_seconds": (1800, 0),
    "train_productive_seconds_total": (0, 57), "train_restarts_total": (0, 0), "train_checkpoint_in_progress": (0, 0),
}  # fmt: skip


def _key(node: str, exporter: str, metric: str, labels: Mapping[str, str]) -> str:
    name, _, more = metric.partition("{")
    every = {"cluster": "llama", "instance": f"i-{node}", "instance_type": "p5.48xlarge", "zone": "use2-az1",
             "group": "train", "job": exporter, **dict(LABELS.findall(more)), **labels}  # fmt: skip
    inside = ",".join(f'{label}="{value}"' for label, value in sorted(every.items()))
    return f"{name}{{{inside}}}"


@cache
def _steady(world: World) -> Mapping[str, list[float | None]]:
    """A value for each minute of every series of the healthy cluster, for as long as the longest story."""
    minutes = range(_LONGEST + 1)
    values: dict[str, list[float | None]] = {
        key: [item.value + item.grows * minute for minute in minutes] if item.grows else [item.value] * len(minutes)
        for key, item in baseline(world).items()
    }
    # Checks and checkpoints of the healthy cluster follow the clock.
    clock: list[float | None] = [float(60 * minute) for minute in minutes]
    for node in world.names("all"):
        values[_key(node, "node", "ultracluster_mount_last_success_timestamp_seconds", {"path": "/fsx"})] = clock
        file = {"file": "/var/lib/node_exporter/textfile_collector/ultracluster_node.prom"}
        values[_key(node, "node", "node_textfile_mtime_seconds", file)] = clock
        values[_key(node, "agent", "prometheus_remote_storage_highest_timestamp_in_seconds", {})] = clock
        sent = f"prometheus_remote_storage_queue_highest_sent_timestamp_seconds{_QUEUE}"
        values[_key(node, "agent", sent, {})] = clock
    saved = _key("train-1", "node", "train_last_checkpoint_timestamp_seconds", {"job_id": "7"})
    values[saved] = [float(minute // 30 * 1800) if minute >= 30 else None for minute in minutes]
    return values


@cache
def _named(world: World) -> Mapping[str, list[str]]:
    """The series of the healthy cluster by name."""
    names: dict[str, list[str]] = {}
    for key in _steady(world):
        names.setdefault(key.partition("{")[0], []).append(key)
    return names


def samples(story: Story) -> dict[str, list[float | None]]:
    """Return a value for each minute of every series; None is no sample."""
    assert story.minutes <= _LONGEST, story.name
    values = {key: numbers[: story.minutes + 1] for key, numbers in _steady(story.world).items()}
    for change in story.changes:
        _apply(change, values, story)
    return values


def _apply(change: dict[str, Any], values: dict[str, list[float | None]], story: Story) -> None:
    end = min(change.get("until", story.minutes + 1), story.minutes + 1)
    nodes = change.get("nodes", "all")
    every = story.world.names("all")
    for node in story.world.names(nodes) if isinstance(nodes, str) else nodes:
        if node not in every:
            raise ValueError(f"{story.name}: {node} is not a node: {', '.join(every)}")
        for exporter in change.get("stop", ()):
            # `all`: the node is dead, and nothing is sent. One exporter: its agent reports that it does not answer.
            for key, numbers in values.items():
                if f'instance="i-{node}"' in key and (exporter == "all" or f'job="{exporter}"' in key):
                    stays = exporter != "all" and key.startswith("up{")
                    numbers[change["at"] : end] = [0.0 if stays else None] * (end - change["at"])
                    if exporter != "all" and not stays:
                        numbers[change["at"]] = STALE
        for metric in change.get("gone", ()):
            for key in _selected(node, metric, change, values, story):
                values[key][change["at"] : end] = [STALE] + [None] * (end - change["at"] - 1)
        for word in ("set", "grow"):
            for metric, value in change.get(word, {}).items():
                for key in _selected(node, metric, change, values, story):
                    numbers = values[key]
                    before = next(
                        (number for number in reversed(numbers[: change["at"]]) if number not in (None, STALE)), 0.0
                    )
                    for minute in range(change["at"], end):
                        numbers[minute] = (
                            float(value) if word == "set" else before + value * (minute - change["at"] + 1)
                        )
                    if word == "grow":
                        for minute in range(end, story.minutes + 1):
                            numbers[minute] = numbers[end - 1]


def _selected(
    node: str, metric: str, change: dict[str, Any], values: dict[str, list[float | None]], story: Story
) -> list[str]:
    """The series of a metric on a node; a metric that the healthy cluster lacks is a new series."""
    labels = {
        **dict(LABELS.findall(metric)),
        **{str(key): str(value) for key, value in change.get("labels", {}).items()},
    }
    labels |= {"gpu": str(change["gpu"])} if "gpu" in change else {}
    labels |= {"device": str(change["device"])} if "device" in change else {}
    name = metric.partition("{")[0]
    begins, of_node = f"{name}{{", f'instance="i-{node}"'
    # Those of the healthy cluster stand before the new ones.
    matching = [
        key
        for key in (*_named(story.world).get(name, ()), *islice(values, len(_steady(story.world)), None))
        if key.startswith(begins)
        and of_node in key
        and all(f'{label}="{value}"' in key for label, value in labels.items())
    ]
    if matching:
        return matching
    exporter = "dcgm" if name.startswith("DCGM_") else "agent" if name.startswith("prometheus_") else "node"
    each = (
        [{**labels, "gpu": str(gpu)} for gpu in range(story.world.gpus)]
        if exporter == "dcgm" and "gpu" not in labels
        else [labels]
    )
    keys = [_key(node, exporter, name, item) for item in each]
    values.update({key: [None] * (story.minutes + 1) for key in keys})
    return keys


@dataclass(frozen=True)
class Played:
    """Labels of the alerts that fire, by minute."""

    firing: Mapping[int, list[dict[str, str]]]

    @property
    def fired(self) -> dict[str, list[int]]:
        """Minutes in which each alert fires."""
        result: dict[str, list[int]] = {}
        for minute, alerts in self.firing.items():
            for name in dict.fromkeys(labels["alertname"] for labels in alerts):
                result.setdefault(name, []).append(minute)
        return result

    @property
    def pages(self) -> dict[str, int]:
        """Critical alerts that the alert manager sends, each with its first minute.

        It waits a minute before it sends, and inhibits as `alertmanager` has it. Those with a cause go to nobody.
        """
        result: dict[str, int] = {}
        for minute, alerts in self.firing.items():
            for labels in alerts:
                if (
                    labels.get("severity") == "critical"
                    and not labels.get("cause")
                    and labels in self.firing.get(minute - 1, [])
                    and not inhibited(labels, alerts)
                ):
                    result.setdefault(labels["alertname"], minute)
        return result


def play(story: Story, *, whole: bool = False) -> Played:
    """Return the alerts that fire.

    Args:
        story: The story.
        whole: Evaluate all rules as they are, and not only those that see anything else than the healthy cluster.
    """
    more, last = problem_query(story, "llama"), unsteady_query(story, "llama")
    if whole:
        return Played(evaluate(rule_groups(story, parts=False), sent(story), story.minutes, more, last))
    groups = concerned(story)
    values = {**sent(story), **recorded_samples(story, groups)}
    return Played(evaluate(story_rules.shortened(groups, values, story.minutes), values, story.minutes, more, last))


def problem_query(story: Story, cluster: str) -> str:
    """Return the query, after another one, of the problems of a healthy cluster that no alert waits for any more.

    And of what comes before one.

    `story_rules` takes them for empty.
    """
    if story.changes:
        return ""
    problems = f'{{__name__=~"{"|".join(sorted(story_rules.PROBLEMS))}", cluster="{cluster}"}}'
    rare = (expr.replace('cluster="llama"', f'cluster="{cluster}"') for expr in healthy_rules().idle.values())
    return "".join(f" or ({expr}) and on () vector(time()) > 900" for expr in (problems, *rare))


def sent(story: Story) -> dict[str, list[float | None]]:
    """Return the samples that the agents send; of `up` and the second, Prometheus itself writes the samples."""
    return {key: numbers for key, numbers in samples(story).items() if key.partition("{")[0] in _read()}


@cache
def _read() -> frozenset[str]:
    return read_from_exporters(Profile.STANDARD) | {"up", "scrape_samples_post_metric_relabeling"}


def rule_groups(story: Story, *, parts: bool = True) -> tuple[story_rules.Group, ...]:
    """Return the rules of the cluster of a story."""
    expected = story.world.nodes if story.expected is None else story.expected
    return story_rules.groups(expected, story.ends, parts=parts)


@cache
def _healthy(world: World, minutes: int) -> dict[str, list[float | None]]:
    return sent(Story(name="healthy", benign=True, minutes=minutes, changes=[], world=world))


def concerned(story: Story) -> Sequence[story_rules.Group]:
    """Return the groups with the rules that see anything else than in the healthy cluster, and what those read.

    The healthy cluster itself is played with all rules, but for those that have settled before a long story of it is
    over. Those that give no result, whatever the values, are left out.
    """
    groups: Sequence[story_rules.Group] = rule_groups(story)
    values = sent(story)
    here = story_rules.metrics(values)
    if story.changes:
        healthy, known = _healthy(story.world, story.minutes), story_rules.groups(story.world.nodes, None)
        rules_do = healthy_rules() if story.world == World() else story_rules.Known()
        every = here | story_rules.metrics(healthy)
        groups = story_rules.concerned(groups, story_rules.changed(values, healthy), known, every, rules_do)
        here |= rules_do.steady.keys()
    rules = story_rules.giving([rule for group in groups for rule in group["rules"]], here)
    if not story.changes and story.minutes > _SHORT + 1:
        moving = story_rules.metrics(key for key, numbers in values.items() if {*numbers} != {numbers[0]})
        rules = story_rules.unsettled(rules, here, moving, healthy_rules(), _SHORT - _BEGINS)
    return story_rules.only(groups, rules)


@cache
def healthy_rules() -> story_rules.Known:
    """Return what rules do in the healthy cluster for a while, after which no alert waits.

    In the story of that cluster, `unsteady_query` checks that they go on.

    What an alert waits for begins with what is rare, such as a node of a job that is gone.
    """
    healthy = Story(name="healthy", benign=True, minutes=_SHORT + 1, changes=[])
    rare: dict[str, tuple[str, str]] = {}
    groups = []
    for group in concerned(healthy):
        rules = []
        for rule in group["rules"]:
            for expr in story_rules.beginnings(rule["expr"]):
                record = f"begins:{len(rare)}"
                rare[record] = (story_rules.title(rule), expr)
                rules.append({"record": record, "expr": expr})
            rules.append(rule)
        groups.append({**group, "rules": rules})
    names = {story_rules.name_of(rule) for group in groups for rule in group["rules"]} - rare.keys()
    query = f'{{__name__=~"{"|".join(sorted(names))}"}} or ALERTS{{alertname!="Watchdog"}}'
    queries = [(query, minute) for minute in range(_SHORT + 1)]
    printed = answers(groups, sent(healthy), [*queries, ('last_over_time({__name__=~"begins:.*"}[1h])', _SHORT + 1)])
    begun = {*re.findall(r'__name__="(begins:\d+)"', printed.pop(_SHORT + 1, ""))}
    by_name: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for minute, text in sorted(printed.items()):
        for labels, value in re.findall(r"(\{[^{}]*\}) ([^\s,]+)", text):
            name = dict(LABELS.findall(labels))["__name__"]
            series = name + labels.replace(f'__name__="{name}", ', "")
            by_name.setdefault(name, {}).setdefault(series, []).append((minute, float(value)))
    assert not any(values[-1][0] == _SHORT for values in by_name.pop("ALERTS").values())
    seen = by_name.keys() | {dict(LABELS.findall(key)).get("problem") for series in by_name.values() for key in series}
    recorded = [rule for group in groups for rule in group["rules"] if "record" in rule and rule["record"] not in rare]
    return story_rules.Known(
        steady={
            name: {
                key: tuple(dict(values).get(minute) for minute in range(_BEGINS + 1)) for key, values in series.items()
            }
            for name, series in by_name.items()
            if name not in story_rules.PROBLEMS and all(_keeps(values) for values in series.values())
        },
        # The shortest.
        idle=dict(
            rare[record]
            for record in reversed(rare)
            if record not in begun and not any(rare[record][1].startswith(name) for name in story_rules.PROBLEMS)
        ),
        empty=frozenset[str]().union(*map(story_rules.writes, recorded)) - seen,
    )


def _keeps(values: Sequence[tuple[int, float]]) -> bool:
    """Return whether the value stays after the first minutes, and all can be written as samples are."""
    end = values[-1][1]
    stays = [(minute, end) for minute in range(_BEGINS, _SHORT + 1)]
    return values[-len(stays) :] == stays and all(float(f"{value:.15g}") == value for _, value in values)


def unsteady_query(story: Story, cluster: str) -> str:
    """Return the query, after another one, of series of the healthy cluster that are not steady after all."""
    if story.changes:
        return ""
    least = story.minutes - _BEGINS
    long = f'{{cluster="{cluster}"}}[{least}m]'
    return "".join(
        f" or changes({name}{long}) > 0 or count_over_time({name}{long}) < {least}" for name in healthy_rules().steady
    )


def recorded_samples(story: Story, groups: Sequence[story_rules.Group]) -> dict[str, list[float | None]]:
    """Return, as samples, what these groups read of the steady series that they do not record.

    A group that is evaluated before the one that records a series reads it a minute later.
    """
    if story.world != World():
        return {}
    every, steady = rule_groups(story), healthy_rules().steady
    writer = {rule.get("record"): number for number, group in enumerate(every) for rule in group["rules"]}
    place = {group["name"]: number for number, group in enumerate(every)}
    recorded = {rule.get("record") for group in groups for rule in group["rules"]}
    # Groups are evaluated in reverse order: the first of those that read it is the last.
    reader: dict[str, int] = {}
    for group in reversed(groups):
        names = frozenset[str]().union(*map(story_rules.reads, group["rules"]))
        reader |= dict.fromkeys((names & steady.keys()) - recorded, place[group["name"]])
    return {
        key: [*[None] * (last > writer[name]), *values, *values[-1:] * story.minutes][: story.minutes + 1]
        for name, last in reader.items()
        for key, values in steady[name].items()
    }


@cache
def _inhibitions() -> list[dict[str, Any]]:
    text = alertmanager(warning={"sns_configs": [{}]})
    return list(yaml12.load(text)["inhibit_rules"])


def inhibited(target: Mapping[str, str], alerts: list[dict[str, str]]) -> bool:
    """Return whether one of the alerts that fire inhibits another one."""
    return any(
        _matches(rule["target_matchers"], target)
        and _matches(rule["source_matchers"], source)
        and all(source.get(label, "") == target.get(label, "") for label in rule["equal"])
        for rule in _inhibitions()
        for source in alerts
        if source != target
    )


def _matches(matchers: list[str], labels: Mapping[str, str]) -> bool:
    for matcher in matchers:
        label, operator, value = re.fullmatch(r'(\w+)(=~|!~|!=|=)"(.*)"', matcher).groups()  # type: ignore[union-attr]
        pattern = value if "~" in operator else re.escape(value)
        if bool(re.fullmatch(pattern, labels.get(label, ""))) == operator.startswith("!"):
            return False
    return True


def after(story: Story, played: Played) -> dict[str, int]:
    """Return when each alert fired first, in minutes after the first change."""
    return {alert: minutes[0] - story.start for alert, minutes in sorted(played.fired.items())}


def verdict(story: Story, played: Played) -> list[str]:
    """Return what is wrong with the alerts that fired."""
    fired, pages = played.fired, played.pages
    problems = [
        f"{alert} fires from minute {minutes[0]}, and nobody wants it"
        for alert, minutes in fired.items()
        if alert not in {*story.rings, *story.also} and (ALERTS[alert].severity != "info" or not story.benign)
    ]
    problems += [
        f"{alert} is critical and wakes somebody in minute {minutes[0]}"
        for alert, minutes in fired.items()
        if story.benign and ALERTS[alert].severity == "critical"
    ]
    for alert, within in story.rings.items():
        first = fired.get(alert, [10**6])[0]
        if not story.start <= first <= story.start + within:
            when = "never" if alert not in fired else f"in minute {first}"
            problems.append(f"{alert} fires {when}; expected within {within} minutes of minute {story.start}")
    if len(pages) > story.pages:
        problems.append(f"one cause wakes somebody {len(pages)} times: {', '.join(pages)}")
    problems += [f"{alert} fires at the end" for alert in story.after if story.minutes in fired.get(alert, ())]
    return problems


def main() -> None:
    """Print the table of all stories, and write when each alert fired, for the reference."""
    print("| story | kind | rang, minutes after the first change | sent as critical | right |\n|---|---|---|---|---|")
    times = {}
    for story in stories():
        played = play(story)
        times[story.name] = after(story, played)
        rang = ", ".join(f"{alert} {minutes}" for alert, minutes in times[story.name].items())
        problems = verdict(story, played)
        kind = "benign" if story.benign else "broken"
        sent = ", ".join(played.pages)
        print(f"| {story.name} | {kind} | {rang or 'nothing'} | {sent} | {'; '.join(problems) or 'yes'} |")
        sys.stdout.flush()
    rows = (f" {json.dumps(name)}: {json.dumps(alerts)}" for name, alerts in times.items())
    TIMES.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
