"""Samples of tokens by their number, so that a run continues in the data where its checkpoint was written."""

from __future__ import annotations

import math
import mmap
from pathlib import Path
from typing import Any

import torch

# Bytes of a token in a file, by the end of its name.
_WIDTHS = {".bin": (2, torch.uint16), ".u32": (4, torch.int32)}
_NOISE = 0.1


class Synthetic:
    """Tokens that follow from the token before, except for a tenth of them: a model learns them in a few steps.

    Args:
        shape: Size of the model.
        seed: Seed of the run.
    """

    def __init__(self, shape: Any, seed: int) -> None:
        self.shape, self._seed = shape, seed
        # k steps of x -> 5 x + 7 are x -> factor[k] x + summand[k].
        factors, summands = [1], [0]
        for _ in range(shape.length):
            factors.append(5 * factors[-1] % shape.vocabulary)
            summands.append((5 * summands[-1] + 7) % shape.vocabulary)
        self._factors, self._summands = torch.tensor(factors), torch.tensor(summands)

    def batch(self, samples: range) -> tuple[Any, Any]:
        """Return the tokens of samples, and the token after each."""
        rows = torch.stack([self._sample(number) for number in samples])
        return rows[:, :-1], rows[:, 1:]

    def _sample(self, number: int) -> Any:
        random = torch.Generator().manual_seed(self._seed * 2_147_483_647 + number)
        length, vocabulary = self.shape.length + 1, self.shape.vocabulary
        noise = torch.randint(vocabulary, (length,), generator=random)
        places = torch.arange(length)
        starts = torch.where(torch.rand(length, generator=random) < _NOISE, places, 0).cummax(0).values
        return (self._factors[places - starts] * noise[starts] + self._summands[places - starts]) % vocabulary


class Files:
    """Token files in a directory, such as on Lustre: `*.bin` of unsigned 16-bit integers, `*.u32` of 32-bit ones.

    Both are little endian. The files are mapped, so that a rank reads only its samples. Each pass has another order.

    Args:
        directory: Directory of the files.
        shape: Size of the model.
    """

    def __init__(self, directory: str, shape: Any) -> None:
        self.shape = shape
        self._maps: list[tuple[Any, int, Any]] = []
        self._counts: list[int] = []
        for path in self.paths(directory):
            width, kind = _WIDTHS[path.suffix]
            count = (path.stat().st_size // width - 1) // shape.length
            if count > 0:
                with path.open("rb") as file:
                    self._maps.append((mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), width, kind))
                self._counts.append(count)
        if not self._counts:
            raise SystemExit(f"--data {directory}: no file has the {shape.length + 1} tokens of a sample")

    @staticmethod
    def paths(directory: str) -> list[Path]:
        """Return the token files of a directory."""
        return sorted(path for suffix in _WIDTHS for path in Path(directory).glob(f"*{suffix}"))

    def batch(self, samples: range) -> tuple[Any, Any]:
        """Return the tokens of samples, and the token after each."""
        rows = torch.stack([self._sample(number) for number in samples])
        highest = int(rows.max())
        if highest >= self.shape.vocabulary:
            raise SystemExit(f"--data: token {highest} is not below the vocabulary, {self.shape.vocabulary}")
        return rows[:, :-1], rows[:, 1:]

    def _sample(self, number: int) -> Any:
        total = sum(self._counts)
        turn, place = divmod(number, total)
        # A multiplier without a common divisor visits each sample once in a pass.
        factor = next(
            value
            for value in range(total * 618 // 1000 + 1 + turn, 2 * total + turn + 2)
            if math.gcd(value, total) == 1
        )
        place = (place * factor + turn) % total
        for (tokens, width, kind), count in zip(self._maps, self._counts, strict=True):
            if place < count:
                offset = place * self.shape.length * width
                return torch.frombuffer(tokens, dtype=kind, count=self.shape.length + 1, offset=offset).long()
            place -= count
        raise AssertionError(place)
