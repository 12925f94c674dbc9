"""Training with frameworks of others on Kubernetes."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import resources

from ultracluster.kubernetes import PYTHON, REPORTER, Object, Platform, PlatformNodes, Team, job_name
from ultracluster.workloads._frameworks import DEGREES, LAYOUT, MAX_TEXT, MEGATRON_BRIDGE, TITAN
from ultracluster.workloads._images import MAXTEXT, MEGATRON, TORCHTITAN
from ultracluster.workloads._kubernetes_form import KubernetesForm
from ultracluster.workloads._kubernetes_gang import first_pod, image_for, job_set, nodes_of
from ultracluster.workloads._kubernetes_torchrun import has_job_sets_alone, has_train_jobs, torchrun_job
from ultracluster.workloads._workload import Settings

_SETTINGS = ("nodes", "gpus", "image", "recipe", "data", *DEGREES, "batch_tokens", "checkpoint_steps", "gate", "name")
# Kubernetes expands it in a command.
_RUN = "$(RUN)"
_SIGNAL = {"ULTRACLUSTER_REQUEST_SIGNAL": "TERM"}
_PROGRAM = "/opt/Megatron-Bridge/scripts/training/run_recipe.py"
# The index that Kubernetes gives every pod of an Indexed Job.
_START = 'node_rank=$JOB_COMPLETION_INDEX node "$@"\n'


def _times(group: PlatformNodes, given: Settings) -> Callable[[Fraction], str]:
    gpus = nodes_of(group, given.nodes) * group.instance_type.gpus
    return lambda number: str(int(number * gpus))


def _megatron(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    recipe = [
        "--recipe",
        given.recipe or "qwen3_8b_pretrain_config",
        *MEGATRON_BRIDGE.options(given, _RUN, _times(group, given)),
    ]
    return torchrun_job(
        platform,
        group,
        team,
        given,
        name=_name("megatron", group, given),
        program=[_PROGRAM, *recipe],
        image=MEGATRON,
        launcher=["env", *(f"{key}={value}" for key, value in _SIGNAL.items())],
    )


def _titan(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    options = [given.recipe or "llama3_8b", *TITAN.options(given, _RUN, _times(group, given))]
    program = [f"{PYTHON}/ultracluster_titan.py", *options]
    name = _name("torchtitan", group, given)
    return torchrun_job(platform, group, team, given, name=name, program=program, image=TORCHTITAN)


def _max_text(platform: Platform, group: PlatformNodes, team: Team, given: Settings) -> list[Object]:
    name, nodes = _name("maxtext", group, given), nodes_of(group, given.nodes)
    text = resources.files(__package__).joinpath("loads", "maxtext.sh").read_text(encoding="utf-8")
    options = MAX_TEXT.options(given, _RUN, _times(group, given))
    return job_set(
        platform,
        group,
        team,
        name=name,
        nodes=nodes,
        command=["bash", "-c", text + _START, "node", given.recipe or "llama2-7b", *options],
        image=given.image or image_for(group, MAXTEXT),
        env={"nodes": str(nodes), "head": first_pod(name), "reporter": REPORTER, **_SIGNAL},
        interval=given.checkpoint_seconds,
        data=given.data,
        gate=given.gate,
    )


def _name(kind: str, group: PlatformNodes, given: Settings) -> str:
    """Return the name of a job: another recipe must not continue from its checkpoints."""
    recipe = re.sub("[^a-z0-9]+", "-", given.recipe.lower()).strip("-")
    return given.name or job_name(f"{kind}-{recipe}" if recipe else kind, group.name)


TITAN_JOB = KubernetesForm(
    file="torchtitan.yaml",
    kind="TrainJob",
    title=lambda group, nodes: (
        f"pre-training with torchtitan on {nodes * group.instance_type.gpus:,} GPUs of {group.name}"
    ),
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
    title=lambda group, nodes: (
        f"a recipe of Megatron Bridge on {nodes * group.instance_type.gpus:,} GPUs of {group.name}"
    ),
    objects=_megatron,
    applies=has_train_jobs,
    settings=(*_SETTINGS, *LAYOUT),
    image=MEGATRON,
    writes=True,
)
MEGATRON_SET = replace(MEGATRON_JOB, kind="JobSet", applies=has_job_sets_alone)
MAX_TEXT_SET = KubernetesForm(
    file="maxtext.yaml",
    kind="JobSet",
    title=lambda group, nodes: (
        f"pre-training with MaxText on {nodes * group.instance_type.gpus:,} GPUs of {group.name}"
    ),
    objects=_max_text,
    settings=_SETTINGS,
    image=MAXTEXT,
    writes=True,
)
