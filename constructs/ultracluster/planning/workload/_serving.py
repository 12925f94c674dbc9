"""Roofline of a replica: memory, batch, prefill and decode."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._layout import usable_memory
from ultracluster.planning.workload._machine import Machine, Precision, machine_of
from ultracluster.planning.workload._model import Model

_MOST_REPLICA = 72
# Collectives of a layer, two of them, take this long whatever their size. Ours, of NCCL on NVLink.
_COLLECTIVE = 10e-6
# A larger replica has to serve this many times as many requests per GPU.
_WORTH_MORE_GPUS = 1.1
_GIB = 1 << 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Replica:
    """GPUs that hold the model once, and what they do at their batch.

    Args:
        gpus: GPUs of the replica.
        batch: Requests that decode together.
        bound: Constraint that limits the batch.
        token_seconds: Time of a decode step, hence between two tokens of a request.
        prefill_seconds: Time of the prompt of one request.
        request_seconds: Time of a request from prompt to last token.
        requests_per_second: Requests of a full replica that computes prompts too.
    """

    gpus: int
    batch: int
    bound: str
    token_seconds: float
    prefill_seconds: float
    request_seconds: float
    requests_per_second: float

    @property
    def decode_tokens_per_second(self) -> float:
        """Tokens of all requests together."""
        return self.batch / self.token_seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Serving:
    """Requests of a replica.

    Args:
        model: The model.
        machine: GPUs.
        precision: Of weights and matrix multiplications.
        prompt: Tokens of a prompt.
        generated: Tokens that a request generates, reasoning included.
        slowest: Seconds between two tokens at most. By default, the batch grows until arithmetic is as slow as memory.
        assumptions: Assumptions.
    """

    model: Model
    machine: Machine
    precision: Precision
    prompt: int
    generated: int
    slowest: float | None
    assumptions: Assumptions

    @property
    def bytes_each(self) -> int:
        """Bytes of a weight."""
        return 1 if self.precision == "fp8" else 2

    @property
    def weights(self) -> float:
        """Bytes of all weights."""
        return self.model.parameters * self.bytes_each

    @property
    def cache(self) -> float:
        """Bytes of keys and values of a request at its end."""
        return float(self.model.kv_bytes_per_token * (self.prompt + self.generated))

    def token_seconds(self, gpus: int, batch: float) -> float:
        """Return the time of a decode step: the slower of memory and arithmetic, and the collectives."""
        model, machine = self.model, self.machine
        unused = (1 - model.experts_per_token / model.experts) ** batch if model.experts else 0.0
        read = (model.parameters - model.routed * unused) * self.bytes_each
        cached = batch * model.kv_bytes_per_token * (self.prompt + self.generated / 2)
        memory = (read + cached) / (gpus * machine.memory_bandwidth * self.assumptions.memory_efficiency)
        arithmetic = 2 * model.active * batch / self._flops(gpus)
        return max(memory, arithmetic) + (2 * model.layers * _COLLECTIVE if gpus > 1 else 0.0)

    def prefill_seconds(self, gpus: int) -> float:
        """Return the time of a prompt: two FLOPs for each active parameter and token, and attention."""
        model = self.model
        attention = 2 * model.layers * self.prompt * model.heads * model.head_size
        return self.prompt * (2 * model.active + attention) / self._flops(gpus)

    def _flops(self, gpus: int) -> float:
        machine = self.machine
        rate = machine.fp8_matmul if self.precision == "fp8" else machine.bf16_matmul
        return gpus * machine.peak(self.precision) * rate * self.assumptions.kernel_efficiency

    def replica(self) -> Replica:
        """Return the replica with the most requests per GPU; a larger one has to be better by a tenth.

        Raises:
            ValueError: If no number of GPUs holds the model, or a token takes longer than allowed, with the constraint.
        """
        room = usable_memory(self.machine, self.assumptions)
        most = max(_MOST_REPLICA, self.machine.domain)
        sizes = [size for size in (1, 2, 4, 8, 16, 32, 64, most) if size * room >= self.weights + self.cache]
        if not sizes:
            raise ValueError(
                f"a replica does not fit: weights of {self.weights / _GIB:,.0f} GiB and {self.cache / _GIB:,.1f} GiB "
                f"of keys and values of a request are {(self.weights + self.cache - most * room) / _GIB:,.0f} GiB more "
                f"than {most} GPUs of {self.machine.name} hold"
            )
        # Beyond the NVLink domain a replica is no larger than it has to be.
        sizes = [size for size in sizes if size <= self.machine.domain] or sizes[:1]
        fast = [size for size in sizes if self.slowest is None or self.token_seconds(size, 1) <= self.slowest]
        if not fast:
            least, slowest = self.token_seconds(sizes[-1], 1), self.slowest or 0
            raise ValueError(
                f"{sizes[-1]} GPUs of {self.machine.name} need {least * 1e3:,.1f} ms for a token of one request, "
                f"{least / slowest:,.1f} times the {slowest * 1e3:,.1f} ms that are allowed: reading the weights from "
                "memory binds"
            )
        best = self._of(fast[0], room)
        for size in fast[1:]:
            larger = self._of(size, room)
            if larger.requests_per_second / size > _WORTH_MORE_GPUS * best.requests_per_second / best.gpus:
                best = larger
        return best

    def _of(self, gpus: int, room: float) -> Replica:
        """Return a replica of this many GPUs at its largest batch."""
        by_memory = max(1, int((gpus * room - self.weights) // max(1.0, self.cache)))
        batch, bound = by_memory, "memory"
        if self.slowest is not None:
            limit = self.slowest
            by_time = _largest(lambda each: self.token_seconds(gpus, each) <= limit, by_memory)
            what = "time of a token"
        else:
            # Above it arithmetic takes longer than reading the weights.
            bandwidth = self.machine.memory_bandwidth * self.assumptions.memory_efficiency
            sparse = self.model.parameters / self.model.active
            by_time = ceil(self._flops(1) / bandwidth * self.bytes_each / 2 * sparse)
            what = "arithmetic"
        if by_time < by_memory:
            batch, bound = by_time, what
        token, prefill = self.token_seconds(gpus, batch), self.prefill_seconds(gpus)
        return Replica(
            gpus=gpus,
            batch=batch,
            bound=bound,
            token_seconds=token,
            prefill_seconds=prefill,
            request_seconds=prefill + self.generated * token,
            requests_per_second=1 / (self.generated * token / batch + prefill),
        )


def _largest(good: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` for which a condition holds; it holds for 1."""
    low, high = 1, max(1, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if good(middle) else (low, middle - 1)
    return low


def replica_fits(
    model: Model, record: InstanceType, gpus: int, *, precision: Precision = "bf16", tokens: int = 8192
) -> str | None:
    """Return why a replica does not fit on this many GPUs, or None if it does.

    Args:
        model: The model.
        record: Instance type.
        gpus: GPUs that share weights, keys and values.
        precision: Precision of the weights.
        tokens: Tokens of a request.
    """
    assumptions = Assumptions()
    machine = machine_of(record, precision)
    serving = Serving(
        model=model, machine=machine, precision=precision, prompt=tokens, generated=0, slowest=None,
        assumptions=assumptions,
    )  # fmt: skip
    room, needed = usable_memory(machine, assumptions), (serving.weights + serving.cache) / gpus
    if needed <= room:
        return None
    least = ceil((serving.weights + serving.cache) / room)
    return (
        f"the model does not fit: weights of {serving.weights / _GIB:,.0f} GiB in {precision} and "
        f"{serving.cache / _GIB:,.1f} GiB of keys and values of {tokens:,} tokens on {gpus} GPUs of {record.name} are "
        f"{needed / _GIB:,.0f} GiB of each GPU, and {room / _GIB:,.0f} GiB are usable ({machine.memory / _GIB:,.0f} "
        f"GiB without a reserve of {assumptions.memory_reserve:.0%}): use at least {least} GPUs"
    )
