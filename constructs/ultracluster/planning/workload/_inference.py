"""Plans of inference: memory, batch, prefill, decode, replicas and the time until weights are loaded."""

from math import ceil

from ultracluster.catalogue.ec2 import InstanceType
from ultracluster.catalogue.ec2 import instance_type as look_up
from ultracluster.planning import Plan
from ultracluster.planning.lustre import LustreClients
from ultracluster.planning.workload._assumptions import Assumptions
from ultracluster.planning.workload._machine import Precision, machine_of, precision_problems
from ultracluster.planning.workload._model import Model
from ultracluster.planning.workload._requirements import add_resources, add_spares
from ultracluster.planning.workload._serving import Replica, Serving
from ultracluster.planning.workload._sheet import Sheet, checked
from ultracluster.planning.workload._training import absurd

_DEFAULTS = Assumptions()
_ROOFLINE = "roofline: https://arxiv.org/abs/2211.05102, sections 2 and 3"
# Storage servers from which TCP would reach its limit of a client; with EFA they do not limit it.
_SERVERS = 20


def plan_inference(
    model: Model,
    *,
    instance_type: InstanceType | str,
    prompt_tokens: int = 2048,
    output_tokens: int = 512,
    reasoning_tokens: int = 0,
    requests_per_second: float | None = None,
    seconds_per_token: float | None = None,
    precision: Precision = "bf16",
    dollars_per_node_hour: float | None = None,
    assumptions: Assumptions = _DEFAULTS,
) -> Plan:
    """Plan inference of a model on an instance type.

    Args:
        model: The model.
        instance_type: A name of the catalogue, or a record.
        prompt_tokens: Tokens of a prompt.
        output_tokens: Tokens of an answer, without reasoning.
        reasoning_tokens: Tokens that a request generates before its answer.
        requests_per_second: Load. Default: that of one replica.
        seconds_per_token: Time between two tokens at most. Default: not limited.
        precision: `bf16` or `fp8`, of weights; keys and values are in BF16.
        dollars_per_node_hour: Price of an instance. Default: no cost.
        assumptions: Assumptions.

    Raises:
        ValueError: If figures are absurd or the model does not fit, with the constraint that binds.
    """
    checked(
        [
            *absurd("tokens of a prompt", prompt_tokens, 1, 1e8),
            *absurd("tokens of an answer", output_tokens, 1, 1e8),
            *absurd("tokens of reasoning", reasoning_tokens, 0, 1e8),
            *absurd("requests per second", requests_per_second, 1e-6, 1e9),
            *absurd("seconds per token", seconds_per_token, 1e-6, 1e4),
            *precision_problems(precision),
            *assumptions.problems(),
        ]
    )
    record = look_up(instance_type) if isinstance(instance_type, str) else instance_type
    generated = output_tokens + reasoning_tokens
    serving = Serving(
        model=model, machine=machine_of(record, precision), precision=precision, prompt=prompt_tokens,
        generated=generated, slowest=seconds_per_token, assumptions=assumptions,
    )  # fmt: skip
    replica = serving.replica()
    sheet = Sheet(frozenset({"instance_type", "precision", "prompt_tokens", "output_tokens"}))
    _replica(sheet, serving, replica, record, output_tokens, reasoning_tokens)
    nodes = _load(sheet, serving, replica, record, requests_per_second)
    _staging(sheet, serving, replica, record, nodes)
    spares = add_spares(sheet, record, nodes, assumptions) if record.ultraservers else 0
    add_resources(sheet, record, nodes, spares)
    if dollars_per_node_hour is not None:
        sheet.add("dollars_per_node_hour", dollars_per_node_hour, "USD/h", "price of a node", "the caller")
        paid = "(nodes + spare_nodes)" if spares else "nodes"
        tokens = sheet.number("requests_per_second") * generated * 3600
        sheet.add("dollars_per_million_tokens", dollars_per_node_hour * (nodes + spares) / tokens * 1e6, "USD",
                  f"dollars_per_node_hour * {paid} / (requests_per_second * generated tokens * 3.6e-3)")  # fmt: skip
    return Plan(kind="inference", figures=tuple(sheet.figures), notes=tuple(sheet.notes))


def _replica(
    sheet: Sheet, serving: Serving, replica: Replica, record: InstanceType, output: int, reasoning: int
) -> None:
    model, machine = serving.model, serving.machine
    sheet.add("parameters", model.parameters, "parameters", "given", "the caller")
    sheet.add("active_parameters", model.active, "parameters", "those that a token uses", "the caller")
    sheet.add("instance_type", record.name, "", "given")
    sheet.add("precision", serving.precision, "", "given")
    sheet.add("prompt_tokens", serving.prompt, "tokens", "given")
    sheet.add("output_tokens", output, "tokens", "given")
    sheet.add("reasoning_tokens", reasoning, "tokens", "given, or none", "the caller")
    sheet.add("weights_bytes", serving.weights, "bytes", "parameters * bytes of a weight")
    sheet.add("kv_cache_bytes_per_token", model.kv_bytes_per_token, "bytes", "4 * layers * kv_heads * head_size",
              "https://arxiv.org/abs/2211.05102, section 2.1")  # fmt: skip
    sheet.add("kv_cache_bytes_per_request", serving.cache, "bytes",
              "kv_cache_bytes_per_token * (prompt + reasoning + output tokens)")  # fmt: skip
    sheet.add("gpus_per_replica", replica.gpus, "GPUs", "most requests per GPU of the powers of two that fit",
              record.source)  # fmt: skip
    if replica.gpus > machine.domain:
        sheet.notes.append(
            f"a replica of {replica.gpus} GPUs leaves the NVLink domain of {machine.domain}: pipeline stages over EFA"
        )
    sheet.add("batch", replica.batch, "requests", "largest that memory and time allow", _ROOFLINE)
    sheet.add("batch_bound", replica.bound, "", "constraint that limits the batch", _ROOFLINE)
    ridge = machine.peak(serving.precision) / machine.memory_bandwidth
    sheet.add("ridge_flops_per_byte", ridge, "FLOP/byte", "peak_flops / memory bandwidth", _ROOFLINE)
    read = serving.weights + serving.cache * replica.batch
    sheet.add("decode_flops_per_byte", 2 * model.active * replica.batch / read,
              "FLOP/byte", "2 * active_parameters * batch / (weights + keys and values)", _ROOFLINE)  # fmt: skip
    sheet.add("prefill_flops_per_byte", 2 * model.active * serving.prompt / serving.weights, "FLOP/byte",
              "2 * active_parameters * prompt_tokens / weights_bytes", _ROOFLINE)  # fmt: skip
    sheet.add("seconds_per_token", replica.token_seconds, "s",
              "larger of (weights + keys and values) / bandwidth and FLOPs / peak, + 2 * layers collectives",
              _ROOFLINE)  # fmt: skip
    sheet.add("decode_tokens_per_second", replica.decode_tokens_per_second, "tokens/s", "batch / seconds_per_token")
    sheet.add("prefill_seconds", replica.prefill_seconds, "s",
              "prompt_tokens * (2 * active_parameters + attention) / peak of a replica", _ROOFLINE)  # fmt: skip
    sheet.add("reasoning_seconds", reasoning * replica.token_seconds, "s", "reasoning_tokens * seconds_per_token")
    sheet.add("request_seconds", replica.request_seconds, "s",
              "prefill_seconds + (reasoning + output tokens) * seconds_per_token")  # fmt: skip


def _load(
    sheet: Sheet, serving: Serving, replica: Replica, record: InstanceType, requests_per_second: float | None
) -> int:
    decode = serving.generated * replica.token_seconds / replica.batch
    each = replica.requests_per_second
    load = requests_per_second or each
    replicas = ceil(load / each - 1e-9)
    gpus = replicas * replica.gpus
    nodes = ceil(gpus / record.gpus)
    share = replica.prefill_seconds / (replica.prefill_seconds + decode)
    sheet.add("requests_per_second_per_replica", each, "requests/s", "1 / (prefill_seconds + decode seconds / batch)")
    sheet.add("requests_per_second", load, "requests/s", "given, or that of one replica", "the caller")
    sheet.add("replicas", replicas, "replicas", "requests_per_second / requests_per_second_per_replica, rounded up")
    sheet.add("gpus", gpus, "GPUs", "replicas * gpus_per_replica")
    sheet.add("nodes", nodes, "nodes", "gpus / GPUs of a node, rounded up", record.source)
    sheet.add("prefill_share", share, "", "prefill seconds / (prefill + decode seconds) of a request",
              "https://arxiv.org/abs/2401.09670")  # fmt: skip
    if replicas < 2:
        return nodes
    prefill = min(max(1, round(replicas * share)), max(1, replicas - 1))
    sheet.add("prefill_replicas", prefill, "replicas", "replicas * prefill_share, if prefill and decode are separate",
              "https://arxiv.org/abs/2401.09670")  # fmt: skip
    sheet.add("decode_replicas", replicas - prefill, "replicas", "replicas - prefill_replicas")
    return nodes


def _staging(sheet: Sheet, serving: Serving, replica: Replica, record: InstanceType, nodes: int) -> None:
    """Add the times in which a node reads its weights."""
    held = serving.weights * min(1.0, record.gpus / replica.gpus)
    ena = min(100.0, record.cards[0].ena_gbps or 100.0) * 1e9 / 8
    sheet.add("staging_seconds_s3", held / ena, "s",
              "weights of a node / ENA bandwidth of its first card, 100 Gbit/s at most",
              "https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html")  # fmt: skip
    clients = LustreClients(instance_type=record, count=nodes)
    lustre = float(clients.gbps(efa=bool(clients.interfaces), storage_servers=_SERVERS)) * 1e9 / 8
    sheet.add("staging_seconds_lustre", held / lustre, "s", "weights of a node / throughput of a Lustre client",
              "https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html")  # fmt: skip
    disks, _ = record.nvme
    if disks:
        rate = disks * serving.assumptions.nvme_bytes_per_second
        sheet.add("staging_seconds_nvme", held / rate, "s", "weights of a node / (disks * nvme_bytes_per_second)",
                  "assumed")  # fmt: skip
