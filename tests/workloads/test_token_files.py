"""Token files: written from text by a real tokenizer, and read by the programs of the job files."""

import json
import subprocess
from pathlib import Path

from support import ROOT
from support.training import ENVIRONMENT

PROGRAM = """
import array, json, sys
from pathlib import Path
from types import SimpleNamespace
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
sys.path.insert(0, sys.argv[1])
import ultracluster_data

def tokenizer(name, words):
    built = Tokenizer(models.WordLevel({"<end>": 0, **{f"w{n}": n for n in range(1, words)}}, unk_token="<end>"))
    built.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=built, eos_token="<end>").save_pretrained(name)

def refusal(run):
    try:
        run()
    except SystemExit as error:
        return str(error)

shape = SimpleNamespace(vocabulary=70_000, length=3)
text = Path("a.jsonl")
text.write_text("".join(json.dumps({"text": t}) + "\\n" for t in ("w1 w66000 w3", "w4 w5 w6 w7")))
Path("b.txt").write_text("w8 w9 w10")
result = {}
for name, words in (("small", 300), ("large", 70_000)):
    tokenizer(name, words)
    ultracluster_data.main(["--tokenizer", name, "--out", f"{name}-tokens", "a.jsonl", "b.txt"])
    files = ultracluster_data.Files(f"{name}-tokens", shape)
    result[name] = {
        "files": sorted(path.name for path in Path(f"{name}-tokens").iterdir()),
        "first": [files._sample(n).tolist() for n in range(3)],
    }
wrong = Path("wrong")
wrong.mkdir()
(wrong / "x.bin").write_bytes(array.array("I", range(65_000, 67_000)).tobytes())
right = Path("right")
right.mkdir()
(right / "x.bin").write_bytes(array.array("H", [n % 60_000 for n in range(4_000)]).tobytes())
result["wrong"] = refusal(lambda: ultracluster_data.Files("wrong", shape))
result["right"] = refusal(lambda: ultracluster_data.Files("right", shape))
Path("bad.jsonl").write_text('{"texts": 1}\\n')
result["line"] = refusal(lambda: ultracluster_data.main(["--tokenizer", "small", "--out", "o", "bad.jsonl"]))
print(json.dumps(result))
"""


def test_token_files_have_the_width_of_the_vocabulary_and_another_width_is_recognised(
    tmp_path: Path, torch: Path
) -> None:
    scripts = ROOT / "constructs/ultracluster/boot/scripts"
    command = [str(torch), "-W", "ignore", "-c", PROGRAM, str(scripts)]
    environment = {**ENVIRONMENT, "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["small"]["files"] == ["a.bin", "b.bin"]
    assert result["large"]["files"] == ["a.u32", "b.u32"]
    samples = [tuple(sample) for sample in result["large"]["first"]]
    assert sorted(samples) == [(0, 4, 5, 6), (1, 66000, 3, 0), (8, 9, 10, 0)]
    assert result["wrong"] == "--data: wrong/x.bin has 32-bit integers: rename it to x.u32"
    assert result["right"] is None
    assert result["line"].startswith("bad.jsonl:1: a line is an object with `text`")
