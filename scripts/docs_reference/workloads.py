"""Generate the reference of the workloads."""

from docs_reference.markdown import code, page, table
from support.generations import FAMILIES, GENERATIONS, ON_CPUS, OPERATED, cluster, support
from ultracluster.catalogue.ec2 import NCCL_FIGURES, software_set
from ultracluster.catalogue.training import WORKLOAD_FIGURES
from ultracluster.workloads import IMAGES, VARIABLES, WORKLOADS, Workload

_ABOUT = """What each workload of `ultracluster render --workload` does and needs, its files, its settings for `--set`,
published figures to compare a run with, and where to look when a run is slower. [Jobs](../guides/jobs.md) shows how to
submit them. The figures are of other systems: the same number of GPUs and the same configuration should come close."""
_SUPPORT = """*accepted*: the file starts from a published image. In the tests, a real `slurmctld` takes it, or the
schemas of Kubernetes and the CRDs take its objects. *rendered*: it starts from a published image; the Slurm of the
tests has no topology of blocks. *image*: none is published for these CPUs or GPUs, and `image=` names one.
*operator*: on HyperPod, with its training operator; the tests compare the objects with AWS's own model of them. The
last column is what runs on CPUs in the tests. No workload has run on GPUs for this table."""
_SOFTWARE = """The oldest version of each part that nodes and container images of a generation need, and the one that
this release has; `-` if none is published or pinned. Nodes compare theirs once an hour, and the metric
`ultracluster_software_ok` is 0 for a part that is older: the alert SoftwareMissing. `driver-below` is the oldest driver
that is too new for EFA between UltraServers: clusters with several of them compare it. The workload `health` prints
what is older, with `IMAGE=` on Slurm and `--set image=` on Kubernetes also in a container image, which
needs aws-ofi-nccl 1.20.0: 1.18.0 hangs in large broadcasts. The key `software` of the cluster file replaces versions,
and `--set software=driver=590,nccl=2.30` those of one job."""
_VARIABLES = """Environment variables of other software that job files set, all of them. Only a
plugin of EFA that was not built for AWS gets values that tune NCCL."""
_TRAINING = (
    "[Job](dashboards.md#job): MFU, goodput, time of a step, the slowest nodes; [Network](dashboards.md#network)"
)
_SERVING = "[Inference](dashboards.md#inference): queue, time to the first token, cache; [Node](dashboards.md#node)"
_LOOK = {
    "pretrain": _TRAINING,
    "torchtitan": _TRAINING,
    "megatron": f"{_TRAINING}; the published runs are of DGX systems, whose network between nodes is not EFA",
    "maxtext": f"{_TRAINING}; MaxText prints its own steps, which are not collected",
    **dict.fromkeys(OPERATED, _TRAINING),
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
    header = ("workload", *(f"{family.capitalize()}, {name}" for family in FAMILIES for name in GENERATIONS),
              "on CPUs")  # fmt: skip
    supported = [
        (code(row.name), *(support(row, family, name)[0] for family in FAMILIES for name in GENERATIONS),
         ON_CPUS.get(row.name, ("no",))[0])
        for row in WORKLOADS.values()
    ]  # fmt: skip
    images = [
        (code(image.address), image.contents, ", ".join(image.architectures), image.source) for image in IMAGES.values()
    ]
    return page(
        "Workloads",
        _ABOUT,
        f"## Orchestrators and GPUs\n\n{table(header, supported)}\n\n{_SUPPORT}",
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
    groups = zip(GENERATIONS, cluster("slurm").node_groups, strict=True)
    sets = {name: software_set(group.instance_type) for name, group in groups}
    rows = []
    for parts in zip(*sets.values(), strict=True):
        first = parts[0]
        pinned = first.pinned or "-"
        rows.append((code(first.name), first.place, *(part.oldest or "-" for part in parts), pinned, first.source,
                     first.pinned_by or "-"))  # fmt: skip
    return table(("software", "in", *sets, "pinned", "source of the oldest", "pinned by"), rows)


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
