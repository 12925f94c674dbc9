"""Whatever the file: a cluster, or an error with a place. Never anything else."""

import random

from hypothesis import example, given
from hypothesis import strategies as st

from support import EXAMPLES
from support.clusterfile_data import GOOD
from ultracluster.clusterfile import ClusterFile, ClusterFileError, loads, warnings

SOURCES = [GOOD, *(file.read_text() for file in EXAMPLES)]
SPLINTERS = [
    *(
        "{",
        "}",
        "[",
        "]",
        ": ",
        ", ",
        "- ",
        "\n",
        "\n  ",
        "'",
        '"',
        "#",
        "&a ",
        "*a",
        "!!int ",
        "? ",
        "| ",
        "> ",
        "\t",
        "---",
    ),
    *(
        "null",
        "true",
        "-1",
        "0",
        "1e9",
        ".nan",
        ".inf",
        "0x10",
        "012",
        "9" * 40,
        "\u00e9",
        "\u2028",
        "\ufeff",
        "\x85",
        "@",
        "%",
    ),
    *(
        "count: ",
        "capacity: ",
        "type: p6e-gb200.36xlarge",
        "tier: 1000 MB/s/TiB",
        "network: ",
        "existing: ",
        "spot",
        "login",
    ),
    *(
        "kind: ultraserver",
        "cidr: 10.0.0.0/24",
        "efa: true",
        "900 PB",
        "client: {efa-interfaces: 999}",
        "existing: {id: fs-0123456789abcdef0, mount-name: fsx, efa: true, zone: use2-az2, cidr: 10.1.0.0/16}",
        "data-repository-associations: {/fsx: {}}",
        "data-bucket: {existing: my-datasets, key: 7}",
        "data-bucket: {existing: my-datasets}",
        "deployment-type: SCRATCH_2",
        "read-cache: 10 TiB",
        "lustre-version: 2.12",
        "release-task: {after: 2 d}",
        "0 GB/s",
        "...\n",
        "%YAML 1.2\n",
        "<<: ",
        "~",
        "\r",
        "\0",
    ),
]
words = st.sampled_from(sorted({word for source in SOURCES for word in source.replace("\n", " \n ").split(" ")}))


def check(text: str) -> None:
    try:
        cluster = loads(text, "c.yaml")
    except ClusterFileError as error:
        check_error(error, text)
        return
    assert isinstance(cluster, ClusterFile)
    assert cluster.node_groups
    assert cluster.addresses > 0
    assert all(warning.id.startswith("ultracluster:") for warning in warnings(cluster))
    if cluster.network.existing is None:
        assert cluster.subnets.capacity >= cluster.addresses


def check_error(error: ClusterFileError, text: str) -> None:
    lines = sum(text.count(end) for end in ("\n", "\r", "\x85", "\u2028", "\u2029")) + 1
    assert error.problems
    for problem, rendered in zip(error.problems, str(error).split("\n"), strict=True):
        assert rendered.startswith(f"c.yaml:{problem.line}:{problem.column} ")
        assert 1 <= problem.line <= lines + 1
        assert problem.column >= 1
        assert problem.message
        assert len(rendered) < 700
        assert rendered.isprintable()
        assert "Traceback" not in rendered


@given(st.text())
@example("\x00")
@example("\ud800")
@example("a: \ud800")
@example("%")
@example("%YAML")
@example("%TAG ! x\n---\na: !b c")
@example("a: !<")
@example("? ? ? a")
@example("\u2028a: b")
@example("<flag>: 1")
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(st.sampled_from(SPLINTERS) | words, max_size=60).map("".join))
def test_random_fragments(text: str) -> None:
    check(text)


@given(st.lists(words, max_size=60).map(" ".join))
def test_shuffled_tokens_of_real_files(text: str) -> None:
    check(text)


@given(st.sampled_from(SOURCES), st.integers(0, 2**32), st.lists(st.sampled_from(SPLINTERS) | words, max_size=5))
def test_valid_files_with_random_fragments(source: str, seed: int, splinters: list[str]) -> None:
    rng = random.Random(seed)
    for splinter in splinters:
        start = rng.randrange(len(source) + 1)
        source = source[:start] + splinter + source[start + rng.choice([0, 0, 1, 5, 40]) :]
    check(source)


@given(st.sampled_from(SOURCES), st.data())
def test_valid_files_with_lines_removed_repeated_or_swapped(source: str, data: st.DataObject) -> None:
    lines = source.splitlines(keepends=True)
    for _ in range(data.draw(st.integers(1, 4))):
        at, to = (data.draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        match data.draw(st.sampled_from(["out", "double", "swap", "indent"])):
            case "out" if len(lines) > 1:
                del lines[at]
            case "double":
                lines.insert(to, lines[at])
            case "swap":
                lines[at], lines[to] = lines[to], lines[at]
            case _:
                lines[at] = "  " + lines[at]
    check("".join(lines))


@given(st.sampled_from(SOURCES), st.data())
def test_valid_files_with_a_token_replaced(source: str, data: st.DataObject) -> None:
    old, new = data.draw(words.filter(bool)), data.draw(words | st.sampled_from(SPLINTERS))
    check(source.replace(old, new))


@given(st.binary(max_size=300))
def test_any_bytes_that_are_a_text(raw: bytes) -> None:
    check(raw.decode("utf-8", errors="surrogateescape"))
    check(raw.decode("latin-1"))
