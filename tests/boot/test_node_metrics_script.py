"""The script that writes EFA's counters and the rest runs here in bash, on a /sys that is made of files."""

import os
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.nccl_output import ras_document
from support.node_boot import SLURM, Node
from support.ports import free_ports, listens_at
from support.waiting import wait_until
from ultracluster.boot import scripts
from ultracluster.catalogue.monitoring import nvlink5_words
from ultracluster.monitoring.collectors._node import node_exporter_flags
from ultracluster.monitoring.names import EFA_COUNTERS, Profile

OUT = "/var/lib/node_exporter/textfile_collector"
JOBS = "/var/lib/ultracluster/job-metrics"
# As in NVIDIA's Fabric Manager User Guide (read 2026-11-22).
SWITCHES = """\
nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Non-fatal, Link 46 MC TS crumbstore MCTO (First)
nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 28006, Severity 0 Engine instance 46 Sub-engine instance 00
nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up
nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 08 egress non-posted PRIV error
"""
NVLINK5 = dict(zip(("--nvlink-xids", "--nvlink-harmless"), nvlink5_words(), strict=True))
# Debian's name, and upstream's.
NODE_EXPORTER = shutil.which("prometheus-node-exporter") or "node_exporter"
Written = Callable[..., list[str]]
ARGUMENTS = ("--gpus", "8", "--efa", "4", "--counters", " ".join(EFA_COUNTERS), "--name", "train-1")


@pytest.fixture
def node(tmp_path: Path) -> Node:
    created = Node(tmp_path, efa=4)
    for device in range(4):
        for number, counter in enumerate(EFA_COUNTERS):
            path = f"/sys/class/infiniband/rdmap{device:02}s0/ports/1/hw_counters/{counter}"
            created.file(path, f"{1000 * device + number}\n")
    created.file("/proc/stat", "cpu  1234567 0 4567 99999999 12 0 34 0 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n")
    return created


@contextmanager
def node_exporter(*flags: str) -> Iterator[Callable[[], str]]:
    """A node_exporter that runs: a function that reads its page."""
    (port,) = free_ports(1)
    process = subprocess.Popen(
        [NODE_EXPORTER, *flags, f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL
    )

    def page() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=180) as answer:
            return str(answer.read().decode())

    def listens() -> bool:
        assert process.poll() is None
        return listens_at(port)

    try:
        wait_until("node_exporter listens", listens, every=0.05)
        yield page
    finally:
        process.terminate()
        process.wait(timeout=180)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """A function that returns the page of a node_exporter with a text in its directory."""
    file = tmp_path_factory.mktemp("exported") / "node.prom"
    flags = ("--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={file.parent}")
    with node_exporter(*flags) as page:

        def read(text: str) -> str:
            file.write_text(text)
            return page()

        yield read


def samples(node: Node, *arguments: str) -> dict[str, float]:
    done = node.run("node-metrics", *(arguments or ARGUMENTS))
    assert (done.returncode, done.stderr) == (0, "")
    lines = node.read(f"{OUT}/ultracluster_node.prom").splitlines()
    result = {}
    for line in lines:
        if not line.startswith("#"):
            match = re.fullmatch(r'([a-z_]+(?:\{[a-z0-9_]+="[^"\\]*"(?:,[a-z0-9_]+="[^"\\]*")*\})?) ([0-9.]+)', line)
            assert match, line
            assert match[1] not in result
            result[match[1]] = float(match[2])
    return result


def test_prometheus_reads_what_it_writes_without_a_complaint_but_for_aws_names(node: Node) -> None:
    samples(node)
    text = node.read(f"{OUT}/ultracluster_node.prom")
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    complaints = [line for line in (done.stdout + done.stderr).splitlines() if "node_amazonefa_" not in line]
    assert complaints == []


def test_each_counter_of_each_efa_device_has_awss_name(node: Node) -> None:
    result = samples(node)
    assert result['node_amazonefa_tx_bytes{device="rdmap03s0",port="1"}'] == 3000
    assert sum(name.startswith("node_amazonefa_info") for name in result) == 4
    assert sum(name.startswith("node_amazonefa_") for name in result) == 4 * (1 + len(EFA_COUNTERS))


def test_a_device_of_another_driver_is_none_of_efas(node: Node) -> None:
    link = node.root / "sys/class/infiniband/rdmap00s0/device/driver"
    other = node.root / "sys/bus/pci/drivers/mlx5_core"
    other.mkdir(parents=True)
    link.unlink()
    link.symlink_to(other)
    assert not [name for name in samples(node) if "rdmap00s0" in name]


def test_a_counter_that_the_driver_lacks_gives_no_sample(node: Node) -> None:
    (node.root / "sys/class/infiniband/rdmap01s0/ports/1/hw_counters/retrans_pkts").unlink()
    result = samples(node)
    assert 'node_amazonefa_retrans_pkts{device="rdmap01s0",port="1"}' not in result
    assert 'node_amazonefa_retrans_pkts{device="rdmap02s0",port="1"}' in result


def test_a_node_without_efa_reports_the_expected_number(tmp_path: Path) -> None:
    bare = Node(tmp_path, efa=0)
    bare.file("/proc/stat", "cpu  1 0 0 1 0 0 0 0\n")
    result = samples(bare)
    assert result["ultracluster_expected_efa_devices"] == 4
    assert not [name for name in result if name.startswith("node_amazonefa_")]


def test_all_cpus_are_one(node: Node) -> None:
    result = samples(node)
    assert result['ultracluster_cpu_seconds_total{mode="user"}'] == 12345.67
    assert sum(name.startswith("ultracluster_cpu_") for name in result) == 8


def test_health_metrics_come_from_the_boot_checks(node: Node) -> None:
    node.file("/run/ultracluster/health/mounts", 'failed: /fsx runs over TCP: "x"\n')
    node.file("/run/ultracluster/health/lustre-efa", "ok: over TCP: there is no tool\n")
    node.file("/run/ultracluster/software/enroot", "ok: installed\n")
    node.file("/run/ultracluster/software/pyxis", "failed: no headers\n")
    result = samples(node)
    assert result['ultracluster_software_ok{item="enroot"}'] == 1
    assert result['ultracluster_software_ok{item="pyxis"}'] == 0
    assert result['ultracluster_health_ok{check="mounts"}'] == 0
    assert result['ultracluster_health_ok{check="lustre-efa"}'] == 1


def test_the_one_job_that_slurm_runs_here_has_all_gpus(node: Node) -> None:
    (node.root / "sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711").mkdir(parents=True)
    result = samples(node)
    assert {name for name in result if "gpu_job" in name} == {
        f'ultracluster_gpu_job{{gpu="{gpu}",job_id="4711"}}' for gpu in range(8)
    }


def test_of_two_jobs_only_the_prolog_knows_which_has_which(node: Node) -> None:
    for job in ("1", "2"):
        (node.root / f"sys/fs/cgroup/system.slice/slurmstepd.scope/job_{job}").mkdir(parents=True)
    assert not [name for name in samples(node) if "gpu_job" in name]
    node.file("/run/ultracluster/hpc-jobs/0", "1\n")
    node.file("/run/ultracluster/hpc-jobs/1", "2")
    result = {name for name in samples(node) if "gpu_job" in name}
    assert result == {'ultracluster_gpu_job{gpu="0",job_id="1"}', 'ultracluster_gpu_job{gpu="1",job_id="2"}'}


def test_a_label_holds_nothing_that_ends_it(node: Node) -> None:
    node.file("/run/ultracluster/hpc-jobs/0", 'a"} 1\\\n')
    assert 'ultracluster_gpu_job{gpu="0",job_id="a___1_"}' in samples(node)


def lustre(node: Node, mount: str, written: int) -> None:
    stats = f"read_bytes 12 samples [bytes] 1 4096 40960\nwrite_bytes 1 samples [bytes] 5 5 {written}\n"
    node.file(f"/sys/kernel/debug/lustre/llite/abcdbev4-{mount}/stats", f"snapshot_time 1.0\n{stats}")


def test_lustre_traffic_is_counted_by_mount(node: Node) -> None:
    # The CSI driver mounts the file system for each pod.
    for mount, written in {"ffff8881": 5, "ffff9990": 7}.items():
        lustre(node, mount, written)
    result = samples(node)
    assert result['ultracluster_lustre_read_bytes_total{filesystem="abcdbev4",mount="ffff8881"}'] == 40960
    assert result['ultracluster_lustre_write_bytes_total{filesystem="abcdbev4",mount="ffff8881"}'] == 5
    assert result['ultracluster_lustre_write_bytes_total{filesystem="abcdbev4",mount="ffff9990"}'] == 7


def names(node: Node) -> list[str]:
    arguments = ARGUMENTS[:-2]
    return [name for name in samples(node, *arguments) if name.startswith("ultracluster_node_info")]


def test_the_name_of_a_node_is_the_one_in_slurm(node: Node) -> None:
    node.with_slurm("train-1")
    node.file("/usr/local/sbin/ultracluster-drain-on-failure", "")
    node.file("/proc/uptime", "600.25 1000.00\n")
    node.file("/run/ultracluster/health/mounts", "ok\n")
    assert names(node) == []
    assert node.run("drain-on-failure").returncode == 0
    assert names(node) == ['ultracluster_node_info{node="train-1"}']


def test_a_node_without_slurmd_has_its_host_name(node: Node) -> None:
    host = f'ultracluster_node_info{{node="{os.uname().nodename.split(".")[0]}"}}'
    assert names(node) == [host]
    node.file("/usr/local/sbin/ultracluster-drain-on-failure", "")
    node.file("/proc/uptime", "1800.00 9000.00\n")
    assert names(node) == [host]


def of_job(node: Node, job: str, text: str, name: str = "train.prom") -> Path:
    node.file(f"/run/ultracluster/jobs/{job}", "2001\n")
    return node.file(f"{JOBS}/{job}/{name}", text)


@pytest.fixture
def written(node: Node, exported: Callable[[str], str]) -> Written:
    """The samples with a prefix that the script writes, if node_exporter takes the whole file."""

    def run(prefix: str | tuple[str, ...] = "train_") -> list[str]:
        assert node.run("node-metrics", *ARGUMENTS).returncode == 0
        text = node.read(f"{OUT}/ultracluster_node.prom")
        assert "node_textfile_scrape_error 0" in exported(text).splitlines()
        return [line for line in text.splitlines() if line.startswith(prefix)]

    return run


def test_what_a_job_writes_gets_the_id_of_its_directory(node: Node, written: Written) -> None:
    of_job(node, "7", '# TYPE train_step gauge\ntrain_step{job_id="8"} 12\ntrain_loss NaN\n')
    of_job(node, "8", 'train_step 3\ntrain_lost_seconds_total{cause="startup",x="y"} 4.5e+2\n')
    assert written() == [
        'train_step{job_id="7"} 12',
        'train_step{job_id="8"} 3',
        'train_loss{job_id="7"} NaN',
        'train_lost_seconds_total{job_id="8",cause="startup"} 4.5e+2',
    ]


def test_a_line_without_an_end_takes_none_of_the_next_file(node: Node, written: Written) -> None:
    of_job(node, "7", "train_step 1", "a.prom")
    of_job(node, "7", "train_loss 2\n", "b.prom")
    of_job(node, "7", "train_lr 3", "c.prom")
    of_job(node, "8", "train_lr 4", "a.prom")
    assert written() == [
        'train_step{job_id="7"} 1',
        'train_loss{job_id="7"} 2',
        'train_lr{job_id="7"} 3',
        'train_lr{job_id="8"} 4',
    ]


def test_the_metrics_of_a_server_get_the_id_of_its_job(node: Node, written: Written) -> None:
    text = (
        'vllm:num_requests_running{engine="0",model_name="meta-llama/Llama-3.1-8B"} 4.0\n'
        'vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 1.2e+06\n'
        'other:num_requests_running{model_name="m"} 1\n'
    )
    of_job(node, "7", text, "serving.prom")
    assert written("vllm:") == [
        'vllm:num_requests_running{job_id="7",engine="0",model_name="meta-llama/Llama-3.1-8B"} 4.0',
        'vllm:time_to_first_token_seconds_bucket{job_id="7",engine="0",le="+Inf",model_name="m"} 1.2e+06',
    ]
    assert written("other") == []


def test_the_inspectors_files_have_their_real_names(node: Node, written: Written) -> None:
    # https://github.com/NVIDIA/nccl, plugins/profiler/inspector/inspector_prom.cc (read 2026-11-22)
    for gpu in range(2):
        labels = (
            f'version="v5.1",slurm_job_id="7",node="ip-10",gpu="GPU{gpu}",comm_name="dp",n_nodes="2",nranks="16",'
            'collective="AllReduce",message_size="1-2GB",algo_proto="RING_SIMPLE"'
        )
        of_job(node, "7", f"nccl_bus_bandwidth_gbs{{{labels}}} 395.25\n", f"nccl_inspector_metrics_GPU-{gpu}.prom")
    lines = written("nccl_")
    assert [line.count("job_id=") for line in lines] == [1, 1]
    assert all('gpu="GPU' in line and 'version="v5.1"' in line for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        'ultracluster_health_ok{check="devices"} 1',
        "node_load1 1",
        'train_step{job_id="9"} 1 1700000000',
        'train_step{cause="a\\"} 1',
        'train_step{cause="a"b="c"} 1',
        'train_step{cause="a",cause="b"} 1',
        "train_step one",
        "train_step 1; rm -rf /",
        # What expfmt, which node_exporter reads files with, refuses with the whole file.
        "train_step 1.2.3",
        "train_step 1e999",
        f"train_step {'9' * 400}",
        'nccl_x{__name__="y"} 1',
        "train_step{" + ",".join(f'l{number}="1"' for number in range(31)) + "} 1",
    ],
)
def test_a_line_that_is_no_sample_of_the_contract_is_dropped(node: Node, written: Written, line: str) -> None:
    of_job(node, "7", f"{line}\ntrain_mfu_ratio 0.4\n")
    assert written() == ['train_mfu_ratio{job_id="7"} 0.4']


def test_a_job_cannot_write_twice_or_without_end_or_through_a_link(node: Node, written: Written) -> None:
    series = "".join(f'nccl_bus_bandwidth_gbs{{gpu="GPU{number}"}} 1\n' for number in range(2500))
    path = of_job(node, "7", "train_step 1\ntrain_step 2\n" + series)
    secret = node.file("/root/secret", "train_loss 42\n")
    (path.parent / "link.prom").symlink_to(secret)
    os.mkfifo(path.parent / "pipe.prom")
    first, *others = written(("train_", "nccl_"))
    assert first == 'train_step{job_id="7"} 1'
    assert (len(others), {line.partition("_")[0] for line in others}) == (1999, {"nccl"})


def test_no_two_samples_differ_in_the_order_of_labels_or_in_empty_ones(node: Node, written: Written) -> None:
    # Of samples with the same name and labels, node_exporter keeps the first alone.
    lines = ('nccl_x{b="2",a="1"} 1', 'nccl_x{a="1",b="2"} 2', 'nccl_x{a="1",b="2",c=""} 3', "nccl_x{} 4", "nccl_x 5")
    path = of_job(node, "7", "\n".join(lines) + "\n")
    path.write_bytes(path.read_bytes() + b'nccl_x{a="\xff"} 6\n')
    assert written("nccl_") == ['nccl_x{job_id="7",a="1",b="2"} 1', 'nccl_x{job_id="7"} 4']


def test_directories_of_jobs_that_have_ended_are_deleted(node: Node, written: Written) -> None:
    of_job(node, "7", "train_step 1\n")
    node.file(f"{JOBS}/6/train.prom", "train_step 1\n")
    assert written() == ['train_step{job_id="7"} 1']
    assert {path.name for path in (node.root / JOBS.removeprefix("/")).iterdir()} == {"7"}


@pytest.mark.parametrize(
    ("communicators", "missing"),
    [
        ([(16, [], [])], 0),
        # A node of 8 is lost: its ranks are in the communicator of the world and in one of tensor parallelism.
        ([(16, range(8, 16), []), (8, [], []), (8, range(8), [])], 8),
        # A communicator that is being torn down: the others answer, and are no longer in it.
        ([(16, [3], []), (16, [], range(1, 16))], 1),
        ([], 0),
    ],
)
def test_ranks_that_nccl_does_not_reach_are_counted(
    node: Node, communicators: list[tuple[int, list[int], list[int]]], missing: int
) -> None:
    program = node.file("/ncclras", '#!/bin/bash\n[ "$*" = "-f json" ] || exit 1\ncat "$0.json"\n')
    program.chmod(0o755)
    (node.bin / "ncclras").symlink_to(program)
    node.file("/ncclras.json", ras_document(communicators))
    (node.bin / "ncclras.json").symlink_to(node.root / "ncclras.json")
    name = 'ultracluster_nccl_ras_missing_ranks{job_id="4711"}'
    assert name not in samples(node)
    (node.root / "sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711").mkdir(parents=True)
    assert samples(node)[name] == missing


def test_an_older_nccl_without_json_gives_no_sample(node: Node) -> None:
    # Before 2.28.7 the program has no option -f.
    program = node.file("/ncclras", '#!/bin/bash\necho "ncclras: invalid option -- f" >&2\nexit 1\n')
    program.chmod(0o755)
    (node.bin / "ncclras").symlink_to(program)
    (node.root / "sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711").mkdir(parents=True)
    assert not [name for name in samples(node) if "nccl_ras" in name]


QUEUE = (*ARGUMENTS, "--queue", "yes")
JOB_INFO = 'ultracluster_slurm_job_info{job_id="7",user="ada",account="nlp",partition="train",name="a_b_c_d"}'
SQUEUE_STATE = 'ultracluster_software_ok{item="squeue"}'


def squeue(node: Node, folder: str, *lines: str) -> None:
    """Install the program into a folder of the node, which is not on the path of the collectors."""
    answer = lines or ('echo "RUNNING|7|ada|nlp|train|1|None|a b|c\\"d"', "echo broken")
    node.file(f"{folder}/bin/squeue", "\n".join(["#!/bin/bash", *answer, ""])).chmod(0o755)


def blocked(node: Node, idle: str, *pending: str) -> dict[str, float]:
    """Return the metric of pending jobs, PARTITION|NODES|REASON, on a login node."""
    squeue(node, SLURM, *(f"echo 'PENDING|{number}|ada|nlp|{job}|x'" for number, job in enumerate(pending, 8)))
    node.file(f"{SLURM}/bin/sinfo", f"#!/bin/bash\nprintf '{idle}'\n").chmod(0o755)
    node.with_slurm()
    result = samples(node, *QUEUE).items()
    return {name.split('"')[1]: value for name, value in result if name.startswith("ultracluster_blocked_jobs")}


REFUSED = "Job's account not permitted to use this partition (train allows team not nlp)"


def test_jobs_that_slurm_does_not_start_beside_idle_nodes_are_counted_by_reason(node: Node) -> None:
    # %D of 1024 nodes is 1K. Nodes that are off, boot or are planned for a job are not idle.
    sinfo = "train|idle|3\\ntrain|idle~|9\\ntrain|planned|9\\nlarge|idle|1K\\nlarge|idle|1\\nnone|alloc|4\\n"
    pending = (
        *("train|3|DependencyNeverSatisfied", "train|1|DependencyNeverSatisfied", "none|1|BadConstraints"),
        *("train|4|PartitionTimeLimit", "none,train|2|BadConstraints", "large|1K|QOSMaxNodePerJobLimit"),
        *("large|2K|InvalidQOS", "large|1025|JobHoldMaxRequeue", "train|1|launch failed requeued held"),
        # These start by themselves, or a person holds them.
        *("train|1|Resources", "train|1|Priority", "train|1|JobHeldUser", "train|1|JobHeldAdmin", "train|1|BeginTime"),
        *("train|1|Dependency", "train|1|AssocGrpGRES", "train|1|QOSMaxGRESPerUser", "train|1|None"),
        "train|1|ReqNodeNotAvail, UnavailableNodes:train-1",
    )
    assert blocked(node, sinfo, *pending) == {
        "DependencyNeverSatisfied": 2,
        "BadConstraints": 1,
        "QOSMaxNodePerJobLimit": 1,
        "JobHoldMaxRequeue": 1,
        "LaunchFailedRequeuedHeld": 1,
    }


@pytest.mark.parametrize(("idle", "counted"), [("train|idle|1\\n", {"AccountNotAllowed": 1}), ("", {})])
def test_a_sentence_of_slurm_is_no_label(node: Node, idle: str, counted: dict[str, float]) -> None:
    reason = REFUSED.replace("'", "'\\''")
    assert blocked(node, idle, f"train|1|{reason}") == counted


def runs(node: Node, daemon: str) -> None:
    """Start a daemon of Slurm whose unit is not slurmd.service."""
    node.says("slurmd", "99")
    node.file("/proc/99/cmdline", "")
    (node.root / "proc/99/exe").symlink_to(daemon)


@pytest.mark.parametrize("daemon", ["slurmd.service", "sackd"])
def test_login_nodes_of_pcs_report_whose_the_running_jobs_are(node: Node, daemon: str) -> None:
    """AWS PCS has no program of Slurm on the path, and those of other releases beside the one that runs."""
    squeue(node, SLURM)
    squeue(node, "/opt/aws/pcs/scheduler/slurm-24.11", "exit 1")
    node.with_slurm() if daemon == "slurmd.service" else runs(node, f"{SLURM}/sbin/{daemon}")
    assert not [name for name in samples(node) if "slurm_job_info" in name]
    assert [name for name in samples(node, *QUEUE) if "slurm_job_info" in name] == [JOB_INFO]
    assert samples(node, *QUEUE)[SQUEUE_STATE] == 1


def test_login_nodes_of_hyperpod_and_images_with_slurm_on_the_path_do_too(node: Node) -> None:
    squeue(node, "/opt/slurm")
    assert JOB_INFO in samples(node, *QUEUE)
    squeue(node, "/opt/slurm", "exit 1")
    squeue(node, "/usr")
    (node.bin / "squeue").symlink_to(node.root / "usr/bin/squeue")
    assert JOB_INFO in samples(node, *QUEUE)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ((), "failed: there is no squeue"),
        (
            ('echo "slurm_load_jobs error: Unable to contact slurm controller" >&2', "exit 1"),
            "failed: squeue does not answer: slurm_load_jobs error: Unable to contact slurm controller",
        ),
    ],
    ids=["missing", "no controller"],
)
def test_a_login_node_whose_jobs_cannot_be_read_reports_that(node: Node, lines: tuple[str, ...], reason: str) -> None:
    """Without the jobs, JobLost cannot fire: that is an alert of its own, SoftwareMissing."""
    if lines:
        squeue(node, "/opt/slurm", *lines)
    for _ in range(2):
        result = samples(node, *QUEUE)
    assert not [name for name in result if "slurm_job_info" in name]
    assert (result[SQUEUE_STATE], node.read("/run/ultracluster/software/squeue")) == (0, f"{reason}\n")
    squeue(node, "/opt/slurm")
    for _ in range(2):
        result = samples(node, *QUEUE)
    assert result[SQUEUE_STATE] == 1
    assert JOB_INFO in result


def test_a_node_reports_its_place_in_the_network(node: Node) -> None:
    node.says("metadata/instance-id", "i-1")
    node.says("metadata/region", "us-east-2")
    (node.bin / "aws").unlink()
    # --output text of the AWS CLI: tabs, and None for null.
    calls = node.root / "calls"
    answer = f'echo "$*" >>{calls}; printf "nn-a1\\tnn-b2\\tnn-c3\\tNone\\n"'
    (node.bin / "aws").write_text(f"#!/bin/bash\n{answer}\n")
    (node.bin / "aws").chmod(0o755)
    assert not [name for name in samples(node, "--gpus", "0", "--efa", "0", "--counters", "") if "topology" in name]
    for _ in range(2):
        assert [name for name in samples(node) if "topology" in name] == [
            'ultracluster_topology_info{network_node_1="nn-a1",network_node_2="nn-b2",network_node_3="nn-c3",'
            'ultraserver=""}'
        ]
    (call,) = calls.read_text().splitlines()
    assert "--region us-east-2 --instance-ids i-1" in call


def kernel_log(node: Node, text: str, *, in_container: bool = False) -> None:
    """Make journalctl print a kernel log: the node's own, or by chroot from a container that has none."""
    (node.root / "kernel.log").write_text(text)
    for name in ("journalctl", "chroot"):
        (node.bin / name).unlink(missing_ok=True)
    program = node.bin / ("chroot" if in_container else "journalctl")
    first = f'[ "$1" = {node.root} ] && [ "$2" = journalctl ] || exit 9; ' if in_container else ""
    program.write_text(f'#!/bin/bash\n{first}[[ "$*" == *--dmesg* ]] || exit 9; cat {node.root}/kernel.log\n')
    program.chmod(0o755)


@pytest.mark.parametrize("in_container", [False, True], ids=["node", "container"])
def test_the_switches_between_the_gpus_are_watched(node: Node, in_container: bool) -> None:
    kernel_log(node, SWITCHES, in_container=in_container)
    switched = (*ARGUMENTS, "--nvswitch", "yes")
    # Neither a node without NVSwitches nor one without a fabric manager can lack it.
    node.file("/usr/lib/systemd/system/nvidia-fabricmanager.service", "")
    assert not [name for name in samples(node) if "fabric" in name or "nvswitch" in name]
    result = samples(node, *switched)
    assert result["ultracluster_fabric_manager_up"] == 0
    assert result['ultracluster_nvswitch_errors{kind="fatal"}'] == 1
    assert result['ultracluster_nvswitch_errors{kind="other"}'] == 2
    node.file("/sys/fs/cgroup/system.slice/nvidia-fabricmanager.service/cgroup.events", "populated 1\nfrozen 0\n")
    assert samples(node, *switched)["ultracluster_fabric_manager_up"] == 1
    (node.root / "usr/lib/systemd/system/nvidia-fabricmanager.service").unlink()
    assert not [name for name in samples(node, *switched) if "fabric" in name or "nvswitch" in name]


# Lustre's lines, up to 2.15 with a number.
EVICTED = """\
Lustre: fs1-OST0002-osc-ffff8881: Connection to fs1-OST0002 (at 10.0.1.2@tcp) was lost; in progress operations {wait}
LustreError: 167-0: fs1-OST0002-osc-ffff8881: This client was evicted by fs1-OST0002; in progress operations {fail}
LustreError: fs1-MDT0000-mdc-ffff8881: This client was evicted by fs1-MDT0000; in progress operations {fail}
Lustre: Evicted from MGS (at 10.0.1.1@tcp) after server handle changed from 0x1 to 0x2
Lustre: fs2-OST0002-osc-ffff9990: Connection restored to 10.0.1.2@tcp (at 10.0.1.2@tcp)
""".format(wait="using this service will wait for recovery to complete", fail="using this service will fail.")


@pytest.mark.parametrize("in_container", [False, True], ids=["node", "container"])
@pytest.mark.parametrize("gpus", ["8", "0"])
def test_evictions_by_targets_of_each_mounted_lustre_are_counted(node: Node, gpus: str, in_container: bool) -> None:
    kernel_log(node, EVICTED, in_container=in_container)
    arguments = ("--gpus", gpus, *ARGUMENTS[2:])
    assert not [name for name in samples(node, *arguments) if "evictions" in name]
    # Lustre has the directories of a mount in both places.
    for directory in ("/sys/kernel/debug/lustre/llite", "/proc/fs/lustre/llite"):
        for mount in ("fs1-ffff8881", "fs1-ffff9999", "fs2-ffff9990"):
            node.file(f"{directory}/{mount}/uuid", "x\n")
    result = samples(node, *arguments)
    assert {name: value for name, value in result.items() if "evictions" in name} == {
        'ultracluster_lustre_evictions{filesystem="fs1"}': 2,
        'ultracluster_lustre_evictions{filesystem="fs2"}': 0,
    }


def test_a_log_that_cannot_be_read_has_no_count_of_evictions(node: Node) -> None:
    kernel_log(node, EVICTED)
    (node.bin / "journalctl").write_text("#!/bin/bash\nexit 1\n")
    lustre(node, "ffff8881", 5)
    assert not [name for name in samples(node) if "evictions" in name]


XID = "[12.3] NVRM: Xid (PCI:0009:0{gpu}:00): {rest}\n"
# Lines of drivers 570 to 595 from public reports, as in test_health_scripts.py.
LINK = "149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 ({word} 0x00000000 0x00000000)"
ACTION = "154, GPU recovery action changed from 0x0 (None) to {}"
RECOVERY = {
    "a fatal sub-code": (LINK.format(word="0x021425c6"), {"149/NETIR_LINK_EVT": 1}),
    "a link that the peer took down": (LINK.format(word="0x026425c6"), {}),
    "a link that the host took down": (LINK.format(word="0x028425c6"), {}),
    "a sub-code that is not fatal": (LINK.format(word="0x021425c6").replace("Fatal  ", "Nonfatal"), {}),
    "a fatal sub-code of another XID": (
        "150, MSE_WATCHDOG Fatal XC0 i0 Link -1 (0x00000000 0x0)", {"150/MSE_WATCHDOG": 1}
    ),
    "a process beside it": (
        LINK.format(word="0x021425c6").replace("149,", "149, pid=12, name=python,"), {"149/NETIR_LINK_EVT": 1}
    ),
    "the action of the driver": (ACTION.format("0x1 (GPU Reset Required)"), {"154/GPU Reset Required": 1}),
    "an action that is none": (ACTION.format("0x0 (None)"), {}),
    "another XID": ("31, pid=1, name=python, Ch 00000008 Fatal", {}),
}  # fmt: skip


def recovery(node: Node, *lines: str, **options: str) -> dict[str, float]:
    kernel_log(node, "".join(XID.format(gpu=gpu, rest=rest) for gpu, rest in enumerate(lines, 1)))
    arguments = [word for pair in (NVLINK5 | options).items() for word in pair]
    result = samples(node, *ARGUMENTS, *arguments).items()
    pattern = re.compile(r'ultracluster_gpu_recovery_required{xid="(\d+)",reason="(.*)"}')
    return {"/".join(match.groups()): value for name, value in result if (match := pattern.match(name))}


@pytest.mark.parametrize(("line", "required"), RECOVERY.values(), ids=RECOVERY)
def test_the_driver_requires_recovery(node: Node, line: str, required: dict[str, float]) -> None:
    assert recovery(node, line) == required


def test_recovery_counts_gpus_by_their_last_word(node: Node) -> None:
    assert recovery(node, *[LINK.format(word="0x021425c6")] * 3) == {"149/NETIR_LINK_EVT": 3}
    over = "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"
    text = XID.format(gpu=1, rest=LINK.format(word="0x021425c6")) + XID.format(gpu=1, rest=over)
    kernel_log(node, text)
    arguments = [word for pair in NVLINK5.items() for word in pair]
    assert not [name for name in samples(node, *ARGUMENTS, *arguments) if "recovery" in name]
    # Of generations before Blackwell the action counts alone.
    kernel_log(node, text.partition("\n")[0] + "\n")
    assert not [name for name in samples(node) if "recovery" in name]


def test_a_node_reports_when_an_administrator_dealt_with_its_xids(node: Node) -> None:
    name = "ultracluster_xids_forgotten_timestamp_seconds"
    kernel_log(node, "")
    assert name not in samples(node)
    node.file("/run/ultracluster/devices/xids-since", "1790000000\n")
    assert samples(node)[name] == 1790000000


def test_metrics_from_before_the_boot_are_deleted(node: Node) -> None:
    booted = int(time.time()) - 3600
    node.file("/proc/stat", f"cpu  1234567 0 4567 99999999 12 0 34 0 0 0\nbtime {booted}\n")
    for name, age in {"ultracluster_drain": -60, "ultracluster_mounts": 60, "other": -60}.items():
        os.utime(node.file(f"{OUT}/{name}.prom", "x 1\n"), (booted + age,) * 2)
    samples(node)
    left = {path.name for path in (node.root / OUT[1:]).glob("[!.]*")}
    assert left == {"ultracluster_mounts.prom", "other.prom", "ultracluster_node.prom"}


def test_both_scripts_include_the_reading_of_recovery() -> None:
    for name in ("node-metrics", "health-check"):
        text = scripts.text(f"{name}.sh")
        assert text.count("\nrecovery_actions() {\n") == 1
        assert "INCLUDE" not in text


def test_a_real_node_exporter_serves_what_the_job_and_the_mounts_wrote(node: Node, tmp_path: Path) -> None:
    of_job(node, "7", 'train_step 1\ntrain_lost_seconds_total{cause="startup"} 2\nnode_load1{} 7\n')
    for mount, written in {"ffff8881": 5, "ffff9990": 7}.items():
        lustre(node, mount, written)
    assert node.run("node-metrics", *ARGUMENTS).returncode == 0
    flags = node_exporter_flags(Profile.STANDARD, textfiles=str(node.root / OUT.removeprefix("/")))
    with node_exporter(*(flag for flag in flags if "listen" not in flag)) as page:
        lines = page().splitlines()
    assert 'train_step{job_id="7"} 1' in lines
    assert "# TYPE train_lost_seconds_total counter" in lines
    assert "node_textfile_scrape_error 0" in lines
    bytes_of = "ultracluster_lustre_write_bytes_total{"
    assert [line.rpartition(" ")[2] for line in lines if line.startswith(bytes_of)] == ["5", "7"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--gpus", "x", "--efa", "4"), "--gpus is a whole number, got 'x'"),
        (("--gpus", "8"), "--efa is a whole number, got ''"),
        (("--gpus", "8", "--efa", "4", "--counters", "a;b"), "--counters are names of counters, got 'a;b'"),
        (
            ("--gpu", "8"),
            "unknown argument --gpu; known: --gpus, --efa, --counters, --name, --queue, --nvswitch, --nvlink-xids, "
            "--nvlink-harmless",
        ),
        (("--gpus",), "--gpus needs a value"),
    ],
)
def test_rejects_wrong_usage(node: Node, arguments: tuple[str, ...], message: str) -> None:
    done = node.run("node-metrics", *arguments)
    assert (done.returncode, done.stderr) == (2, f"node-metrics: {message}\n")
