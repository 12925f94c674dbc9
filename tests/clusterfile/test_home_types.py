"""Types of home directories, and existing ones, in the cluster file."""

from typing import Any

import pytest

from support.boot_scripts import boots
from support.clusterfile_data import NO_METRICS, bent, problems
from support.templates import templates
from ultracluster import clusterfile
from ultracluster.boot._nfs_boot import NFS_CLIENT_UNIT
from ultracluster.clusterfile.descriptions import _home
from ultracluster.kubernetes import platform_of

LUSTRE = "lustre: {throughput: 40 GB/s}"
NETWORK = "network: {existing: {vpc: vpc-0123456789abcdef0, subnet: subnet-0123456789abcdef0, cidr: 10.0.0.0/18}}\n"
SERVER = "server: svm-1.example.com, path: /vol1"
NFS = f"{{type: nfs, existing: {{{SERVER}, security-group: sg-0123456789abcdef0}}}}"
IMAGES = "slurm: {login: {image: ami-0123456789abcdef0}}\n"


def with_home(home: str, more: str = "") -> str:
    return bent(LUSTRE, f"{LUSTRE}, home: {home}") + more + NO_METRICS


def wrong(home: str, more: str = "") -> list[str]:
    return [line.partition("storage.home")[2] for line in problems(with_home(home, more))]


def of_type(text: str, type: str) -> list[dict[str, Any]]:
    resources = (
        resource
        for stack in templates(clusterfile.loads(text, "c.yaml")).values()
        for resource in stack["Resources"].values()
    )
    return [resource["Properties"] for resource in resources if resource["Type"] == type]


def test_efs_has_a_mount_target_in_each_zone_and_takes_tls_only() -> None:
    nodes = "  more: {type: c7i.2xlarge, count: 2, zone: use2-az2}\nstorage"
    text = bent("storage", nodes, with_home("{type: efs}"))
    targets = of_type(text, "AWS::EFS::MountTarget")
    assert len(targets) == 2
    assert len({str(target["SubnetId"]) for target in targets}) == 2
    (system,) = of_type(text, "AWS::EFS::FileSystem")
    assert system["Encrypted"] is True
    assert "OverTlsOnly" in str(system["FileSystemPolicy"])
    for _, mounts in boots(clusterfile.loads(text, "c.yaml")).values():
        (line,) = (" ".join(line) for line in mounts if line[0] == "/home")
        assert " efs " in line
        assert "tls" in line
    assert _home.home_lines(clusterfile.loads(text, "c.yaml")) == ["home: EFS at /home"]


def test_s3_files_shows_a_prefix_of_the_data_bucket_and_nodes_may_mount_it() -> None:
    image = "count: 64, image: ami-0123456789abcdef0"
    text = bent("count: 64", image, with_home("{type: s3-files}", IMAGES))
    (system,) = of_type(text, "AWS::S3Files::FileSystem")
    assert system["Prefix"] == "home/"
    assert "s3files:ClientMount" in str(of_type(text, "AWS::IAM::Policy"))


def test_an_existing_server_gets_rules_and_no_file_system() -> None:
    text = with_home(NFS, NETWORK)
    rules = of_type(text, "AWS::EC2::SecurityGroupIngress")
    assert [rule for rule in rules if rule["GroupId"] == "sg-0123456789abcdef0" and rule["FromPort"] == 2049]
    assert [system["FileSystemType"] for system in of_type(text, "AWS::FSx::FileSystem")] == ["LUSTRE"]
    cluster = clusterfile.loads(text, "c.yaml")
    for _, mounts in boots(cluster).values():
        (line,) = (" ".join(line) for line in mounts if line[0] == "/home")
        assert line.startswith("/home nfs4 nosuid,nodev,nfsvers=4.1,hard")
        assert f"x-systemd.after={NFS_CLIENT_UNIT}" in line
    assert _home.home_lines(cluster) == ["home: NFS at /home, existing: svm-1.example.com:/vol1"]


@pytest.mark.parametrize(
    ("home", "words"),
    [
        (f"{{type: nfs, existing: {{{SERVER}}}}}", ("allow tcp 2049", "a VPC of its own")),
        ("{type: efs, existing: {id: fs-0123456789abcdef0, security-group: sg-0123456789abcdef0}}", ("its backups",)),
    ],
)
def test_warns_of_what_synthesis_cannot_see_of_an_existing_home(home: str, words: tuple[str, ...]) -> None:
    cluster = clusterfile.loads(with_home(home), "c.yaml")
    (message,) = (item.message for item in clusterfile.warnings(cluster) if item.id == "ultracluster:existing-home")
    assert all(word in message for word in words)


@pytest.mark.parametrize(
    ("home", "message"),
    [
        ("{type: efs, backups: 3 d}", ".backups: is a key of type: openzfs, and the type is efs"),
        ("{type: nfs}", ".type: is a server that exists; name it"),
        ("{type: ontap}", ".type: a type of home directories (FSx for ONTAP is nfs) is one of openzfs, efs"),
        ("{type: nfs, existing: {server: a}}", ".existing: of the type nfs needs server and path; path is missing"),
        ("{existing: {id: fs-0123456789abcdef0}}", ".existing: of the type openzfs needs id and volume; volume is"),
        (f"{{type: nfs, existing: {{{SERVER}, id: fs-0123456789abcdef0}}}}", ".existing.id: is no key of an existing"),
        ("{type: nfs, existing: {server: 'a b', path: /a}}", ".existing.server: must be the DNS name"),
        ("{type: nfs, existing: {server: a, path: /a b}}", ".existing.path: must be an absolute path on the server"),
        ("{type: nfs, existing: {server: a, path: ../b}}", ".existing.path: must be an absolute path on the server"),
        ("{existing: {id: fs-0123456789abcdef0, volume: fsvol-0123456789abcdef0, path: /fsxx}}", ".existing.path: a"),
        ("{type: s3-files}", ".type: needs amazon-efs-utils 3.0 on every node, and AWS's image has an older one"),
        ("{existing: }", ".existing: has no value"),
    ],
)
def test_refuses_what_does_not_fit_the_type(home: str, message: str) -> None:
    (line,) = wrong(home)
    assert line.startswith(message)


@pytest.mark.parametrize("home", ["efs", "s3-files"])
def test_an_image_that_the_deployment_builds_has_no_client_of_efs(home: str) -> None:
    built = with_home(f"{{type: {home}}}", "image: build\n")
    (line,) = (line for line in problems(built) if "home.type" in line)
    assert "the deployment does not have it; give an image that has it for slurm.login, nodes.train" in line
    accepted = built + "accept: {home-client: the parent has it}\n"
    clusterfile.loads(accepted, "c.yaml")
    # An image at the top of the file is that of all nodes.
    clusterfile.loads(with_home(f"{{type: {home}}}", "image: ami-0123456789abcdef0\n"), "c.yaml")


def test_an_existing_home_keeps_its_shape_and_s3_files_is_imported_in_python() -> None:
    ids = "existing: {id: fs-0123456789abcdef0, volume: fsvol-0123456789abcdef0}"
    (line,) = wrong(f"{{{ids}, capacity: 1 TiB}}")
    assert line.startswith(".capacity: describes a new file system, and existing names an existing one")
    text = bent("count: 64", "count: 64, image: ami-0123456789abcdef0", with_home("HOME", IMAGES))
    (line,) = problems(bent("HOME", "{type: s3-files, existing: {id: fs-0123456789abcdef0}}", text))
    assert "from_s3_files_home_attributes" in line


def test_s3_files_and_links_do_not_share_a_prefix() -> None:
    text = bent("count: 64", "count: 64, image: ami-0123456789abcdef0", with_home("{type: s3-files}", IMAGES))
    for link, shared in (("/data: {prefix: home/ada}", True), ("/home: {}", True), ("/homes: {}", False)):
        lustre = LUSTRE.replace("}", f", data-repository-associations: {{{link}}}}}")
        errors = problems(bent(LUSTRE, lustre, text)) if shared else []
        assert len(errors) == shared
        assert all("which is the home directories too" in line for line in errors)
    assert "data-bucket is false" in problems(bent(LUSTRE, f"{LUSTRE}, data-bucket: false", text))[0]


def test_a_local_zone_has_no_mount_target() -> None:
    text = bent("us-east-2\nzone: use2-az1", "us-west-2\nzone: usw2-lax1-az1", with_home("{type: efs}"))
    text = bent(", capacity: cr-0123456789abcdef0", "", bent(f"{LUSTRE}, ", "", text))
    text = bent("type: p5en.48xlarge", "type: c7i.2xlarge", text) + "network: {control-plane-zone: usw2-az1}\n"
    (line,) = problems(text)
    assert "storage.home.type: nodes are in the Local Zone usw2-lax1-az1" in line


def test_kubernetes_takes_what_an_add_on_mounts() -> None:
    text = bent("orchestrator: slurm", "orchestrator: kubernetes", with_home("HOME"))
    for home, why in ((NFS, "no EKS add-on has a CSI driver"), ("{type: s3-files}", "its CSI driver needs a role")):
        (line,) = problems(bent("HOME", home, text))
        assert why in line
        assert line.endswith("use openzfs or efs")


def test_kubernetes_mounts_efs_and_openzfs_by_their_drivers() -> None:
    text = bent("orchestrator: slurm", "orchestrator: kubernetes", with_home("HOME"))
    existing = "{existing: {id: fs-0123456789abcdef0, volume: fsvol-0123456789abcdef0, path: /fsx/people}}"
    deployed = {"HomeFileSystemId": "fs-0fedcba9876543210", "HomeDnsName": "fs-1.example.com"}
    for home, driver, handle in (
        ("{type: efs}", "efs.csi.aws.com", "fs-0fedcba9876543210"),
        (existing, "fsx.openzfs.csi.aws.com", "fsvol-0123456789abcdef0"),
    ):
        cluster = clusterfile.loads(bent("HOME", home, text), "c.yaml")
        volume = platform_of(cluster, deployed=deployed).volumes["/home"]
        assert (volume.driver, volume.handle) == (driver, handle)
    new = platform_of(clusterfile.loads(bent("HOME", "{}", text), "c.yaml"), deployed=deployed).volumes["/home"]
    assert new.attributes["VolumePath"] == "fsx/home", "no client may mount the root volume"


def test_the_driver_of_efs_is_an_add_on() -> None:
    text = bent("orchestrator: slurm", "orchestrator: kubernetes", with_home("{type: efs}"))
    assert "aws-efs-csi-driver" in {add_on["AddonName"] for add_on in of_type(text, "AWS::EKS::Addon")}
