"""Rules of Slurm clusters without internet access."""

from support import ROOT
from support.clusterfile_data import bent, problem, problems
from ultracluster.clusterfile import load, loads

FILE = ROOT / "examples" / "slurm-private.yaml"
PRIVATE = FILE.read_text()
SHA256 = "0123456789abcdef" * 4


def test_accepts_slurm_without_internet_access() -> None:
    assert not load(FILE).network.internet


def test_rejects_a_second_endpoint_for_metrics() -> None:
    error = problem("{grafana: {kind: none}}", "{grafana: {kind: none}, vpc-endpoint: true}", PRIVATE)
    assert "network: {internet: false} makes one already" in error


def test_rejects_a_bundle_that_is_not_in_s3() -> None:
    client = f"client: {{bundle: {{url: 'https://example.com/efa.zip', sha256: '{SHA256}'}}}}"
    error = problem("throughput: 4 GB/s", f"throughput: 4 GB/s, efa: true, {client}", PRIVATE)
    assert "storage.lustre.client.bundle.url: nodes have no internet access" in error
    assert "s3://" in error
    in_s3 = client.replace("https://example.com", "s3://my-bucket")
    loads(bent("throughput: 4 GB/s", f"throughput: 4 GB/s, efa: true, {in_s3}", PRIVATE), "c.yaml")


def test_rejects_the_image_of_aws_which_installs_packages_at_the_first_boot() -> None:
    without = bent(", image: ami-0123456789abcdef0", "", bent("image: ami-0fedcba9876543210", "count: 2", PRIVATE))
    login, train = sorted(problems(without), key=lambda line: "nodes.train" in line)
    assert "slurm.login: AWS's image lacks Enroot, Pyxis and the collectors, and their packages" in login
    assert "nodes.train: AWS's image lacks" in train
    assert "ultracluster image bundle" in train
    named = bent("network: {internet: false}", "network: {internet: false}\nimage: aws", without)
    assert len(problems(named)) == 2
    loads(f"{without}accept: {{private-image: the VPC has a mirror of the packages}}\n", "c.yaml")


def test_names_the_nfs_client_that_home_directories_need() -> None:
    home = bent("storage: {", "storage: {home: {}, ", PRIVATE)
    loads(home, "c.yaml")
    (line,) = problems(bent(", image: ami-0123456789abcdef0", "", home))
    assert "and an NFS client for the home directories" in line


def test_rejects_scripts_that_are_not_in_s3() -> None:
    script = f"scripts: [{{url: 'https://example.com/edr.sh', sha256: '{SHA256}'}}]"
    for old, new, where in (
        ("image: ami-0123456789abcdef0", f"image: ami-0123456789abcdef0, {script}", "nodes.train"),
        ("image: ami-0fedcba9876543210", f"image: ami-0fedcba9876543210, {script}", "slurm.login"),
    ):
        error = problem(old, new, PRIVATE)
        assert f"{where}.scripts[0].url: nodes have no internet access, got https://example.com/edr.sh" in error
        loads(bent(old, new.replace("https://example.com", "s3://my-bucket"), PRIVATE), "c.yaml")
