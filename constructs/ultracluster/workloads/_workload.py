"""The description of a workload, which every form of it follows."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, get_args

from ultracluster.planning.lustre import CHECKPOINTS_KEPT

#: Families of orchestrators that share their job files.
Family = Literal["slurm", "kubernetes"]
#: Part of a model that a GPU holds: what the degrees of parallelism leave it, its shard of parameters and optimizer
#: (FSDP), its share of the weights of a server; nothing if the workload has no model.
Holds = Literal["layout", "sharded", "serving", ""]
#: Test of the nodes of a job before it starts: with an all-reduce of pairs, without, or none.
Gate = Literal["nccl", "nodes", "no"]
#: Settings of the size of a model, from which memory, layout and checkpoints follow.
SIZE = ("parameters", "active_parameters", "sequence", "precision")

#: Settings of workloads, with what each one changes.
SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "nodes": "number of nodes",
        "gpus": "number of GPUs, in whole nodes, instead of nodes",
        "min_nodes": "fewest nodes on which an elastic job runs",
        "recipe": "configuration of the framework",
        "tensor_parallel": "GPUs of a tensor-parallel group",
        "pipeline_parallel": "stages of the pipeline",
        "context_parallel": "GPUs that share a sequence",
        "expert_parallel": "GPUs that share the experts of a layer",
        "virtual_stages": "parts of a stage in the interleaved schedule",
        "micro_batch": "sequences that a replica computes at once",
        "batch_tokens": "tokens of a step",
        "steps": "steps of the training, by default those of the recipe",
        "recompute": "activations that the backward pass computes again: full, or auto by the size of the model",
        "sharding": "state that replicas share: optimizer, or all with FSDP",
        "checkpoint_steps": "steps between two checkpoints",
        "checkpoint_seconds": "seconds between two checkpoints",
        "checkpoints_kept": "newest checkpoints that are kept, at least 2",
        "parameters": "parameters of the model, such as 70B: it must fit",
        "active_parameters": "parameters that a token uses, of a mixture of experts",
        "layers": "layers of the model, by default those of Llama 3 at its size",
        "sequence": "tokens of a sequence",
        "precision": "bf16 or fp8",
        "prefill": "nodes that compute prompts",
        "rollout": "nodes that generate while the others train, instead of all in turn",
        "replicas": "number of replicas, each on `nodes` nodes",
        "model": "directory or name of the model",
        "image": "container image",
        "program": "path of the training program",
        "data": "directory of the data",
        "gate": "test of the nodes before the job starts: nccl, nodes or no",
        "name": "name of the job on Kubernetes: one of the same name continues from its checkpoints",
        "software": "oldest versions instead of those of the type, such as driver=590,nccl=2.30",
    }
)
#: Settings with few values.
CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "precision": ("bf16", "fp8"),
        "recompute": ("auto", "full"),
        "sharding": ("optimizer", "all"),
        "gate": get_args(Gate),
    }
)


def software_versions(text: str) -> dict[str, str]:
    """Return the versions of the setting `software`, by name of the part."""
    return dict(item.split("=") for item in text.split(",") if item)


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A file of a workload for one family of orchestrators.

    Args:
        family: Family of orchestrators.
        file: Name of the file, in the directory of its group.
        kind: `sbatch`, or the kind of the Kubernetes object that runs the workload.
        settings: Names of its settings, of `SETTINGS`.
        unconnected: Line about what its nodes need if they do not reach the internet, or an empty text.
    """

    family: Family
    file: str
    kind: str
    settings: tuple[str, ...] = ("nodes", "gpus")
    unconnected: str = ""

    @property
    def shown(self) -> str:
        """Kind of the object, or the name of a file that Slurm runs."""
        return self.file if self.kind == "sbatch" else self.kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """A load that clusters run.

    Args:
        name: Name, for `ultracluster render --workload`.
        summary: Short description.
        needs: What it needs of a cluster and of its user.
        forms: Its files, one or more for each family of orchestrators that runs it.
        across_nodes: False if its nodes exchange nothing, so that several need no EFA.
        holds: Part of the model that a GPU holds.
        fp8: False if it has no setting for FP8.
        inside: Degrees of parallelism whose product must divide the GPUs of a node.
        tensor: GPUs of a tensor-parallel group of its default recipe.
        own_stages: Beginnings of recipes whose layers have stages of their own, because they do not divide.
        by_time: Whether its program writes checkpoints by the clock, so that it needs no number of steps.
        answers: False if its program writes no checkpoint at a request, and loses the steps since its last one.
    """

    name: str
    summary: str
    needs: str
    forms: tuple[Form, ...]
    across_nodes: bool = True
    holds: Holds = ""
    fp8: bool = True
    inside: tuple[str, ...] = ()
    tensor: int = 1
    own_stages: tuple[str, ...] = ()
    by_time: bool = False
    answers: bool = True

    def runs_on(self, gpus: int) -> bool:
        """Return whether its default recipe runs on nodes with this many GPUs."""
        return gpus % self.tensor == 0

    def settings(self, form: Form) -> tuple[str, ...]:
        """Return the names of all settings of a form."""
        if not self.holds:
            return form.settings
        return (*form.settings, *SIZE, *(() if self.holds == "serving" else ("checkpoint_seconds",)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Valid settings of one workload on one group.

    Args:
        nodes: Number of nodes. By default, that of the form.
        min_nodes: Fewest nodes of an elastic job.
        tensor_parallel: GPUs of a tensor-parallel group. By default, those of a node.
        pipeline_parallel: Stages of the pipeline. By default, those of the recipe.
        context_parallel: GPUs that share a sequence. By default, those of the recipe.
        expert_parallel: GPUs that share the experts of a layer. By default, those of the recipe.
        virtual_stages: Parts of a stage in the interleaved schedule. By default, one.
        micro_batch: Sequences that a replica computes at once. By default, that of the plan, or one.
        batch_tokens: Tokens of a step. By default, those of the plan.
        steps: Steps of the training. By default, those of the recipe.
        sharding: State that replicas share.
        checkpoint_steps: Steps between two checkpoints. By default, those of the plan, or without a size of the model
            those of the framework.
        checkpoint_seconds: Seconds between two checkpoints. By default, those of the plan.
        checkpoints_kept: Complete checkpoints that the framework keeps, at least 2: the newest one may be incomplete.
        recompute: Activations that the backward pass computes again. By default, all if the plan needs it.
        batch: Sequences of a step for each GPU, of the plan. By default, those of the recipe.
        request_seconds: Seconds before its end at which a job gets the request to write a checkpoint: more than the
            plan's checkpoint takes.
        parameters: Parameters of the model. By default, its memory is not checked.
        active_parameters: Parameters that a token uses. By default, all.
        layers: Layers of the model. By default, those of Llama 3 at its size.
        sequence: Tokens of a sequence. By default, those of the framework; 8,192 where memory follows from it.
        precision: Precision of matrix multiplications, and of the weights of a server.
        prefill: Nodes that compute prompts. By default, half of the nodes.
        rollout: Nodes that generate while the others train. By default, all nodes do both in turn.
        replicas: Number of replicas.
        recipe: Configuration of the framework, or an empty text for that of the workload.
        model: Model, or an empty text.
        image: Container image, or an empty text for the pinned one.
        program: Training program, or an empty text for that of the job files.
        data: Directory of the data, or an empty text.
        gate: Test of the nodes. By default, that of the form.
        software: Oldest versions instead of those of the type, or an empty text.
        name: Name of the job on Kubernetes, or an empty text for that of the workload, its recipe and the group.
    """

    nodes: int | None = None
    min_nodes: int = 1
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    context_parallel: int | None = None
    expert_parallel: int | None = None
    virtual_stages: int | None = None
    micro_batch: int | None = None
    batch_tokens: int | None = None
    steps: int | None = None
    sharding: Literal["optimizer", "all"] = "optimizer"
    checkpoint_steps: int | None = None
    checkpoint_seconds: int | None = None
    checkpoints_kept: int = CHECKPOINTS_KEPT
    recompute: Literal["auto", "full"] = "auto"
    batch: Fraction | None = None
    request_seconds: int = 300
    parameters: float | None = None
    active_parameters: float | None = None
    layers: int | None = None
    sequence: int | None = None
    precision: Literal["bf16", "fp8"] = "bf16"
    prefill: int | None = None
    rollout: int | None = None
    replicas: int = 1
    recipe: str = ""
    model: str = ""
    image: str = ""
    program: str = ""
    data: str = ""
    gate: Gate | None = None
    software: str = ""
    name: str = ""
