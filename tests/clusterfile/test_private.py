"""Rules of clusters without internet access."""

from support import ROOT
from support.clusterfile_data import bent, problem, problems
from ultracluster.clusterfile import endpoint_services, load, loads, perimeter_members, warnings

FILE = ROOT / "examples" / "slurm-private.yaml"
PRIVATE = FILE.read_text()
SHA256 = "0123456789abcdef" * 4


def test_accepts_slurm_without_internet_access() -> None:
    assert not load(FILE).network.internet


def test_an_existing_vpc_may_have_no_internet_access() -> None:
    existing = "{internet: false, existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0}}"
    text = bent("network: {internet: false}", f"network: {existing}", PRIVATE)
    cluster = loads(text, "c.yaml")
    # The endpoints are those of the VPC, and so are their policies.
    assert perimeter_members(cluster) is None
    page = (ROOT / "docs" / "guides" / "network.md").read_text().replace("`", " ").split()
    services = {*endpoint_services(cluster), *endpoint_services(loads(KUBERNETES, "c.yaml"))}
    assert services - {name.strip(",") for name in page} == set()
    loads(bent("{grafana: {kind: none}}", "{grafana: {kind: none}, vpc-endpoint: true}", text), "c.yaml")
    assert "AWS's image lacks Enroot" in problem(", image: ami-0123456789abcdef0", "", text)


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
    (line,) = problems(without)
    assert "network.internet: nodes.train, slurm.login: AWS's image lacks Enroot, Pyxis and the collectors." in line
    assert "ultracluster image bundle" in line
    named = bent("network: {internet: false}", "network: {internet: false}\nimage: aws", without)
    assert len(problems(named)) == 1
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


KUBERNETES = (ROOT / "examples" / "eks-private.yaml").read_text()
REGISTRY = "  registry: 123456789012.dkr.ecr.us-east-2.amazonaws.com/ultracluster\n"


def test_kubernetes_needs_the_account_or_a_registry() -> None:
    error = problem(REGISTRY, "", KUBERNETES)
    assert "network.internet: charts and images come from the ECR of the account" in error
    loads(bent("name: vault", 'name: vault\naccount: "123456789012"', bent(REGISTRY, "", KUBERNETES)), "c.yaml")


def test_rejects_registries_that_nodes_do_not_reach() -> None:
    error = problem(REGISTRY, "  registry: docker.io/me\n", KUBERNETES)
    assert "kubernetes.registry: docker.io is public, and nodes have no internet access" in error
    west = bent(REGISTRY, REGISTRY.replace("us-east-2", "us-west-2"), KUBERNETES)
    (line,) = problems(west)
    assert "kubernetes.registry: is in us-west-2, and the endpoints of the VPC reach the ECR of us-east-2 only" in line
    for name in ("kueue", "https://x.example", "UPPER.example/x", "123456789012.dkr.ecr.us-east-2.amazonaws.com/x:tag"):
        assert "must be a registry, with a prefix" in problem(REGISTRY, f"  registry: '{name}'\n", KUBERNETES)


def test_a_perimeter_is_an_organization_or_accounts() -> None:
    both = "name: keep\nperimeter: {organization: o-a1b2c3d4e5, accounts: ['210987654321']}"
    error = problem("name: keep", both, PRIVATE)
    assert "perimeter.accounts: must be an organization or accounts, got both" in error
    error = problem("name: keep", "name: keep\nperimeter: {organization: my-company}", PRIVATE)
    assert "perimeter.organization: must be the id of an organization, such as o-a1b2c3d4e5" in error
    assert perimeter_members(loads(PRIVATE, "c.yaml")) == ()
    accounts = loads(f"{PRIVATE}perimeter: {{accounts: ['210987654321']}}\n", "c.yaml")
    assert perimeter_members(accounts) == ("210987654321",)


def test_warns_of_a_registry_beside_ecr_of_the_region() -> None:
    harbor = loads(bent(REGISTRY, "  registry: harbor.corp.example/x\n", KUBERNETES), "c.yaml")
    (text,) = (warning.message for warning in warnings(harbor) if warning.rule == "kubernetes-registry")
    assert text.startswith("harbor.corp.example is not Amazon ECR: nodes pull from it without credentials")
    west = bent("{internet: false}", "{}", bent(REGISTRY, REGISTRY.replace("us-east-2", "us-west-2"), KUBERNETES))
    (text,) = (warning.message for warning in warnings(loads(west, "c.yaml")) if warning.rule == "kubernetes-registry")
    assert "the registry is in us-west-2" in text
