"""Training with frameworks of others on Kubernetes."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import resources

from ultracluster.kubernetes import PYTHON, REPORTER, Object, Platform, PlatformNodes, Team
from ultracluster.workloads._frameworks import COMMON, LAYOUT, MAX_TEXT, MEGATRON_BRIDGE, TITAN, UNCONNECTED
from ultracluster.workloads._images import MAXTEXT, MEGATRON, TORCHTITAN
from ultracluster.workloads._kubernetes_form import KubernetesForm, gpus_of
from ultracluster.workloads._kubernetes_gang import START, first_pod, job_set, name_of, nodes_of
from ultracluster.workloads._kubernetes_torchrun import has_job_sets_alone, has_train_jobs, torchrun_job
from ultracluster.workloads._workload import Settings

_SETTINGS = (*COMMON, "name")
# Kubernetes expands it in a command.
_RUN = "$(RUN)"
_SIGNAL = {"ULTRACLUSTER_REQUEST_SIGNAL": "TERM"}
_PROGRAM = "/opt/Megatron-Bridge/scripts/training/run_recipe.py"


def _times(group: PlatformNodes, given: Settings) -> Callable[[Fraction], str]:
    gpus = nodes_of(group, given.nodes) * group.instance_type.gpus
    return lambda number: str(int(number * gpus))


def _megatron(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    options = MEGATRON_BRIDGE.options(given, _RUN, _times(group, given))
    text = resources.files(__package__).joinpath("loads", "recipe.sh").read_text(encoding="utf-8")
    signal = [f"{key}={value}" for key, value in _SIGNAL.items()]
    return torchrun_job(
        platform,
        group,
        team,
        given,
        kind=_kind("megatron", given),
        program=[_PROGRAM, "--recipe", given.recipe or "qwen3_8b_pretrain_config", *options],
        image=MEGATRON,
        launcher=["bash", "-c", f'{text}with_model "$@"\n', "node", "env", *signal],
    )


def _titan(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    options = [given.recipe or "llama3_8b", *TITAN.options(given, _RUN, _times(group, given))]
    program = [f"{PYTHON}/ultracluster_titan.py", *options]
    kind = _kind("torchtitan", given)
    return torchrun_job(platform, group, team, given, kind=kind, program=program, image=TORCHTITAN)


def _max_text(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    kind, nodes = _kind("maxtext", given), nodes_of(group, given.nodes)
    text = resources.files(__package__).joinpath("loads", "maxtext.sh").read_text(encoding="utf-8")
    options = MAX_TEXT.options(given, _RUN, _times(group, given))
    command = ["bash", "-c", f"{text}{START}", "node", given.recipe or "llama2-7b", *options]
    head = first_pod(name_of(kind, group, given))
    env = {"nodes": str(nodes), "head": head, "reporter": REPORTER, **_SIGNAL}
    return job_set(platform, group, team, given, kind=kind, command=command, image=MAXTEXT, env=env)


def _kind(kind: str, given: Settings) -> str:
    """Return the beginning of the name of a job: another recipe must not continue from its checkpoints."""
    recipe = re.sub("[^a-z0-9]+", "-", given.recipe.lower()).strip("-")
    return f"{kind}-{recipe}" if recipe else kind


TITAN_JOB = KubernetesForm(
    file="torchtitan.yaml",
    kind="TrainJob",
    title=lambda group, nodes: f"pre-training with torchtitan on {gpus_of(group, nodes)}",
    objects=_titan,
    applies=has_train_jobs,
    settings=_SETTINGS,
    image=TORCHTITAN,
    container="torchtitan",
    writes=True,
)
TITAN_SET = replace(TITAN_JOB, kind="JobSet", applies=has_job_sets_alone)
MEGATRON_JOB = KubernetesForm(
    file="megatron.yaml",
    kind="TrainJob",
    title=lambda group, nodes: f"a recipe of Megatron Bridge on {gpus_of(group, nodes)}",
    objects=_megatron,
    applies=has_train_jobs,
    settings=(*_SETTINGS, *LAYOUT),
    unconnected=UNCONNECTED,
    image=MEGATRON,
    writes=True,
)
MEGATRON_SET = replace(MEGATRON_JOB, kind="JobSet", applies=has_job_sets_alone)
MAX_TEXT_SET = KubernetesForm(
    file="maxtext.yaml",
    kind="JobSet",
    title=lambda group, nodes: f"pre-training with MaxText on {gpus_of(group, nodes)}",
    objects=_max_text,
    settings=_SETTINGS,
    image=MAXTEXT,
    writes=True,
)
