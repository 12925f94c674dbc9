"""`ultracluster images` and `mirror`, with skopeo, helm and a registry for real."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
import typer
from moto import mock_aws
from typer.testing import CliRunner

from support import ROOT, TERMINAL
from support.registry import CHART, IMAGE, Registry
from ultracluster import clusterfile, platform
from ultracluster.cli import _pull_through, app
from ultracluster.cli._copies import chart_images, copier, manifest_chart
from ultracluster.cli._ecr import create_repository
from ultracluster.cli._images import _details
from ultracluster.cli._mirror import _print, _pulled
from ultracluster.kubernetes import HelmRelease, Manifest
from ultracluster.platform import Bundle
from ultracluster.workloads import Artifact, cluster_artifacts, kubernetes_bundle

PRIVATE = ROOT / "examples" / "eks-private.yaml"
ECR = "123456789012.dkr.ecr.us-east-2.amazonaws.com"
RUN = CliRunner()
HOSTS = ("registry.k8s.io", "ghcr.io", "nvcr.io", "quay.io", "public.ecr.aws", "docker.io")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Stands for the registries of the projects, below `up/`, and for the one of the account."""
    created = Registry(tmp_path_factory.mktemp("registry"))
    yield created
    created.close()


@pytest.fixture
def file(tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private cluster whose registry is on this machine, as are all others; nothing else is reached."""
    text = PRIVATE.read_text().replace(f"{ECR}/ultracluster", f"{registry.host}/{tmp_path.name.replace('_', '')[-30:]}")
    text = text.replace("observability: {grafana: {kind: none}}", "observability: {profile: none}")
    created = tmp_path / "cluster.yaml"
    created.write_text(text)
    rows = [
        f'[[registry]]\nprefix = "{host}"\nlocation = "{registry.host}/up/{host}"\ninsecure = true' for host in HOSTS
    ]
    rows.append(f'[[registry]]\nprefix = "{registry.host}"\nlocation = "{registry.host}"\ninsecure = true')
    (tmp_path / ".config" / "containers").mkdir(parents=True)
    (tmp_path / ".config" / "containers" / "registries.conf").write_text("\n".join(rows))
    # kubectl and helm are unpacked once.
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    return created


def publish(registry: Registry, rows: tuple[Artifact, ...]) -> dict[str, str]:
    """Put the images and charts of projects into the stand-ins of their registries; return digests by target."""
    digests = {}
    for row in rows:
        if row.target is None or getattr(row.release, "repository", None) or isinstance(row.release, Manifest):
            continue
        several = row.kind == "image" and "nvcr.io" in row.source
        digests[row.target] = registry.put(
            f"up/{row.source}",
            platforms=("amd64", "arm64") if several else (),
            kind=CHART if row.kind == "chart" else IMAGE,
        )
    return digests


def test_images_of_a_cluster_are_listed_with_what_uses_them_and_no_digest_is_invented() -> None:
    done = RUN.invoke(app, ["images", str(PRIVATE), "--json"])
    assert done.exit_code == 0, done.output
    rows = {row["source"]: row for row in json.loads(done.stdout)["images"]}
    kueue = rows["registry.k8s.io/kueue/kueue:v0.19.2"]
    assert kueue["target"] == f"{ECR}/ultracluster/registry.k8s.io/kueue/kueue:v0.19.2"
    assert (kueue["used_by"], kueue["digest"], kueue["size_bytes"]) == (["release kueue"], None, None)
    assert rows["registry.k8s.io/kueue/charts/kueue:0.19.2"]["kind"] == "chart"
    narrow = RUN.invoke(app, ["images", str(PRIVATE)], env=TERMINAL).stdout
    assert set(rows) <= set(narrow.split())
    assert all(line.startswith(("chart ", "image ", "EKS ")) for line in narrow.splitlines() if len(line) > 80)
    assert "image registry.k8s.io/kueue/kueue:v0.19.2\n  used by: release kueue\n" in narrow
    # AWS's own images are in the ECR of the region, which nodes reach.
    assert (
        rows[f"{'602401143452'}.dkr.ecr.us-east-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.20"]["target"]
        is None
    )


def test_a_terminal_of_80_columns_has_whole_names_of_copies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in TERMINAL.items():
        monkeypatch.setenv(name, value)
    rows = list(cluster_artifacts(clusterfile.load(PRIVATE)))
    _print(rows, ["copied"] * len(rows), ECR)
    out = capsys.readouterr().out
    assert {row.source.partition("@")[0] for row in rows} <= set(out.split())
    assert "image registry.k8s.io/kueue/kueue:v0.19.2 copied\n" in out


def test_the_digest_that_a_chart_pins_is_listed() -> None:
    rows = cluster_artifacts(clusterfile.load(ROOT / "examples" / "eks-mixed.yaml"))
    (karpenter,) = [row for row in rows if row.kind == "image" and "karpenter" in row.source]
    assert karpenter.digest
    assert karpenter.digest.startswith("sha256:7231309")
    assert karpenter.target is None


def test_a_chart_of_another_version_has_images_without_tags_until_it_is_read() -> None:
    text = PRIVATE.read_text().replace("kubernetes:\n", "kubernetes:\n  charts: {kueue: 0.19.1}\n")
    rows = cluster_artifacts(clusterfile.loads(text, "c.yaml"))
    (kueue,) = [row for row in rows if row.kind == "image" and "kueue" in row.source]
    assert (kueue.source, kueue.known) == ("registry.k8s.io/kueue/kueue", False)
    assert not any("/kueue/kueue" in image for image in kubernetes_bundle(clusterfile.loads(text, "c.yaml"))["images"])


def test_mirror_copies_everything_it_reaches_and_names_the_rest(file: Path, registry: Registry) -> None:
    rows = cluster_artifacts(clusterfile.load(file))
    digests = publish(registry, rows)
    done = RUN.invoke(app, ["mirror", str(file), "--json"])
    assert done.exit_code == 1
    result = json.loads(done.stdout)
    states = {row["source"]: row["state"] for row in result["images"]}
    # Charts of repositories, and a manifest, are on the internet.
    lost = {source for source, state in states.items() if state == "failed"}
    assert {source.split("/")[0] for source in lost} == {"aws.github.io", "nvidia.github.io", "https:"}
    assert len(result["failed"]) == len(lost) == 3
    # Copies have the digests of their sources, lists of platforms included.
    for target, digest in digests.items():
        assert registry.digest(target.removeprefix(f"{registry.host}/")) == digest, target
    again = RUN.invoke(app, ["mirror", str(file), "--json", "--dry-run"])
    assert again.exit_code == 0, again.output
    states = {row["source"]: row["state"] for row in json.loads(again.stdout)["images"]}
    assert {source for source, state in states.items() if state == "missing"} == lost
    assert set(states.values()) == {"there", "missing"}
    # An apply stops before it changes anything, and names what the registry lacks.
    values = dict.fromkeys(kubernetes_bundle(clusterfile.load(file))["parameters"], "x-1")
    bundle = Bundle.parse(kubernetes_bundle(clusterfile.load(file)), values)
    tools = platform.find_tools(file)
    with pytest.raises(platform.ApplyError) as error, platform.signed_in(tools, bundle):
        pass
    text = str(error.value)
    assert text.startswith("check: registry: the registry lacks 3 charts and images:")
    assert "raw.githubusercontent.com/kubeflow/mpi-operator:0.8.0" in text
    assert text.endswith("remedy: copy them: ultracluster mirror FILE; then apply again")
    for row in rows:
        if row.source in lost and row.target:
            registry.put(row.target.removeprefix(f"{registry.host}/"), kind=CHART)
    with platform.signed_in(tools, bundle) as ready:
        assert ready is tools


def test_resolve_reads_digests_and_sizes(file: Path, registry: Registry) -> None:
    rows = cluster_artifacts(clusterfile.load(file))
    (plugin,) = [row for row in rows if "nvidia/k8s-device-plugin:" in row.source and row.kind == "image"]
    digest = publish(registry, (plugin,))[str(plugin.target)]
    with copier(set()) as tools:
        assert _details(tools, plugin) == {"digest": digest, "size_bytes": len(b"layeramd64")}


MANIFEST = """\
--- # the chart has no namespace of its own
apiVersion: v1
kind: Namespace
metadata: {name: mpi-operator}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: mpi-operator, namespace: mpi-operator}
spec:
  template:
    spec:
      containers:
      - name: mpi-operator
        image: mpioperator/mpi-operator:0.8.0
        args: ["{{ not a template }}"]
"""


def test_a_manifest_becomes_a_chart_with_images_from_the_registry(
    file: Path, registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "v0.8.0").mkdir()
    (tmp_path / "v0.8.0" / "mpi-operator.yaml").write_text(MANIFEST)
    published = Manifest(
        name="mpi-operator", version="v0.8.0", url=(tmp_path / "v0.8.0" / "mpi-operator.yaml").as_uri()
    )
    target = f"{registry.host}/charts/{tmp_path.name.replace('_', '')[-30:]}/mpi-operator:0.8.0"
    row = Artifact(kind="chart", source="x", target=target, used_by=(), platform=True, release=published)
    with copier({registry.host}) as tools:
        tools.copy(row)
        assert tools.has(target)
    path = tmp_path / "chart.tgz"
    path.write_bytes(manifest_chart("mpi-operator", "0.8.0", MANIFEST))
    values = {"registry": f"{ECR}/ultracluster/docker.io"}
    release = HelmRelease(name="m", chart="oci://x/m", version="0.8.0", namespace="mpi-operator", values=values)
    object.__setattr__(release, "chart", str(path))
    with copier(set()) as tools:
        assert chart_images(tools.helm, release) == [f"{ECR}/ultracluster/docker.io/mpioperator/mpi-operator:0.8.0"]


def test_repositories_in_ecr_are_created_once_with_immutable_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        for _ in range(2):
            create_repository(f"{ECR}/ultracluster/registry.k8s.io/kueue/kueue:v0.19.2")
        answer = boto3.client("ecr", "us-east-2").describe_repositories()
        (repository,) = answer["repositories"]
        assert repository["repositoryName"] == "ultracluster/registry.k8s.io/kueue/kueue"
        assert repository["imageTagMutability"] == "IMMUTABLE"
        # The password of helm and skopeo: that of any repository of the account.
        assert platform.ecr_password(ECR)
    assert platform.ecr_password("registry.k8s.io") is None


class Rules:
    """Rules of ECR, which moto does not have: names and refusals of the service."""

    class exceptions:
        class PullThroughCacheRuleAlreadyExistsException(Exception):
            pass

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}

    def create_pull_through_cache_rule(self, **given: str) -> None:
        if given["ecrRepositoryPrefix"] in self.rows:
            raise self.exceptions.PullThroughCacheRuleAlreadyExistsException
        self.rows[given["ecrRepositoryPrefix"]] = given["upstreamRegistryUrl"]

    def describe_pull_through_cache_rules(self, **given: Any) -> dict[str, Any]:
        (prefix,) = given["ecrRepositoryPrefixes"]
        return {"pullThroughCacheRules": [{"upstreamRegistryUrl": self.rows[prefix]}]}


def test_rules_are_created_once_where_ecr_needs_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, rows = Rules(), cluster_artifacts(clusterfile.load(PRIVATE))
    monkeypatch.setattr(_pull_through, "client", lambda *_: rules)
    for _ in range(2):
        _pull_through.create_rules(rows, f"{ECR}/ultracluster")
    assert rules.rows["ultracluster/registry.k8s.io"] == "registry.k8s.io"
    assert {*rules.rows.values()} <= {"registry.k8s.io", "quay.io", "public.ecr.aws"}
    # Charts are copied, and so are images of registries for which ECR has no rule without credentials.
    assert not any(_pull_through.upstream(row) for row in rows if row.kind == "chart" or "nvcr.io" in row.source)


@pytest.mark.parametrize(
    ("registry", "existing", "message"),
    [
        ("registry.example.com/x", {}, "creates rules in Amazon ECR, and the registry is registry.example.com/x"),
        (f"{ECR}/a-longer-name-of-a-registry", {}, "characters; ECR accepts 30"),
        (f"{ECR}/x", {"x/registry.k8s.io": "quay.io"}, "copies from quay.io instead of registry.k8s.io"),
    ],
)
def test_rejects_rules_that_ecr_cannot_have(
    registry: str,
    existing: dict[str, str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rules = Rules()
    rules.rows.update(existing)
    monkeypatch.setattr(_pull_through, "client", lambda *_: rules)
    with pytest.raises(typer.Exit):
        _pull_through.create_rules(cluster_artifacts(clusterfile.load(PRIVATE)), registry)
    assert message in " ".join(capsys.readouterr().err.split())


def test_an_image_is_pulled_whole_through_its_rule(file: Path, registry: Registry) -> None:
    (row,) = [
        row for row in cluster_artifacts(clusterfile.load(file)) if row.source.startswith("registry.k8s.io/kueue/kueue")
    ]
    failed: list[str] = []
    with copier(set()) as tools:
        assert _pulled(tools, row, False, failed) == "failed"
        assert failed
        registry.put(str(row.target).removeprefix(f"{registry.host}/"), platforms=("amd64", "arm64"), kind=IMAGE)
        assert _pulled(tools, row, False, failed) == "by rule"


def test_mirror_needs_a_registry() -> None:
    done = RUN.invoke(app, ["mirror", str(ROOT / "examples" / "eks-minimal.yaml")])
    assert done.exit_code == 1
    assert "kubernetes: {registry: ...}, or use --to" in done.output
    assert RUN.invoke(app, ["mirror", str(PRIVATE), "--to", "https://x.example"]).exit_code == 2
    done = RUN.invoke(app, ["images", str(ROOT / "examples" / "slurm-minimal.yaml")])
    assert "images are listed for orchestrator: kubernetes" in done.output
