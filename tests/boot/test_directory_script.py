"""Users of a directory: the configuration of sssd, which sssd itself checks, and the script that writes it."""

import subprocess
from pathlib import Path

import pytest

from ultracluster.boot import Directory, directory_boot, scripts
from ultracluster.planning.nodes import is_ldap_filter

SECRET = "arn:aws:secretsmanager:us-east-2:123456789012:secret:reader-AbCdEf"
PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
LDAP = Directory(
    kind="ldap",
    servers=["ldaps://one.example.com", "ldaps://two.example.com:3269"],
    base_dn="dc=example,dc=com",
    bind_dn="cn=reader,dc=example,dc=com",
    secret=SECRET,
)
AD = Directory(
    kind="managed-ad",
    servers=["ldaps://corp.example.com"],
    base_dn="OU=Users,OU=corp,DC=corp,DC=example,DC=com",
    bind_dn="CN=Reader,OU=Users,OU=corp,DC=corp,DC=example,DC=com",
    secret=SECRET,
    certificates=PEM,
    filter="(&(objectClass=user)(memberOf=CN=hpc \\28all\\29,OU=corp,DC=corp,DC=example,DC=com))",
)
# Each writes its arguments to a log.
STAND_INS = {
    "aws": 'echo "aws $*" >>"$T/log"; [ ! -e "$T/aws-fails" ] || exit 255; cat "$T/secret"',
    "systemctl": 'echo "systemctl $*" >>"$T/log"',
    "pam-auth-update": 'echo "pam-auth-update $*" >>"$T/log"',
    "apt-get": 'echo "apt-get $*" >>"$T/log"; [ ! -e "$T/offline" ] || exit 100\n'
    'touch "$T/bin/sssctl" && chmod +x "$T/bin/sssctl"',
    "sleep": ":",
}


class Node:
    """A node of files, with the configuration of a directory."""

    def __init__(self, folder: Path, directory: Directory = LDAP, *, sssd: bool = True) -> None:
        self.folder, self.root = folder, folder / "root"
        (folder / "bin").mkdir()
        (self.root / "etc/ssh/sshd_config.d").mkdir(parents=True)
        for file in directory_boot(directory, region="us-east-2", homes="/home").files:
            path = self.root / file.path.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)
        if sssd:
            provider = self.root / "usr/lib/x86_64-linux-gnu/sssd/libsss_ldap.so"
            provider.parent.mkdir(parents=True)
            provider.touch()
        for name, body in {**STAND_INS, **({"sssctl": ":"} if sssd else {})}.items():
            (folder / "bin" / name).write_text(f"#!/bin/bash\n{body}\n")
            (folder / "bin" / name).chmod(0o755)
        # The system's programs, without its sssd.
        for name in ("bash", "cat", "mkdir", "mv", "rm", "cmp", "grep", "touch", "chmod"):
            (folder / "bin" / name).symlink_to(f"/usr/bin/{name}")
        (folder / "secret").write_text("p%a\\s[s] #1\n")

    @property
    def conf(self) -> Path:
        return self.root / "etc/sssd/sssd.conf"

    def run(self) -> subprocess.CompletedProcess[str]:
        (self.folder / "log").write_text("")
        return subprocess.run(
            [self.folder / "bin/bash", "-c", scripts.text("directory.sh"), "directory", SECRET, "us-east-2"],
            env={"PATH": str(self.folder / "bin"), "T": str(self.folder), "ULTRACLUSTER_ROOT": str(self.root)},
            capture_output=True,
            text=True,
            timeout=60,
        )

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()


@pytest.mark.parametrize("directory", [LDAP, AD], ids=["ldap", "managed-ad"])
def test_sssd_finds_no_error_in_the_configuration(tmp_path: Path, directory: Directory) -> None:
    node = Node(tmp_path, directory)
    assert node.run().returncode == 0
    check = ["sssctl", "config-check", "--config", str(node.conf), "--snippet", str(tmp_path)]
    done = subprocess.run(check, capture_output=True, text=True)
    assert (done.returncode, "Issues identified by validators: 0" in done.stdout) == (0, True), done.stdout
    # A login with a key asks the directory for no password.
    expected = {"access_provider = ldap", "ldap_access_order = expire", "ldap_account_expire_policy = shadow"}
    if directory is AD:
        expected = {"ldap_access_order = filter, expire", "ldap_account_expire_policy = ad"}
        expected |= {f"ldap_access_filter = {AD.filter}"}
    lines = set(node.conf.read_text().splitlines())
    assert expected <= lines
    # Without a filter, the order `filter` denies all users.
    assert any(line.startswith("ldap_access_filter") for line in lines) == (directory is AD)
    wrong = node.conf.read_text().replace("ldap_uri", "ldap_uris")
    node.conf.write_text(wrong)
    node.conf.chmod(0o600)
    assert "ldap_uris" in subprocess.run(check, capture_output=True, text=True).stdout


def test_a_filter_has_all_its_parentheses_and_one_line() -> None:
    assert is_ldap_filter(AD.filter or "")
    nested = "(|(uid=ada)(!(memberOf:1.2.840.113556.1.4.1941:=cn=x))(&(a>=1)(b~=c)(d=*)))"
    assert all(is_ldap_filter(text) for text in ("(employeeType=admin)", nested))
    for text in (
        *("", "a=b", "(a)", "(&)", "(a=b", "(a=b))", "((a=b))", "(a=b)(c=d)", "(!(a=b)(c=d))", "\0", "(&\0)"),
        *("(a=b\nldap_tls_reqcert = never)", f"(a={'b' * 1024})"),
    ):
        assert not is_ldap_filter(text), text


def test_the_password_is_read_by_root_alone_and_tls_is_checked(tmp_path: Path) -> None:
    node = Node(tmp_path, AD)
    done = node.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert node.conf.stat().st_mode & 0o777 == 0o600
    text = node.conf.read_text()
    assert text.endswith("ldap_default_authtok = p%a\\s[s] #1\n")
    assert "ldap_tls_reqcert = demand\nldap_tls_cacert = /etc/ultracluster/directory-ca.pem\n" in text
    assert (node.root / "etc/ultracluster/directory-ca.pem").read_text() == PEM
    assert "p%a" not in (node.root / "etc/ultracluster/sssd.conf").read_text() + node.log
    keys = (node.root / "etc/ssh/sshd_config.d/51-ultracluster-directory.conf").read_text()
    assert keys.startswith("AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys %u\n")
    assert "pam-auth-update --enable mkhomedir" in node.log


@pytest.mark.parametrize("file", ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"])
def test_servers_are_checked_with_what_the_image_trusts(tmp_path: Path, file: str) -> None:
    node = Node(tmp_path)
    (node.root / file.lstrip("/")).parent.mkdir(parents=True)
    (node.root / file.lstrip("/")).touch()
    node.run()
    assert f"\nldap_tls_cacert = {file}\n" in node.conf.read_text()


def test_a_second_run_changes_nothing_and_a_rotated_password_restarts_sssd(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.run()
    assert node.run().returncode == 0
    assert [line for line in node.log.splitlines() if not line.startswith("aws ")] == []
    (tmp_path / "secret").write_text("new\n")
    node.run()
    assert "systemctl restart sssd" in node.log
    assert node.conf.read_text().endswith("ldap_default_authtok = new\n")


@pytest.mark.parametrize("unit", ["ssh", "sshd"])
def test_sshd_asks_the_directory_although_instance_connect_has_a_command(tmp_path: Path, unit: str) -> None:
    """An option of sshd comes before its files. Ubuntu has the unit ssh, and Amazon Linux sshd."""
    node = Node(tmp_path)
    vendor = node.root / f"usr/lib/systemd/system/{unit}.service"
    drop_in = Path(f"{vendor}.d/ec2-instance-connect.conf")
    drop_in.parent.mkdir(parents=True)
    vendor.write_text("[Service]\nExecStart=/usr/sbin/sshd -D $SSHD_OPTS\n")
    command = "AuthorizedKeysCommand /usr/share/ec2-instance-connect/eic_run_authorized_keys %%u %%f"
    drop_in.write_text(f'[Service]\nExecStart=\nExecStart=/usr/sbin/sshd -D -o "{command}" $SSHD_OPTS\n')
    assert node.run().returncode == 0
    look = ["systemd-analyze", f"--root={node.root}", "cat-config", f"systemd/system/{unit}.service"]
    unit_text = subprocess.run(look, capture_output=True, text=True, check=True).stdout
    lines = [line for line in unit_text.splitlines() if line.startswith("ExecStart=")]
    assert lines == ["ExecStart=/usr/sbin/sshd -D $SSHD_OPTS"]
    assert node.log.endswith(f"systemctl daemon-reload\nsystemctl try-restart {unit}.service\n")
    node.run()
    assert "restart" not in node.log


@pytest.mark.parametrize("program", ["pam-auth-update", "systemctl"])
def test_what_failed_once_is_done_by_the_next_run(tmp_path: Path, program: str) -> None:
    """Such as for the lock of debconf, which another installation has."""
    node = Node(tmp_path)
    stand_in = tmp_path / "bin" / program
    text = stand_in.read_text()
    stand_in.write_text("#!/bin/bash\nexit 1\n")
    assert node.run().returncode == 1
    stand_in.write_text(text)
    assert node.run().returncode == 0
    assert "pam-auth-update --enable mkhomedir" in node.log
    assert "systemctl restart sssd" in node.log


def test_a_secret_that_cannot_be_read_leaves_what_is_there(tmp_path: Path) -> None:
    node = Node(tmp_path)
    (tmp_path / "aws-fails").touch()
    assert node.run().returncode == 1
    assert not node.conf.exists()
    (tmp_path / "aws-fails").unlink()
    node.run()
    before = node.conf.read_text()
    (tmp_path / "aws-fails").touch()
    assert node.run().returncode == 0
    assert node.conf.read_text() == before


@pytest.mark.parametrize("secret", ["", "two\nlines\n"])
def test_a_secret_that_is_no_password_is_refused(tmp_path: Path, secret: str) -> None:
    node = Node(tmp_path)
    (tmp_path / "secret").write_text(secret)
    done = node.run()
    assert (done.returncode, "must be the password, on one line" in done.stderr) == (1, True)
    assert not node.conf.exists()


def test_sssd_is_installed_where_the_image_lacks_it(tmp_path: Path) -> None:
    node = Node(tmp_path, sssd=False)
    assert node.run().returncode == 0
    assert "install --no-install-recommends sssd-ldap sssd-tools libnss-sss libpam-sss" in node.log
    assert "apt-get" not in node.log.split("aws ", 1)[1]


def test_an_image_without_the_provider_of_sssd_is_completed(tmp_path: Path) -> None:
    node = Node(tmp_path)
    (provider,) = node.root.glob("usr/lib/*/sssd/libsss_ldap.so")
    provider.rename(tmp_path / "provider")
    assert node.run().returncode == 0
    assert "install --no-install-recommends sssd-ldap" in node.log
    # Of Amazon Linux.
    (node.root / "usr/lib64/sssd").mkdir(parents=True)
    (tmp_path / "provider").rename(node.root / "usr/lib64/sssd/libsss_ldap.so")
    assert node.run().returncode == 0
    assert "apt-get" not in node.log


def test_a_node_without_packages_reports_it(tmp_path: Path) -> None:
    node = Node(tmp_path, sssd=False)
    (tmp_path / "offline").touch()
    done = node.run()
    assert (done.returncode, "sssd could not be installed" in done.stderr) == (1, True)


def test_users_are_there_before_slurm_starts() -> None:
    files = {file.path: file.text for file in directory_boot(LDAP, region="us-east-2", homes="/home").files}
    assert (
        "After=ultracluster-directory.service"
        in files["/etc/systemd/system/slurmd.service.d/ultracluster-directory.conf"]
    )
