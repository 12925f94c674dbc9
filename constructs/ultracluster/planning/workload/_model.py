"""Shape of a transformer: layers, heads and experts from its parameters."""

from dataclasses import dataclass
from typing import Self

# Shape of Llama 3: heads of 128, eight key-value heads, gated feed-forward layers of three matrices, a vocabulary of
# 128,256, and 102 to 130 hidden units for each layer. https://arxiv.org/abs/2407.21783, table 3 (read 2026-11-22)
_HEAD_SIZE = 128
_KV_HEADS = 8
_VOCABULARY = 128_256
_WIDTH_OF_LAYERS = 128
# DeepSeek-V3 activates 8 of 256 experts, which are 60 % of its active parameters.
# https://arxiv.org/abs/2412.19437, section 4.2 (read 2026-11-22)
_EXPERTS_PER_TOKEN = 8
_SHARE_OF_EXPERTS = 0.6

SMALLEST, LARGEST = 1e6, 1e15
# Multiples of derived sizes, from the size at which each begins: published models have sizes that parallel layouts
# divide. Ours, from the shapes in tests/support/published_runs.py (2026-11-23).
_LAYERS = ((64, 8), (16, 4), (0, 1))
_WIDTHS = ((1536, 1024), (0, 128))
_WIDTHS_OF_FEED_FORWARD = ((1024, 256), (0, 1))
# Width of a feed-forward layer by that of the residual stream, at most. Ours: Llama 3 has 3.25 to 3.5.
_WIDEST = 32
_EXPERTS = ((192, 64), (48, 32), (0, 8))


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A transformer, dense or with a mixture of experts. `Model.of` derives what is not known.

    Args:
        parameters: All of them.
        active: Those that a token uses, embeddings included; all of a dense model.
        layers: Number of layers.
        hidden: Width of the residual stream.
        heads: Attention heads.
        kv_heads: Key-value heads.
        head_size: Width of a head.
        vocabulary: Tokens of the vocabulary.
        feed_forward: Width of the feed-forward layer, or of one expert.
        experts: Routed experts of a layer; 0 for a dense model.
        experts_per_token: Routed experts that a token uses.
        tied: Whether the embedding is also the output layer.
        attention_parameters: Parameters of the attention of a layer. None derives them from the heads.
    """

    parameters: float
    active: float
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    feed_forward: int
    experts: int = 0
    experts_per_token: int = 0
    tied: bool = False
    attention_parameters: float | None = None

    @classmethod
    def of(
        cls,
        parameters: float,
        *,
        active: float | None = None,
        layers: int | None = None,
        hidden: int | None = None,
        heads: int | None = None,
        kv_heads: int | None = None,
        vocabulary: int = _VOCABULARY,
        experts: int | None = None,
        experts_per_token: int | None = None,
    ) -> Self:
        """Return a model of this size with the shape of Llama 3, or of DeepSeek-V3 if it has experts.

        Args:
            parameters: All of them, such as `405e9`.
            active: Those that a token uses. Default: all, a dense model.
            layers: Number of layers. Default: by size.
            hidden: Width of the residual stream. Default: by size.
            heads: Attention heads. Default: of 128 units each.
            kv_heads: Key-value heads. Default: at most 8, a divisor of the heads.
            vocabulary: Tokens of the vocabulary.
            experts: Routed experts of a layer. Default: by `active`; 0 for a dense model.
            experts_per_token: Routed experts that a token uses. Default: 8.

        Raises:
            ValueError: If a size is absurd, or more parameters are active than there are. All reasons at once.
        """
        problems = [
            f"a model has {SMALLEST:.0e} to {LARGEST:.0e} {what}, got {value:g}"
            for what, value in (("parameters", parameters), ("active parameters", active or parameters))
            if not SMALLEST <= value <= LARGEST
        ]
        if active is not None and active > parameters:
            problems.append(
                f"{active:.3g} active parameters are more than all {parameters:.3g}, by {active - parameters:.3g}"
            )
        problems += [
            f"{what} must be at least 1, got {value}"
            for what, value in (("layers", layers), ("hidden", hidden), ("heads", heads), ("kv heads", kv_heads))
            if value is not None and value < 1
        ]
        if vocabulary < 1:
            problems.append(f"the vocabulary must have at least 1 token, got {vocabulary}")
        if experts and experts_per_token and experts_per_token > experts:
            problems.append(
                f"{experts_per_token} experts of a token are more than all {experts}, by {experts_per_token - experts}"
            )
        if (experts or experts_per_token) and (active is None or active == parameters):
            problems.append("a model with experts has fewer active parameters than parameters: name the active ones")
        if heads and heads > (hidden or heads):
            problems.append(f"{heads} heads are more than the {hidden} hidden units, by {heads - (hidden or 0)}")
        if heads and kv_heads and heads % kv_heads:
            problems.append(f"{kv_heads} kv heads do not divide the {heads} heads: {heads % kv_heads} remain")
        if problems:
            raise ValueError("; ".join(problems))
        used = active or parameters
        layers = layers or _even((used / (12 * _WIDTH_OF_LAYERS**2)) ** (1 / 3), _LAYERS)
        hidden = hidden or max(_HEAD_SIZE, _even((used / (12 * layers)) ** 0.5, _WIDTHS))
        heads = heads or max(1, hidden // _HEAD_SIZE)
        kv_heads = kv_heads or max(size for size in range(1, _KV_HEADS + 1) if heads % size == 0)
        head_size = max(1, hidden // heads)
        rest = max(used * 0.1, used - 2 * vocabulary * hidden - layers * 2 * hidden * head_size * (heads + kv_heads))
        width = rest / (3 * layers * hidden)
        if width > _WIDEST * hidden:
            raise ValueError(
                f"{layers} layers of {hidden} hidden units are too few for {used:.3g} parameters: feed-forward layers "
                f"would be {width / hidden:,.0f} times as wide, at most {_WIDEST} times is planned"
            )
        if used == parameters:
            experts = experts_per_token = 0
        else:
            experts_per_token = experts_per_token or _EXPERTS_PER_TOKEN
            width = _SHARE_OF_EXPERTS * used / experts_per_token / (3 * layers * hidden)
            routed = 3 * layers * hidden * width
            most = max(experts_per_token + 8, experts_per_token + (parameters - used) / routed)
            experts = experts or _even(most, _EXPERTS)
        return cls(
            parameters=parameters,
            active=used,
            layers=layers,
            hidden=hidden,
            heads=heads,
            kv_heads=kv_heads,
            head_size=head_size,
            vocabulary=vocabulary,
            feed_forward=_even(width, _WIDTHS_OF_FEED_FORWARD),
            experts=experts,
            experts_per_token=experts_per_token,
        )

    @property
    def embedding(self) -> float:
        """Parameters of the embedding, which the output layer has too."""
        return self.vocabulary * self.hidden

    @property
    def routed(self) -> float:
        """Parameters of all routed experts."""
        if not self.experts:
            return 0.0
        return (self.parameters - self.active) * self.experts / max(1, self.experts - self.experts_per_token)

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of keys and values of a token in BF16."""
        return 2 * 2 * self.layers * self.kv_heads * self.head_size


def _even(size: float, multiples: tuple[tuple[int, int], ...]) -> int:
    """Return the nearest size that is a multiple of what its magnitude asks."""
    multiple = next(multiple for least, multiple in multiples if size >= least)
    return max(1, round(size / multiple)) * multiple
