"""Samples of tokens by their number, so that a run continues in the data where its checkpoint was written.

    sbatch finetune.sbatch ultracluster_data.py --tokenizer Qwen/Qwen3-8B --out /fsx/tokens /fsx/text/*.jsonl

writes token files from text: each process of the job some of the files. Any Python with PyTorch and transformers does.
"""

from __future__ import annotations

import argparse
import json
import math
import mmap
import os
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

# Bytes of a token in a file, by the end of its name.
_WIDTHS = {".bin": (2, torch.uint16), ".u32": (4, torch.int32)}
_NOISE = 0.1
# Of them, 16-bit files that hold 32-bit tokens are recognised: every second integer is the upper half of a token.
_PAIRS, _LARGEST_UPPER = (64, 4096), 3


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
                    tokens = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
                if width == 2 and _has_halves(tokens):
                    raise SystemExit(f"--data: {path} has 32-bit integers: rename it to {path.stem}.u32")
                self._maps.append((tokens, width, kind))
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


def _has_halves(tokens: Any) -> bool:
    """Return True if a file of 16-bit integers has 32-bit ones."""
    least, most = _PAIRS
    pairs = min(len(tokens) // 4, most)
    lower, upper = torch.frombuffer(tokens, dtype=torch.uint16, count=2 * pairs).long().view(-1, 2).unbind(1)
    return pairs >= least and bool((upper <= _LARGEST_UPPER).all() and (lower > _LARGEST_UPPER).any())


def _texts(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        if path.suffix != ".jsonl":
            yield file.read()
            return
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield str(json.loads(line)["text"])
                except (ValueError, KeyError, TypeError):
                    raise SystemExit(f"{path}:{number}: a line is an object with `text`, got {line[:40]!r}") from None


def main(given: Sequence[str]) -> int:
    """Write token files; return the exit code."""
    parser = argparse.ArgumentParser(description="Write token files for training from text.")
    parser.add_argument("--tokenizer", required=True, help="directory, or name at Hugging Face: that of the model")
    parser.add_argument("--out", required=True, type=Path, help="directory of the token files")
    parser.add_argument("files", nargs="+", type=Path, help="*.jsonl, each line with `text`; other files are one text")
    options = parser.parse_args(given)
    names = Counter(path.stem for path in options.files)
    if repeated := [name for name, count in names.items() if count > 1]:
        parser.error(f"each file needs its own name for its token file, and {', '.join(repeated)} is there twice")
    from transformers import AutoTokenizer  # type: ignore[import-not-found]  # training does not need it

    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    suffix, kind = (".bin", "H") if len(tokenizer) <= 1 << 16 else (".u32", "I")
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    options.out.mkdir(parents=True, exist_ok=True)
    rank, ranks = (int(os.environ.get(name) or default) for name, default in (("RANK", 0), ("WORLD_SIZE", 1)))
    for path in sorted(options.files)[rank::ranks]:
        target = options.out / f"{path.stem}{suffix}"
        part = target.with_suffix(".part")
        with part.open("wb") as file:
            for text in _texts(path):
                array(kind, [*tokenizer(text)["input_ids"], *end]).tofile(file)
        part.replace(target)
        print(f"{target}: {target.stat().st_size // _WIDTHS[suffix][0]:,} tokens", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
