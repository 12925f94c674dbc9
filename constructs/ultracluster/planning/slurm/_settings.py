"""Validation of Slurm settings against AWS PCS: names, values and combinations."""

import re
from collections.abc import Iterator, Mapping, Sequence

from ultracluster.catalogue.schedulers import GRES_ATTRIBUTES, NOT_TAKEN, SETTINGS, Place
from ultracluster.rules import nearest

_NUMBER = r"\d{1,9}"
# Nearer than this, an unknown name is a known one misspelt; farther, it may be one that PCS has taken since.
_NEAR = 0.8
#: What makes the controller's own metrics: https://docs.aws.amazon.com/pcs/latest/userguide/slurm-metrics.html (read
#: 2026-11-21)
METRICS_SETTINGS: Mapping[str, str] = {
    "MetricsType": "metrics/openmetrics",
    "CommunicationParameters": "enable_http",
}
#: The first Slurm version of which PCS shows metrics.
METRICS_SINCE = "25.11"
# The place as a cluster file has it.
_KEYS: Mapping[Place, str] = {
    "cluster": "slurm.settings",
    "node-group": "nodes.NAME.slurm.settings",
    "queue": "slurm.queues.NAME.settings",
    "slurmdbd": "slurm.slurmdbd-settings",
    "cgroup": "slurm.cgroup-settings",
}


def unknown_settings(place: Place, settings: Mapping[str, str]) -> list[str]:
    """Return the names that are not on PCS's lists: they are allowed, as the lists grow."""
    return [name for name in settings if name not in SETTINGS[place]]


def check_settings(place: Place, settings: Mapping[str, str], *, version: str) -> dict[str, str]:
    """Return the error of each setting by name; a name unlike any known one is accepted."""
    problems = {name: _name_problem(place, name) or _value_problem(place, name, settings[name]) for name in settings}
    for name in settings:
        since = SETTINGS[place][name].since if name in SETTINGS[place] else ""
        if problems[name] is None and since > version:
            problems[name] = f"PCS accepts it from Slurm {since} on, and the version is {version}"
    together = {"cluster": _cluster_problems(settings, version), "queue": _queue_problems(settings)}
    for name, problem in together.get(place, ()):
        problems[name] = problems[name] or problem
    return {name: problem for name, problem in problems.items() if problem is not None}


def _name_problem(place: Place, name: str) -> str | None:
    known = SETTINGS[place]
    if name in known:
        return None
    if same := next((word for word in known if word.lower() == name.lower()), None):
        return f"PCS writes it {same}"
    for word, reason in NOT_TAKEN.items():
        if word.lower() == name.lower():
            return f"PCS does not accept it: {reason}"
    for other, names in SETTINGS.items():
        if name in names:
            return f"PCS accepts it in another place: {_KEYS[other]}"
    near = nearest(name, known, _NEAR)
    return f"PCS has no such setting; did you mean {near}?" if near else None


def _value_problem(place: Place, name: str, value: str) -> str | None:
    known = SETTINGS[place].get(name)
    if known is None or not known.what:
        return None
    parts = value.split(",") if known.parts else [value]
    # Slurm reads its words in any case.
    wrong = [part for part in parts if not re.fullmatch(known.pattern, part.strip(), re.IGNORECASE | re.ASCII)]
    if not wrong:
        return None
    return f"must be {known.what}, got {wrong[0][:60]!r}"


def _cluster_problems(settings: Mapping[str, str], version: str) -> Iterator[tuple[str, str]]:
    flags = _parts(settings.get("PrologFlags"))
    if "nohold" in flags and flags & {"contain", "x11"}:
        yield "PrologFlags", "Slurm accepts NoHold neither with Contain nor with X11; remove one"
    states = _parts(settings.get("HealthCheckNodeState"))
    if "reboot_only" in states and len(states) > 1:
        yield "HealthCheckNodeState", "REBOOT_ONLY cannot be combined"
    if "reboot_only" in states and version < "26.05":
        yield "HealthCheckNodeState", f"PCS accepts REBOOT_ONLY from Slurm 26.05 on, and the version is {version}"
    sockets = {"cr_socket", "cr_socket_memory"} & _parts(settings.get("SelectTypeParameters"))
    if sockets and version < "25.11":
        yield "SelectTypeParameters", f"PCS accepts CR_Socket from Slurm 25.11 on, and the version is {version}"
    if "enable_stepmgr" in _parts(settings.get("SlurmctldParameters")) and flags and "contain" not in flags:
        yield "SlurmctldParameters", "enable_stepmgr requires PrologFlags with Contain, or none"
    if settings.get("PreemptType", "preempt/none") != "preempt/none" and _parts(settings.get("PreemptMode")) <= {"off"}:
        yield "PreemptType", "Slurm requires a PreemptMode with it, such as REQUEUE"
    if "MetricsType" in settings:
        if "enable_http" not in _parts(settings.get("CommunicationParameters")):
            yield "MetricsType", "needs CommunicationParameters with enable_http; slurm: {metrics: true} sets both"
        if "PrivateData" in settings:
            yield "MetricsType", "PCS shows no metrics when PrivateData is set; remove one"


def _queue_problems(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    # https://slurm.schedmd.com/slurm.conf.html#OPT_DenyAccounts and #OPT_DenyQos (read 2026-11-21)
    for allowed, denied in (("AllowAccounts", "DenyAccounts"), ("AllowQos", "DenyQos")):
        if allowed in settings and denied in settings:
            yield denied, f"Slurm does not enforce it beside {allowed}; remove one of the two"


def check_gres(settings: Mapping[str, str], records: Sequence[Mapping[str, str]], *, version: str) -> list[str]:
    """Return the errors of gres.conf records and of `Gres` beside them; empty if PCS accepts them.

    See: https://docs.aws.amazon.com/pcs/latest/userguide/gres-custom-settings.html (read 2026-11-21)
    """
    problems = []
    for record in records:
        if unknown := [name for name in record if name not in GRES_ATTRIBUTES]:
            problems.append(
                f"an attribute of gres.conf is one of {', '.join(GRES_ATTRIBUTES)}, got {unknown[0][:60]!r}"
            )
        detects = record.get("AutoDetect", "off").lower() != "off"
        if "Name" not in record and not detects:
            problems.append("a record of gres.conf has a Name, or an AutoDetect that is not off")
        if record.get("Name") == "gpu" and not detects and not record.keys() & {"File", "MultipleFiles"}:
            problems.append("a gpu record of gres.conf has File or MultipleFiles, or AutoDetect")
        if "AutoDetect" in record and version < "25.11":
            problems.append(f"PCS accepts AutoDetect from Slurm 25.11 on, and the version is {version}")
    gpu = [record for record in records if record.get("Name") == "gpu" or "AutoDetect" in record]
    if len(gpu) > 1:
        problems.append("PCS accepts one gpu record for a node group")
    if any("AutoDetect" in record for record in gpu) and version == "25.11" and "Sockets" not in settings:
        problems.append("with Slurm 25.11, AutoDetect needs Sockets in the settings of the nodes, or they are drained")
    declared = {record.get("Name", "gpu") for record in records}
    for entry in filter(None, settings.get("Gres", "").split(",")):
        name = entry.split(":")[0].strip()
        if name not in declared:
            problems.append(f"Gres names {name[:60]!r}, and no record of gres declares it")
        else:
            problems += _beside(entry, [record for record in records if record.get("Name", "gpu") == name])
    return problems


def _beside(entry: str, records: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Return the error of a `Gres` entry, such as `gpu:h100:8`, beside the records of its name."""
    name, *parts = (word.strip() for word in entry.split(":"))
    kind = next((word for word in parts if not word.isdecimal()), None)
    types = {record["Type"] for record in records if "Type" in record}
    if kind is not None and name == "gpu" and types and kind not in types:
        yield f"Gres has GPUs of the type {kind[:60]!r}, and the record of gres has {', '.join(sorted(types))}"
    counts = [_devices(record) for record in records]
    requested = next((int(word) for word in parts if re.fullmatch(_NUMBER, word, re.ASCII)), 1)
    # PCS counts neither what Slurm finds by itself nor what is shared.
    if name not in ("mps", "shard") and None not in counts and requested > (there := sum(filter(None, counts))):
        yield f"Gres has {requested} of {name}, and the records of gres have {there}"


def _devices(record: Mapping[str, str]) -> int | None:
    """Return the devices of a gres.conf record, or None if Slurm counts them or the form is another."""
    if "AutoDetect" in record:
        return None
    if "Count" in record:
        return int(record["Count"]) if re.fullmatch(_NUMBER, record["Count"], re.ASCII) else None
    files = re.fullmatch(r"[^\[\],]+(?:\[(\d{1,4})-(\d{1,4})\])?", record.get("File", ""), re.ASCII)
    if files is None:
        return None if record.keys() & {"File", "MultipleFiles"} else 1
    return int(files[2]) - int(files[1]) + 1 if files[1] else 1


def _parts(value: str | None) -> set[str]:
    return {part.strip().lower() for part in (value or "").split(",")} - {""}
