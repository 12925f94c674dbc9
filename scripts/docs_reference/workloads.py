"""Generate the reference of the workloads."""

from docs_reference.markdown import code, page, table
from ultracluster.catalogue.ec2 import NCCL_FIGURES, instance_type, software_set
from ultracluster.catalogue.training import WORKLOAD_FIGURES
from ultracluster.clusterfile import loads
from ultracluster.rules import Refusal
from ultracluster.workloads import IMAGES, VARIABLES, WORKLOADS, Workload, workload_files

_ABOUT = """What each workload of `ultracluster render --workload` does and needs, its files, its settings for `--set`,
published figures to compare a run with, and where to look when a run is slower. [Jobs](../guides/jobs.md) shows how to
submit them. The figures are of other systems: the same number of GPUs and the same configuration should come close."""
_FILE = """
name: table
region: us-east-2
zone: use2-az1
orchestrator: {orchestrator}
nodes:
  gpu: {{type: {type}, count: {count}{more}}}
storage: {{lustre: {{throughput: 20 GB/s}}}}
"""
_BLOCK = ", capacity: {reservations: [cr-0123456789abcdef0], kind: ultraserver, instances: 18}"
# A type of each generation of GPUs, and the count and capacity of its group.
_GENERATIONS = {
    "A100": ("p4d.24xlarge", 4, ""),
    "H100": ("p5.48xlarge", 4, ""),
    "H200": ("p5en.48xlarge", 4, ""),
    "B200": ("p6-b200.48xlarge", 4, ""),
    "B300": ("p6-b300.48xlarge", 4, ""),
    "GB200": ("u-p6e-gb200x72", 1, _BLOCK),
}
_SUPPORT = """*yes*: the file starts from a published image. *image*: none is published for these CPUs, and
`image=` names one. *operator*: on HyperPod, with its training operator.
On Slurm, a real `slurmctld` accepts each file; on Kubernetes, each object is checked against its
CRD. The training program of `pretrain` runs on CPUs in the tests, through its file on a real Slurm; those of
`torchtitan` and `finetune` run on CPUs too. No workload has run on GPUs for this table."""
_SOFTWARE = """The oldest version of each part that nodes and container images of a generation need, and the one that
this release has; `-` if none is published or pinned. Nodes compare theirs once an hour, and the metric
`ultracluster_software_ok` is 0 for a part that is older: the alert SoftwareMissing. The workload `health` prints what
is older, on Slurm with `IMAGE=` also in a container image. The key `software` of the cluster file replaces versions,
and `--set software=driver=590,nccl=2.30` those of one job."""
_VARIABLES = (
    """Environment variables of other software that job files set, all of them. None tunes NCCL or libfabric."""
)
_TRAINING = (
    "[Job](dashboards.md#job): MFU, goodput, the time of a step, and who holds it up; [Network](dashboards.md#network)"
)
_SERVING = "[Inference](dashboards.md#inference): queue, time to the first token, cache; [Node](dashboards.md#node)"
# Workloads of an operator that only clusters of HyperPod have.
_OPERATED = ("elastic", "checkpointless")
_LOOK = {
    "pretrain": _TRAINING,
    "torchtitan": _TRAINING,
    "megatron": _TRAINING,
    "maxtext": f"{_TRAINING}; MaxText prints its own steps, which are not collected",
    **dict.fromkeys(_OPERATED, _TRAINING),
    "finetune": _TRAINING,
    "rl": f"{_TRAINING}; nodes that generate and nodes that train have different power",
    "inference": _SERVING,
    "sglang": _SERVING,
    "dynamo": f"{_SERVING}; the log of a worker must name LIBFABRIC, and [Network](dashboards.md#network) shows EFA",
    "nccl": "[Network](dashboards.md#network): EFA of the slowest nodes; [Node](dashboards.md#node): EFA, NVLink",
    "health": "[Node](dashboards.md#node): problems and checks",
    "import": "[Storage](dashboards.md#storage): Lustre traffic",
}


def workloads_page() -> str:
    """Page with the support table and a section for each workload."""
    header = ("workload", *(f"{family}, {name}" for family in ("Slurm", "Kubernetes") for name in _GENERATIONS))
    support = [
        (code(row.name), *(_support(row, family, *given) for family in ("slurm", "kubernetes") for given in _given()))
        for row in WORKLOADS.values()
    ]
    images = [
        (code(image.address), image.holds, ", ".join(image.architectures), image.source) for image in IMAGES.values()
    ]
    return page(
        "Workloads",
        _ABOUT,
        f"## Orchestrators and GPUs\n\n{table(header, support)}\n\n{_SUPPORT}",
        *(_section(row) for row in WORKLOADS.values()),
        f"## Software\n\n{_SOFTWARE}\n\n{_software()}",
        f"## Variables\n\n{_VARIABLES}\n\n{_variables()}",
        f"## Images\n\n{table(('image', 'holds', 'CPUs', 'source'), images)}",
    )


def _variables() -> str:
    rows = [(code(name), row.used_by, row.reason, row.source) for name, row in VARIABLES.items()]
    return table(("variable", "set by", "reason", "source"), rows)


def _software() -> str:
    """Table of the oldest and the pinned version of each part, by generation of GPUs."""
    sets = {name: software_set(instance_type("p6e-gb200.36xlarge" if name == "GB200" else row[0]))
            for name, row in _GENERATIONS.items()}  # fmt: skip
    rows = []
    for parts in zip(*sets.values(), strict=True):
        first = parts[0]
        pinned = first.pinned or "-"
        rows.append((code(first.name), first.place, *(part.oldest or "-" for part in parts), pinned, first.source,
                     first.pinned_by or "-"))  # fmt: skip
    return table(("software", "in", *sets, "pinned", "source of the oldest", "pinned by"), rows)


def _given() -> list[tuple[str, int, str]]:
    return list(_GENERATIONS.values())


def _support(row: Workload, family: str, instance_type: str, count: int, more: str) -> str:
    if not any(form.family == family for form in row.forms):
        return "no"
    text = _FILE.format(orchestrator=family, type=instance_type, count=count, more=more)
    try:
        files = workload_files(loads(text, "table.yaml"), row.name)
    except Refusal as refusal:
        if [message.rule.id for message in refusal.messages] == ["job-image"]:
            return "image"
        if row.name in _OPERATED:
            return "operator"
        raise
    return "image" if any("# IMAGE    must be set" in file.text for file in files) else "yes"


def _section(row: Workload) -> str:
    forms = table(
        ("file", "kind", "settings"),
        [(code(form.file), form.kind, ", ".join(code(name) for name in row.settings(form))) for form in row.forms],
    )
    lines = [
        f"## {row.name}",
        f"{row.summary[0].upper()}{row.summary[1:]}.",
        f"**Needs** {row.needs}.",
        forms,
        _figures(row.name),
        f"**If it is slower**: {_LOOK[row.name]}.",
    ]
    return "\n\n".join(lines)


def _figures(name: str) -> str:
    if name == "nccl":
        rows = [
            (f"{figure.nodes} x {figure.instance_type}, {figure.message_bytes / 2**30:g} GiB",
             f"{figure.bus_gb_per_s:g} GB/s bus bandwidth; floor {figure.floor_gb_per_s:g} GB/s", figure.source)
            for figure in NCCL_FIGURES
        ]  # fmt: skip
    else:
        rows = [
            (figure.run, figure.result, f"{figure.source} (read {figure.read_on})")
            for figure in WORKLOAD_FIGURES
            if figure.workload == name
        ]
    if name == "elastic":
        return "**Figures**: none is published; at its full size, it should reach those of [pretrain](#pretrain)."
    if not rows:
        return "**Figures**: none is published with enough detail to compare a run with."
    return table(("published run", "result", "source"), rows)
