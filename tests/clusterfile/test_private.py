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


def test_rejects_home_directories_with_an_image_that_may_lack_the_nfs_client() -> None:
    home = bent("storage: {", "storage: {home: {}, ", PRIVATE)
    loads(home, "c.yaml")
    without = bent(", image: ami-0123456789abcdef0", "", bent("image: ami-0fedcba9876543210", "count: 2", home))
    login, train = sorted(problems(without), key=lambda line: "nodes.train" in line)
    assert "slurm.login: home directories need an NFS client" in login
    assert "nodes.train: home directories need an NFS client" in train
    loads(f"{without}accept: {{private-nfs-client: the image of October has it}}\n", "c.yaml")


def test_accepts_the_image_of_aws_without_home_directories() -> None:
    loads(bent(", image: ami-0123456789abcdef0", "", PRIVATE), "c.yaml")
