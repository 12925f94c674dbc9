"""Error messages: the place, the value, the allowed values and the remedy."""

import re
from collections.abc import Iterator

import pytest

from support.clusterfile_data import GOOD, RESERVATION, bent, problem, problems
from ultracluster.catalogue.schedulers import pcs
from ultracluster.clusterfile import ClusterFileError, Path, _translate, loads
from ultracluster.clusterfile.sections._section import Section

VERSIONS = ", ".join(pcs.SLURM_VERSIONS)


def test_rejects_an_unknown_type() -> None:
    assert problem("p5en.48xlarge", "p5en.48xlrage") == (
        "c.yaml:6:17 nodes.train.type: unknown instance type 'p5en.48xlrage'; did you mean p5en.48xlarge? "
        "the known ones: ultracluster types; one that is new is declared under types:"
    )
    assert "did you mean" not in problem("p5en.48xlarge", "trn2.48xlarge.metal")


def test_rejects_a_count_above_what_the_subnet_can_hold() -> None:
    small = "name: llama\nnetwork: {cidr: 10.0.0.0/20}"
    assert problem("name: llama", small, bent("count: 64", "count: 128")) == (
        "c.yaml:7:39 nodes.train.count: 128 nodes of 16 addresses need 2,048, and everything else 29, but the training "
        "subnet has 2,043; at most 125 such nodes fit, layout: one-ip uses 1 address a node, or use a larger range, of "
        "which a VPC of 10.0.0.0/16 has 32,763 addresses"
    )


def test_rejects_a_count_above_what_the_reservation_can_hold() -> None:
    held = f"{{reservation: {RESERVATION}, instances: 63}}"
    assert problem(f"capacity: {RESERVATION}", f"capacity: {held}") == (
        f"c.yaml:6:39 nodes.train.count: 64 nodes are more than the 63 that {RESERVATION} holds; lower the count, or "
        "make the rest a node group of its own"
    )


def test_rejects_a_count_above_what_any_capacity_block_holds() -> None:
    block = f"{{reservation: {RESERVATION}, kind: capacity-block}}"
    text = bent("count: 64", "count: 65", bent(f"capacity: {RESERVATION}", f"capacity: {block}"))
    assert problems(text) == [
        f"c.yaml:6:39 nodes.train.count: 65 nodes are more than the 64 that {block} can hold; lower the count, or make "
        "the rest a node group of its own"
    ]


def test_rejects_a_zone_outside_the_region() -> None:
    assert problem("use2-az1", "use1-az4") == (
        "c.yaml:3:7 zone: use1-az4 is in us-east-1, and the Region is us-east-2; the ids of its zones begin with use2-"
    )
    assert "xyz1-az1 is in no known Region" in problem("use2-az1", "xyz1-az1")


def test_rejects_bare_numbers() -> None:
    assert problem("40 GB/s", "40") == (
        "c.yaml:7:32 storage.lustre.throughput: a throughput needs a unit, got the bare number 40; "
        "units are MB/s, GB/s, TB/s, MiB/s, GiB/s, TiB/s; write it as in 40 GB/s"
    )


def test_rejects_misspelt_keys() -> None:
    text = problem("count: 64", "cuont: 64")
    assert text.startswith("c.yaml:6:32 nodes.train.cuont: unknown key; did you mean count? allowed are type, count, ")
    assert {"root-volume", "placement-group"} <= set(text.partition("allowed are ")[2].split(", "))


@pytest.mark.parametrize(
    ("old", "new", "place", "meant"),
    [
        ("name:", "nam:", "c.yaml:1:1 nam:", "name"),
        ("zone:", "zones:", "c.yaml:3:1 zones:", "zone"),
        ("orchestrator:", "orchestrater:", "c.yaml:4:1 orchestrater:", "orchestrator"),
        ("throughput:", "thruput:", "c.yaml:7:20 storage.lustre.thruput:", "throughput"),
        ("storage:", "Storage:", "c.yaml:7:1 Storage:", "storage"),
        ("name: llama", "name: llama\nencryption_key: x", "c.yaml:2:1 encryption_key:", "encryption-key"),
        ("count: 64", "count: 64, root_volume: 1 TiB", "c.yaml:6:43 nodes.train.root_volume:", "root-volume"),
        ("name: llama", "name: llama\nslurm: {acounting: true}", "c.yaml:2:9 slurm.acounting:", "accounting"),
        ("name: llama", "name: llama\nslurm: {login: {cout: 1}}", "c.yaml:2:17 slurm.login.cout:", "count"),
        ("name: llama", "name: llama\nnetwork: {cider: x}", "c.yaml:2:11 network.cider:", "cidr"),
    ],
)
def test_reports_a_misspelt_key_once_with_a_suggestion(old: str, new: str, place: str, meant: str) -> None:
    assert problem(old, new).startswith(f"{place} unknown key; did you mean {meant}? allowed are ")


@pytest.mark.parametrize("key", ["count: 64", "type: p5.48xlarge", "capacity: on-demand"])
def test_a_key_of_node_groups_at_the_top_is_not_taken_for_a_misspelt_one(key: str) -> None:
    error = problem("name: llama", f"name: llama\n{key}")
    assert error.startswith(f"c.yaml:2:1 {key.partition(':')[0]}: unknown key; it belongs below ")
    assert "nodes.NAME" in error.partition("allowed")[0]


def test_rejects_a_key_with_half_a_character() -> None:
    (error,) = problems(bent("name: llama", 'name: llama\nslurm: {"\\ud800": 1}'))
    assert error == "c.yaml:2:1 slurm: holds half a character, such as \\ud800; remove it"


def test_rejects_a_key_that_is_like_no_other_and_the_one_that_is_missing() -> None:
    missing, unknown = problems(bent("count: 64", "banana: 64"))
    assert missing == "c.yaml:6:3 nodes.train.count: is missing; write for example count: 64"
    assert unknown.startswith("c.yaml:6:32 nodes.train.banana: unknown key; allowed are type, count, min, spare, ")


def test_rejects_two_node_groups_of_one_name() -> None:
    assert problem("  train:", "  train: {type: p5.48xlarge, count: 1}\n  train:") == (
        "c.yaml:7:3 nodes.train: the key is here a second time, and first in line 6; rename or remove one"
    )


def test_rejects_a_layout_that_the_type_can_not_have() -> None:
    ultraserver = (
        "{type: p6e-gb200.36xlarge, count: 18, layout: all-efa, capacity: {reservation: %s, kind: ultraserver}}"
    )
    text = bent("{type: p5en.48xlarge, count: 64, capacity: cr-0123456789abcdef0}", ultraserver % RESERVATION)
    (message,) = problems(text)
    assert message.startswith("c.yaml:6:56 nodes.train.layout: p6e-gb200.36xlarge can't have the layout all-efa: ")
    assert message.endswith("; use one-ip or efa-pairs")


@pytest.mark.parametrize("key", ["name", "region", "zone", "orchestrator", "nodes"])
def test_rejects_a_file_without_what_has_no_default(key: str) -> None:
    start = GOOD.index(f"{key}:")
    end = GOOD.index("storage:") if key == "nodes" else GOOD.index("\n", start) + 1
    (message,) = problems(GOOD[:start] + GOOD[end:])
    assert message.startswith(f"c.yaml:1:1 {key}: is missing; write for example {key}: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "nodes:",
            "nodes:\nx: {}\ny:",
            "c.yaml:5:1 nodes: has no value; write for example nodes: {train: {type: p5en.",
        ),
        (
            "{throughput: 40 GB/s}",
            "",
            "c.yaml:7:11 storage.lustre: has no value; write for example lustre: {throughput: 40 GB/s}, or remove",
        ),
        ("slurm\n", "\n", "c.yaml:4:1 orchestrator: has no value; write for example orchestrator: slurm"),
        ("count: 64", "count: ", "c.yaml:6:32 nodes.train.count: has no value; write for example count: 64"),
        ("count: 64", "count: 64, image: null", "c.yaml:6:43 nodes.train.image: has no value; write one, or remove"),
    ],
)
def test_rejects_a_key_without_a_value(old: str, new: str, message: str) -> None:
    assert any(error.startswith(message) for error in problems(bent(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "{throughput: 40 GB/s}",
            "40 GB/s",
            "must be a mapping, got '40 GB/s'; its keys are throughput, checkpoint, capacity",
        ),
        (
            "{lustre: {throughput: 40 GB/s}}",
            "[]",
            "must be a mapping, got a list; its keys are lustre, data-bucket, home, scratch",
        ),
        (
            "{type: p5en.48xlarge, count: 64, capacity: cr-0123456789abcdef0}",
            "64",
            "must be a mapping, got 64; its keys are type, count",
        ),
        (
            "\n  train: {type: p5en.48xlarge, count: 64, capacity: cr-0123456789abcdef0}",
            " [p5]",
            "must be a mapping, got a list; write for example nodes: {train:",
        ),
    ],
)
def test_rejects_what_is_no_mapping_with_the_keys_it_should_have(old: str, new: str, message: str) -> None:
    assert message in problem(old, new)


def test_rejects_a_file_without_any_node_group() -> None:
    text = GOOD.replace("  train: {type: p5en.48xlarge, count: 64, capacity: cr-0123456789abcdef0}", "  {}")
    assert problems(text)[0].startswith("c.yaml:5:1 nodes: needs at least one node group; write for example nodes:")


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("us-east-2a", "got the name 'us-east-2a', which means another zone in every account; find it with: aws ec2"),
        ("us-east-1-dfw-2a", "got the name 'us-east-1-dfw-2a', which means another zone in every account"),
        ("az1", "must be the id of a zone, such as use2-az1, got 'az1'; find it with: aws ec2"),
        ("us-east-2", "must be the id of a zone, such as use2-az1, got 'us-east-2'"),
        ("1", "must be the id of a zone, such as use2-az1, got 1; put it in quotes"),
        ("[use2-az1]", "must be the id of a zone, such as use2-az1, got a list"),
    ],
)
def test_rejects_a_zone_that_is_no_id_with_the_command_that_prints_ids(new: str, message: str) -> None:
    error = problem("zone: use2-az1", f"zone: {new}")
    assert message in error
    assert ("--region us-east-2 " in error) == (new == "us-east-2a")


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("us-east-2a", "must be a Region, got the name of a zone, 'us-east-2a'; write region: us-east-2"),
        ("use2-az1", "got the id of a zone, 'use2-az1'; write region: us-east-2 and zone: use2-az1"),
        ("us-east2", "must be a Region, such as us-east-2, got 'us-east2'; did you mean us-east-2?"),
        ("Ohio", "must be a Region, such as us-east-2, got 'Ohio'"),
        (
            "us-esat-2",
            "us-esat-2 is not a known Region, and the zone use2-az1 is in us-east-2; did you mean us-east-2?",
        ),
    ],
)
def test_rejects_an_invalid_region(new: str, message: str) -> None:
    error = problem("region: us-east-2", f"region: {new}")
    assert error.startswith("c.yaml:2:9 region: ")
    assert message in error


@pytest.mark.parametrize("word", ["slrum", "1", "true", "[slurm]", "PBS"])
def test_rejects_other_orchestrators(word: str) -> None:
    assert problem("slurm", word).startswith("c.yaml:4:15 orchestrator: the orchestrator is one of slurm, kubernetes, ")


@pytest.mark.parametrize("name", ["x", "xy", "1x", "llama_2", "''", "a b", "x" * 41, "-x", "pcs_x", "l\u00e4ma", "x.y"])
def test_rejects_names_that_pcs_refuses(name: str) -> None:
    assert "has 3 to 40 letters, digits and hyphens and begins with a letter" in problem("name: llama", f"name: {name}")


@pytest.mark.parametrize("name", ["Train", "t", "tr", "x" * 26, "1", "tr_ain", "'tr ain'", "''", "-ab", "a.b"])
def test_rejects_names_of_node_groups_that_pcs_or_slurm_refuse(name: str) -> None:
    message = problem("  train:", f"  {name}:")
    assert message.startswith("c.yaml:6:3 nodes.")
    assert "has 3 to 25 lower-case letters, digits and hyphens and begins with a letter" in message


def test_rejects_a_node_group_with_the_name_of_the_login_nodes() -> None:
    assert "'login' is a group that the library creates" in problem("  train:", "  login:")


@pytest.mark.parametrize(
    ("account", "message"),
    [
        ("012345678901", 'YAML drops the leading zero of 012345678901; write account: "012345678901"'),
        ("12345678901", 'got 12345678901; one that begins with a zero is written in quotes: account: "012345678901"'),
        ("'12345'", "must be an account of 12 digits in quotes, such as \"123456789012\", got '12345'"),
        ("1234567890123", "must be an account of 12 digits, got 1234567890123"),
        ("0x10", "must be an account of 12 digits, got 16"),
        ("-123456789012", "must be an account of 12 digits, got -123456789012"),
        ("true", "got true"),
        ("1.5", "got 1.5"),
        ("me", "got 'me'"),
        (
            "'\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661'",
            "must be an account of 12 digits",
        ),
    ],
)
def test_rejects_accounts_that_yaml_may_have_bent(account: str, message: str) -> None:
    assert message in problem("name: llama", f"name: llama\naccount: {account}")


@pytest.mark.parametrize("count", ["0", "-3", "64.0", "64.5", "'64'", "true", "sixty", "[64]", "{}"])
def test_rejects_counts_that_are_none(count: str) -> None:
    assert problem("count: 64", f"count: {count}").startswith(("c.yaml:6:39", "c.yaml:6:32"))


@pytest.mark.parametrize("word", ["yes", "on", "True1", "1", "'true'", "no"])
def test_rejects_what_is_neither_true_nor_false(word: str) -> None:
    message = problem("name: llama", f"name: llama\nslurm: {{accounting: {word}}}")
    assert "c.yaml:2:21 slurm.accounting: must be true or false, got " in message
    hints = {"yes": "write true", "on": "write true", "no": "write false", "'true'": "write true"}
    assert hints.get(word, word.strip("'")) in message


@pytest.mark.parametrize(
    ("capacity", "message"),
    [
        ("odcr", "got 'odcr'; a reservation is written as {reservation: cr-..., kind: odcr}"),
        ("capacity-block", "a reservation is written as {reservation: cr-..., kind: capacity-block}"),
        ("on demand", "got 'on demand'; did you mean on-demand?"),
        ("cr-123", "a reservation's id is cr- and 17 hexadecimal digits, as in cr-0123456789abcdef0, got 'cr-123'"),
        ("7", "must be one of on-demand, spot, cr-..., {reservation: cr-...,"),
        ("[spot]", "got a list"),
        ("{}", "needs one of reservation, reservations, group, training-plan, got none of them"),
        (
            f"{{reservation: {RESERVATION}, group: arn:aws:resource-groups:us-east-2:123456789012:group/pool}}",
            "got reservation and group",
        ),
        ("{reservation: 17}", "capacity.reservation: must be the id of a reservation, cr-..., got 17"),
        (
            f"{{reservation: {RESERVATION}, kind: ocdr}}",
            "is one of odcr, capacity-block, ultraserver, interruptible, got 'ocdr'; did you",
        ),
        (
            f"{{reservation: {RESERVATION}, size: 9}}",
            "capacity.size: unknown key; allowed are reservation, reservations, group, training-plan, k",
        ),
        (f"{{reservation: {RESERVATION}, kind: capacity-block, instances: 65}}", "a Capacity Block holds 1 to 64"),
        (f"{{reservation: {RESERVATION}, instances: 0}}", "capacity.instances: must be at least 1, got 0"),
        (
            f"{{reservation: {RESERVATION}, kind: capacity-block, active: true}}",
            "capacity.active: is for nodes of Kubernetes, and orchestrator is slurm: no equivalent, nodes start",
        ),
        (
            f"{{reservation: {RESERVATION}, kind: capacity-block, active: since monday}}",
            "capacity.active: must be true or false, got 'since monday'",
        ),
        (
            f"{{reservation: {RESERVATION}, active: true}}",
            "capacity.active: belongs to a Capacity Block: write kind: capacity-block or ultraserver, or remove it",
        ),
        (
            f"{{reservation: {RESERVATION}, kind: odcr, active: true}}",
            "capacity.active: belongs to a reservation that starts later: write starts, or remove it",
        ),
        (
            f"{{reservation: {RESERVATION}, kind: interruptible, ends: 2026-12-04}}",
            "capacity.ends: belongs to a Capacity Block: a reservation of the kind interruptible neither begins nor",
        ),
        (
            f"{{reservation: {RESERVATION}, kind: interruptible, starts: 2026-12-04}}",
            "capacity.starts: belongs to a Capacity Block: a reservation of the kind interruptible neither begins nor",
        ),
        ("arn:aws:resource-groups:us-east-2:123456789012:group/x", "an ARN is written as {group: ARN}"),
        ("arn:aws:sagemaker:us-east-2:123456789012:training-plan/x", "an ARN is written as {training-plan: ARN}"),
        (
            "{group: pool}",
            "a group of reservations is a resource group: arn:aws:resource-groups:REGION:ACCOUNT:group/NAME",
        ),
        (
            "{group: 'arn:aws:resource-groups:us-east-2:123456789012:group/x', kind: odcr}",
            "capacity.kind: belongs to a reservation that is named, not to a group; remove it",
        ),
        ("{training-plan: x}", "a training plan is arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME, got 'x'"),
        (
            "{training-plan: 'arn:aws:sagemaker:us-east-2:123456789012:training-plan/x'}",
            "a training plan is for HyperPod instances, and AWS PCS launches EC2 ones; for those purchase a "
            "Capacity Block",
        ),
        (
            "{group: 'arn:aws:resource-groups:us-west-2:123456789012:group/x'}",
            "capacity.group: is in us-west-2, and must be in the cluster's Region, us-east-2",
        ),
    ],
)
def test_rejects_capacity_that_ec2_does_not_sell(capacity: str, message: str) -> None:
    error = problem(f"capacity: {RESERVATION}", f"capacity: {capacity}")
    assert error.startswith("c.yaml:6:")
    assert message in error


def test_reports_each_error_of_a_capacity_at_its_place() -> None:
    text = bent(f"capacity: {RESERVATION}", "capacity: {reservation: cr-1, kind: ocdr, instances: x, foo: 1}")
    assert [line.split()[0:2] for line in problems(text)] == [
        ["c.yaml:6:67", "nodes.train.capacity.reservation:"],
        ["c.yaml:6:79", "nodes.train.capacity.kind:"],
        ["c.yaml:6:96", "nodes.train.capacity.instances:"],
        ["c.yaml:6:99", "nodes.train.capacity.foo:"],
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("network: {cidr: 10.0.0.1/16}", "'10.0.0.1/16', where no range begins; did you mean 10.0.0.0/16?"),
        ("network: {cidr: 10.0.0.0}", "got '10.0.0.0', which has no prefix length"),
        ("network: {cidr: 10.0.0.0/33}", "must be a range of IPv4 addresses, such as 10.0.0.0/16, got '10.0.0.0/33'"),
        ("network: {cidr: 'fd00::/16'}", "must be a range of IPv4 addresses"),
        ("network: {cidr: 10.0}", "got 10.0; put it in quotes"),
        ("network: {cidr: 10.0.0.0/8}", "network.cidr: a VPC for a cluster has a range of /16 to /26, got 10.0.0.0/8"),
        (
            "network: {training-subnet: 10.1.0.0/18}",
            "network.training-subnet: the training subnet 10.1.0.0/18 is not inside",
        ),
        (
            "encryption-key: alias/mine",
            "must be the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/ID, got 'alias/mine'",
        ),
        (
            "tags: {cost: 42}",
            "c.yaml:2:14 tags.cost: must be a text of 0 to 256 letters, digits, spaces and _.:/=+-@, got 42; put it in",
        ),
        ("tags: {'aws:x': y}", "names that begin with aws: are AWS's own"),
        ("tags: {a: '{b}'}", "must be a text of 0 to 256 letters, digits, spaces"),
        ("tags: [a]", "must be a mapping, got a list; write for example tags: {team: research}"),
        ("slurm: {version: 25.1}", f"is one of {VERSIONS}, got '25.1'; did you mean 25.11?"),
        ("slurm: {version: 23.02}", f"is one of {VERSIONS}, got '23.02'"),
        (
            "slurm: {scale-down-idle-time: 10}",
            "a duration needs a unit, got the bare number 10; units are s, min, h, d",
        ),
        ("slurm: {login: {type: c7i.2xl}}", "unknown instance type 'c7i.2xl'; did you mean c7i."),
    ],
)
def test_rejects_details_that_are_wrong(more: str, message: str) -> None:
    assert message in problem("name: llama", f"name: llama\n{more}")


@pytest.mark.parametrize("image", ["ami-123", "ami-0123456789ABCDEF0", "latest", "vpc-0123456789abcdef0", "7"])
def test_rejects_what_is_no_image(image: str) -> None:
    error = problem("count: 64", f"count: 64, image: {image}")
    assert re.search(
        r"nodes.train.image: must be (the id of an image|build, aws, ami-\.\.\., /name/of/a/parameter)", error
    )


@pytest.mark.parametrize("path", ["fsx", "/", "/fsx/", "//fsx", "/a b", "/../etc", "/.", "/fsx;rm", "/f\u00e9", "''"])
def test_rejects_mounts_that_are_no_plain_directory(path: str) -> None:
    assert "storage.lustre.mount: must be a directory, such as /fsx" in problem("40 GB/s", f"40 GB/s, mount: {path}")


@pytest.mark.parametrize(
    "path",
    [
        *("/etc", "/usr", "/var", "/home", "/opt", "/opt/aws", "/tmp"),
        *("/opt/amazon", "/opt/pytorch", "/snap", "/lib32", "/home/ubuntu", "/home/ec2-user"),
    ],
)
def test_rejects_mounts_that_hide_the_system(path: str) -> None:
    assert "is a directory of the system, which a mount would hide" in problem("40 GB/s", f"40 GB/s, mount: {path}")


@pytest.mark.parametrize(
    ("path", "of"),
    [
        *(("/usr/local", "/usr"), ("/var/lib/slurm", "/var"), ("/opt/aws/pcs", "/opt/aws")),
        *(("/opt/pytorch/data", "/opt/pytorch"), ("/home/ubuntu/data", "/home/ubuntu"), ("/tmp/x", "/tmp")),
    ],
)
def test_rejects_mounts_within_directories_of_the_system(path: str, of: str) -> None:
    error = problem("40 GB/s", f"40 GB/s, mount: {path}")
    assert f"'{path}' is in {of}, whose directories belong to the image of a node and to its programs" in error
    assert "hide" not in error


@pytest.mark.parametrize("path", ["/fsx", "/shared", "/opt/data", "/opt/slurmdata", "/home/shared", "/mnt/lustre-1"])
def test_other_directories_may_be_mounts(path: str) -> None:
    lustre = loads(bent("40 GB/s", f"40 GB/s, mount: {path}"), "c.yaml").storage.lustre
    assert lustre is not None
    assert lustre.mount == path


def test_reports_all_errors_at_once_in_the_order_of_the_file() -> None:
    text = """\
name: x
region: us-east-2
zone: use1-az4
orchestrator: mesos
nodes:
  train: {type: p5en.48xlrage, count: 0}
  tune: {type: p5.4xlarge, count: 2, layout: max-ip, root-volume: 100 GiB}
  Big: {type: p6e-gb200.36xlarge, count: 4}
storage: {lustre: {throughput: 40, mount: /etc}}
colour: blue
"""
    assert [line.split(": ")[0].split(" ", 1) for line in problems(text)] == [
        ["c.yaml:1:7", "name"],
        ["c.yaml:3:7", "zone"],
        ["c.yaml:4:15", "orchestrator"],
        ["c.yaml:6:17", "nodes.train.type"],
        ["c.yaml:6:39", "nodes.train.count"],
        ["c.yaml:7:46", "nodes.tune.layout"],
        ["c.yaml:7:67", "nodes.tune.root-volume"],
        ["c.yaml:8:3", "nodes.Big"],
        ["c.yaml:8:3", "nodes.Big.capacity"],
        ["c.yaml:9:32", "storage.lustre.throughput"],
        ["c.yaml:9:43", "storage.lustre.mount"],
        ["c.yaml:10:1", "colour"],
    ]


@pytest.mark.parametrize("blank", [0, 1, 7])
def test_lines_are_counted_as_editors_count_them(blank: int) -> None:
    text = "# a comment\n" * blank + bent("count: 64", "count: x")
    assert problems(text)[0].startswith(f"c.yaml:{6 + blank}:39 ")
    assert problems(text.replace("\n", "\r\n"))[0].startswith(f"c.yaml:{6 + blank}:39 ")


def test_an_error_is_a_value_error_with_its_parts() -> None:
    with pytest.raises(ValueError, match=r"^c\.yaml:1:7 name: ") as caught:
        loads(bent("llama", "x"), "c.yaml")
    assert isinstance(caught.value, ClusterFileError)
    (error,) = caught.value.problems
    assert (caught.value.name, error.line, error.column, error.field) == ("c.yaml", 1, 7, "name")
    assert caught.value.__cause__ is None


def test_long_values_and_keys_are_cut_and_odd_ones_quoted() -> None:
    long = problem("name: llama", f"name: {'x' * 4_000}")
    assert len(long) < 250
    odd = problem("name: llama", 'name: llama\n"a\\nb\\e[31m": 1')
    assert "'a\\nb\\x1b[31m': unknown key" in odd
    assert len(problem("name: llama", f"name: llama\n{'k' * 900}: 1")) < 400


def sections(path: Path = ()) -> Iterator[tuple[Path, type[Section]]]:
    section = _translate._section_at(path)
    if section is not None:
        yield path, section
        for name, field in section.model_fields.items():
            for below in ((), ("x",), (0,)):
                yield from sections((*path, field.alias or name, *below))


def test_every_required_key_has_an_example() -> None:
    seen = []
    for path, section in sections():
        for name, field in section.model_fields.items():
            key = field.alias or name
            if field.is_required():
                seen.append(key)
                assert _translate._example((*path, key)).startswith(f"{key}: "), f"{section.__name__}.{name}"
    assert {"name", "uid", "kinds", "sha256", "metadata"} <= set(seen)
