"""A small decoder-only transformer: rotary positions, RMS norm, SwiGLU. One file, PyTorch only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

_ROPE_BASE = 10_000.0


@dataclass(frozen=True)
class Shape:
    """Size of the model.

    Args:
        vocabulary: Number of tokens.
        layers: Number of blocks.
        width: Width of the residual stream.
        heads: Attention heads; they divide the width into even parts.
        length: Tokens of a sequence.
        dropout: Dropout in each block.
    """

    vocabulary: int
    layers: int
    width: int
    heads: int
    length: int
    dropout: float = 0.0

    @property
    def hidden(self) -> int:
        """Width of the feed-forward layers: 8/3 of the width, a multiple of 16."""
        return -(-8 * self.width // 48) * 16

    @property
    def parameters(self) -> int:
        """Number of parameters; the embedding is the output layer too."""
        block = 4 * self.width**2 + 3 * self.width * self.hidden + 2 * self.width
        return self.vocabulary * self.width + self.layers * block + self.width

    @property
    def flops_per_token(self) -> int:
        """Operations of a training step for one token: 6 x parameters, and attention (PaLM, arXiv 2204.02311, B)."""
        return 6 * self.parameters + 12 * self.layers * self.width * self.length


class Block(nn.Module):  # type: ignore[misc]
    """Attention and feed-forward layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.dropout = shape.heads, shape.dropout
        self.attention_norm, self.feed_norm = nn.RMSNorm(shape.width), nn.RMSNorm(shape.width)
        self.qkv = nn.Linear(shape.width, 3 * shape.width, bias=False)
        self.output = nn.Linear(shape.width, shape.width, bias=False)
        self.gate_up = nn.Linear(shape.width, 2 * shape.hidden, bias=False)
        self.down = nn.Linear(shape.hidden, shape.width, bias=False)

    def forward(self, x: Any, rotation: tuple[Any, Any]) -> Any:
        """Add attention and the feed-forward layer to the residual stream."""
        batch, length, width = x.shape
        parts = self.qkv(self.attention_norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(_rotate(q, *rotation), _rotate(k, *rotation), v, is_causal=True)
        x = x + self._dropped(self.output(mixed.transpose(1, 2).reshape(batch, length, width)))
        gate, up = self.gate_up(self.feed_norm(x)).chunk(2, dim=-1)
        return x + self._dropped(self.down(F.silu(gate) * up))

    def _dropped(self, x: Any) -> Any:
        return F.dropout(x, self.dropout, self.training) if self.dropout else x


class Transformer(nn.Module):  # type: ignore[misc]
    """Language model; `forward` returns the loss of the next tokens."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.RMSNorm(shape.width)

    def forward(self, tokens: Any, targets: Any) -> Any:
        """Return the mean loss."""
        x = self.embedding(tokens)
        rotation = _rotation(tokens.shape[1], self.shape.width // self.shape.heads, x)
        for block in self.blocks:
            x = block(x, rotation)
        logits = F.linear(self.norm(x), self.embedding.weight)
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())

    def reset(self) -> None:
        """Set the first values of this rank's part of the parameters, from the random numbers of this rank."""
        for name, parameter in self.named_parameters():
            local = parameter.to_local() if hasattr(parameter, "to_local") else parameter
            with torch.no_grad():
                if name.endswith("norm.weight"):
                    local.fill_(1)
                else:
                    deep = name.endswith(("output.weight", "down.weight"))
                    local.normal_(std=0.02 / (2 * self.shape.layers) ** (0.5 if deep else 0))


def _rotation(length: int, size: int, like: Any) -> tuple[Any, Any]:
    steps = torch.arange(length, device=like.device, dtype=torch.float32)
    rates = _ROPE_BASE ** (-torch.arange(0, size, 2, device=like.device, dtype=torch.float32) / size)
    angles = torch.outer(steps, rates)
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


def _rotate(x: Any, cos: Any, sin: Any) -> Any:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)
