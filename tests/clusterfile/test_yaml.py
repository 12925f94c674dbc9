"""Files that are no cluster files, or hardly YAML: each gets one clear error, and soon."""

import time
from pathlib import Path

import pytest

from support.clusterfile_data import GOOD, bent, problem, problems
from ultracluster.clusterfile import ClusterFileError, load, loads


def written(tmp_path: Path, raw: bytes) -> str:
    """Errors of a file of these bytes, without its name."""
    file = tmp_path / "c.yaml"
    file.write_bytes(raw)
    with pytest.raises(ClusterFileError) as caught:
        load(file)
    assert str(caught.value).count("\n") == 0
    message, _, rule = str(caught.value).removeprefix(str(tmp_path) + "/").rpartition(" ")
    assert rule in ("[yaml]", "[file]")
    return message


@pytest.mark.parametrize("raw", [b"", b"\n\n", b"# nothing yet\n", b"---\n", b"--- \n...\n", b"null\n", b"~"])
def test_rejects_an_empty_file(tmp_path: Path, raw: bytes) -> None:
    assert written(tmp_path, raw) == "c.yaml:1:1 the file is empty; its first line could be name: llama"


@pytest.mark.parametrize(
    ("raw", "value"),
    [(b"- name: llama\n", "a list"), (b"llama\n", "'llama'"), (b"'x'", "'x'"), (b"42", "42"), (b"[]", "a list")],
)
def test_rejects_a_file_that_is_no_mapping(tmp_path: Path, raw: bytes, value: str) -> None:
    assert written(tmp_path, raw).startswith(f"c.yaml:1:1 a cluster file is a mapping of keys to values, got {value}; ")


def test_rejects_a_file_of_10_mb_before_it_is_parsed(tmp_path: Path) -> None:
    began = time.monotonic()
    message = written(tmp_path, GOOD.encode() + b"# x\n" * (10 * 2**20 // 4))
    assert message == "c.yaml:1:1 is larger than 1 MiB; a cluster file has some ten lines, is it the right one?"
    assert time.monotonic() - began < 60


def test_rejects_a_text_of_10_mb_as_well() -> None:
    assert "is larger than 1 MiB" in problems(GOOD + "#" * (10 * 2**20))[0]


def test_rejects_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ClusterFileError, match=r"nowhere\.yaml:1:1 there is no such file"):
        load(tmp_path / "nowhere.yaml")


def test_rejects_a_directory(tmp_path: Path) -> None:
    with pytest.raises(ClusterFileError, match=":1:1 is a directory; name a file in it"):
        load(tmp_path)


def test_rejects_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    with pytest.raises(ClusterFileError, match=r"loop\.yaml:1:1 can't be read: Too many levels"):
        load(loop)
    for name in ("a\0b", "x" * 5_000):
        with pytest.raises(ClusterFileError, match="can't be read"):
            load(name)


def test_rejects_an_endless_file() -> None:
    with pytest.raises(ClusterFileError, match="is larger than 1 MiB"):
        load("/dev/zero")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"name: llama\nzone: \xff\n", "c.yaml:2:7 the byte 0xff is not UTF-8; save the file as UTF-8"),
        (GOOD.encode("utf-16"), "c.yaml:1:1 the byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"name: ll\xe4ma\n", "c.yaml:1:9 the byte 0xe4 is not UTF-8; save the file as UTF-8"),
        (b"\x7fELF\x02\x01", "c.yaml:1:1 the character U+007F can't be in YAML; is this a text file?"),
        (b"name: llama\nzone: a\0b\n", "c.yaml:2:8 the character U+0000 can't be in YAML; is this a text file?"),
        (b"name: \x1b[31mred\n", "c.yaml:1:7 the character U+001B can't be in YAML; is this a text file?"),
    ],
)
def test_rejects_bytes_that_are_no_text(tmp_path: Path, raw: bytes, message: str) -> None:
    assert written(tmp_path, raw) == message


def test_the_mark_that_some_editors_put_first_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load(file) == loads(GOOD, "c.yaml")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("name: llama\n  region: us-east-2\n", "2:9"),
        ("name: 'llama\n", "1:7"),
        ("name: [llama\n", "1:7"),
        ("name: {llama\n", "1:7"),
        ("name: a: b\n", "1:8"),
        ("name: x\nregion us-east-2\nzone: y\n", "2:1"),
        ("name: @llama\n", "1:7"),
        ('name: "\\q"\n', "1:9"),
        ("name: %x\n", "1:7"),
        ("nodes:\n  a: 1\n b: 2\n", "3:2"),
        ("%YAML 9.9\n---\nname: x", "1:1"),
    ],
)
def test_rejects_yaml_that_is_not_yaml_with_its_place(text: str, place: str) -> None:
    (message,) = problems(text)
    assert message.startswith(f"c.yaml:{place} this is not YAML: ")


@pytest.mark.parametrize(
    ("text", "place", "bracket"),
    [
        ("name: llama\n}\nzone: y\n", "2:1", "}"),
        ("name: llama\n]\n", "2:1", "]"),
        ("}\nname: llama\n", "1:1", "}"),
        ("name: x\nnodes: {a: {type: b}}}\n", "2:22", "}"),
    ],
)
def test_a_bracket_that_closes_nothing_is_named(text: str, place: str, bracket: str) -> None:
    assert problems(text) == [f"c.yaml:{place} this is not YAML: the {bracket} here closes nothing: remove it"]


def test_rejects_tabs_with_the_reason() -> None:
    (message,) = problems("nodes:\n\ttrain: {}\n")
    assert message.startswith("c.yaml:2:1 this is not YAML")
    assert message.endswith("YAML indents with spaces, not with tabs")


def test_rejects_a_second_document() -> None:
    (message,) = problems(GOOD + "---\n" + GOOD)
    assert message == "c.yaml:8:1 a second document begins here, and a cluster file is one; remove the ---"


def test_rejects_anchors_and_aliases_of_any_size() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)
    )
    began = time.monotonic()
    assert problems(bomb) == [
        "c.yaml:1:4 &a is an anchor, which a cluster file can't have; write the value out where it is meant"
    ]
    assert time.monotonic() - began < 60
    assert "*train is an alias" in problems("name: *train\n")[0]


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!!str", "!mine", "!!binary"])
def test_rejects_tags(tag: str) -> None:
    assert "is a tag, which a cluster file can't have; remove it" in problem("name: llama", f"name: {tag} llama")


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_rejects_deep_nesting_at_once(opening: str) -> None:
    began = time.monotonic()
    (message,) = problems("a: \n " + opening * 1_000)
    assert any(word in message for word in ("nested more than 20 deep", "is not YAML", "a key must be a text"))
    assert time.monotonic() - began < 60


def test_rejects_a_repeated_key_with_both_lines_and_reports_other_errors() -> None:
    text = bent("  train:", "  train: {type: p5.48xlarge, count: x}\n  train:") + "zone: use1-az1\n"
    assert problems(text) == [
        "c.yaml:6:37 nodes.train.count: must be a whole number, got 'x'",
        "c.yaml:7:3 nodes.train: the key is here a second time, and first in line 6; rename or remove one",
        "c.yaml:9:1 zone: the key is here a second time, and first in line 3; rename or remove one",
    ]


def test_quotes_do_not_hide_a_repeated_key() -> None:
    assert "is here a second time" in problems(GOOD + '"name": llama\n')[0]


@pytest.mark.parametrize("key", ["[a, b]", "{a: b}"])
def test_rejects_keys_that_are_no_texts(key: str) -> None:
    (message,) = problems(f"? {key}\n: 1\n")
    assert message.startswith("c.yaml:1:3 a key must be a text, got a ")


@pytest.mark.parametrize("text", ["x" * 2**20, "a: " + "x" * 6_000, "a: !!" + "x" * 10**6, "# " + "x" * 10**6])
def test_rejects_a_very_long_line(text: str) -> None:
    began = time.monotonic()
    (message,) = problems(text[: 2**20 - 1])
    assert "characters, and 5,000 are allowed" in message
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("line", ["a{}: 1\n", "- x\n", "a{}: [1, 2, 3]\n", "#\n", "\n", "a{}: !!xxxxxxx\n", "? a{}\n"])
def test_any_file_of_the_largest_size_is_answered_soon(line: str) -> None:
    text = "".join(line.replace("{}", str(i)) for i in range(2**20 // len(line)))[: 2**20 - 100]
    began = time.monotonic()
    problems(text)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("written", ["2026-11-20", "12:30:45", "yes", "on", "1_000", "0b11", ".5.5", "null-ish"])
def test_what_old_yaml_took_for_dates_and_booleans_is_a_text(written: str) -> None:
    """YAML 1.1 made numbers of `12:30:45` and truth of `on`; the core schema of 1.2 does not."""
    message = problem("count: 64", f"count: {written}")
    assert message.startswith(f"c.yaml:6:39 nodes.train.count: must be a whole number, got '{written}'")


@pytest.mark.parametrize("text", ["0o100", "0x40", "+64"])
def test_accepts_each_form_of_whole_numbers_in_yaml(text: str) -> None:
    assert loads(bent("count: 64", f"count: {text}"), "c.yaml").node_groups[0].count == 64


@pytest.mark.parametrize(
    "number",
    [".nan", ".inf", "-.inf", ".NaN", "1e400", "-1e400", "64.0", "6.4e1", "1" * 29, "-" + "9" * 29, "9" * 4_900],
)
def test_rejects_numbers_that_are_no_counts(number: str) -> None:
    message = problem("count: 64", f"count: {number}")
    assert message.startswith("c.yaml:6:39 nodes.train.count: ")
    assert len(message) < 250
