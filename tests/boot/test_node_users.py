"""The script that makes users, in bash, with stand-ins for what needs root or AWS."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.boot_scripts import boots
from support.clusterfile_data import bent
from ultracluster import clusterfile
from ultracluster.boot import User, scripts, user_lists, users_boot
from ultracluster.planning.nodes import RESERVED_USERS, USER_NAME

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH1111111111111111111111111111111111111111111 ada@home"
ADA = User(name="ada", uid=2001, ssh_keys=[KEY])
GRACE = User(name="grace", uid=2002)

# Each stand-in keeps a table of users, and notes what it was asked.
STAND_INS = {
    "aws": '[ ! -e "$T/aws-fails" ] || exit 255\nprintf "%s" "$(cat "$T/records")"; echo',
    "id": 'awk -v n="$2" \'$1 == n { print $2; found = 1 } END { exit !found }\' "$T/passwd"',
    "getent": 'grep "^$2:" "$T/group"',
    "groupadd": 'echo "groupadd $*" >>"$T/log"; ! grep -q "^$3:" "$T/group" || exit 9; echo "$3:x:$2:" >>"$T/group"',
    "useradd": '[ ! -e "$T/locked" ] || exit 1; grep -q ":$2:$" "$T/group" || exit 6\n'
    'echo "useradd $*" >>"$T/log"; eval "name=\\${$#}"; echo "$name $2" >>"$T/passwd"',
    "usermod": 'echo "usermod $1 [$2] ${*:3}" >>"$T/log"',
    # It fails for a user without a session.
    "loginctl": 'echo "loginctl $*" >>"$T/log"; exit 1',
    "chown": 'echo "chown $*" >>"$T/log"',
    "systemctl": 'echo "systemctl $*" >>"$T/log"',
    "sleep": ":",
}


class Node:
    """A node of stand-ins."""

    def __init__(self, room: Path) -> None:
        self.room, self.etc, self.home = room, room / "etc", room / "home"
        (room / "bin").mkdir()
        (self.etc / "ssh" / "sshd_config.d").mkdir(parents=True)
        (self.etc / "skel").mkdir()
        (self.etc / "skel" / ".bashrc").write_text("# hello\n")
        self.home.mkdir()
        for name in ("passwd", "group", "log", "records"):
            (room / name).touch()
        for name, body in STAND_INS.items():
            path = room / "bin" / name
            path.write_text(f"#!/bin/bash\n{body}\n")
            path.chmod(0o755)

    def run(self, *users: User, homes: str | None = None) -> subprocess.CompletedProcess[str]:
        # The AWS CLI parts values of a list with tabs.
        (self.room / "records").write_text("\t".join(user_lists(users)) or "None")
        (self.room / "log").write_text("")
        return subprocess.run(
            [
                *("bash", "-c", scripts.text("users.sh"), "users", "--path", "/ultracluster/llama/users"),
                *("--region", "x", "--homes", homes or str(self.home)),
            ],
            env={
                "PATH": f"{self.room}/bin:/usr/bin:/bin",
                "T": str(self.room),
                "ULTRACLUSTER_ETC": str(self.etc),
                "ULTRACLUSTER_ROOT": str(self.room),
            },
            capture_output=True,
            text=True,
            timeout=180,
        )

    @property
    def log(self) -> str:
        return (self.room / "log").read_text()

    @property
    def state(self) -> str:
        """State for the metric of the alert SoftwareMissing."""
        return (self.room / "run/ultracluster/software/users").read_text().strip()

    def key(self, name: str) -> Path:
        return self.etc / "ultracluster" / "authorized_keys" / name


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_users_are_made_with_their_numbers_homes_and_keys(node: Node) -> None:
    done = node.run(ADA, GRACE)
    assert done.returncode == 0, done.stderr
    assert "groupadd --gid 2001 ada" in node.log
    assert "useradd --uid 2002 --gid 2002" in node.log
    assert (node.home / "ada" / ".bashrc").exists()
    assert (node.home / "ada").stat().st_mode & 0o777 == 0o700
    assert node.key("ada").read_text().strip() == KEY
    assert node.key("grace").read_text().strip() == ""
    config = node.etc / "ssh" / "sshd_config.d" / "50-ultracluster.conf"
    assert "/etc/ultracluster/authorized_keys/%u" in config.read_text()


def test_a_second_run_changes_nothing(node: Node) -> None:
    node.run(ADA, GRACE)
    done = node.run(ADA, GRACE)
    assert (done.returncode, node.log) == (0, "")


def test_a_home_that_another_node_made_stays_as_it_is(node: Node) -> None:
    (node.home / "ada").mkdir()
    (node.home / "ada" / "thesis").write_text("mine")
    assert node.run(ADA).returncode == 0
    assert (node.home / "ada" / "thesis").read_text() == "mine"
    assert "chown" not in node.log


def test_a_key_that_leaves_the_list_opens_no_door(node: Node) -> None:
    node.run(ADA)
    node.run(User(name="ada", uid=2001))
    assert KEY not in node.key("ada").read_text()


def test_removed_users_are_locked_and_returning_users_unlocked(node: Node) -> None:
    node.run(ADA, GRACE)
    assert node.run(GRACE).returncode == 0
    assert "usermod --expiredate [1] --shell /usr/sbin/nologin ada" in node.log
    assert "loginctl terminate-user ada" in node.log
    assert not node.key("ada").exists()
    assert (node.home / "ada").is_dir()
    assert node.run(GRACE).returncode == 0
    assert node.log == ""
    node.run(ADA, GRACE)
    assert "usermod --expiredate [] --shell /bin/bash ada" in node.log
    assert node.key("ada").exists()


def test_the_last_user_can_leave(node: Node) -> None:
    node.run(ADA)
    assert node.run().returncode == 0
    assert "usermod --expiredate [1] --shell /usr/sbin/nologin ada" in node.log


def test_nobody_is_locked_when_the_list_cannot_be_read(node: Node) -> None:
    node.run(ADA)
    (node.room / "aws-fails").touch()
    done = node.run()
    assert done.returncode == 1
    assert "can't be read" in done.stderr
    assert node.log == ""
    assert node.key("ada").exists()


def test_a_boot_without_the_list_drains_the_node_until_the_timer_reads_it(node: Node) -> None:
    """A unit that failed would keep the boot, and so the node, failed until the next boot."""
    health = node.room / "run/ultracluster/health/users"
    (node.room / "aws-fails").touch()
    assert node.run(ADA).returncode == 0
    assert health.read_text() == "failed: the users can't be read from /ultracluster/llama/users\n"
    (node.room / "aws-fails").unlink()
    assert node.run(ADA).returncode == 0
    assert health.read_text() == "ok\n"
    (node.room / "aws-fails").touch()
    assert node.run(ADA).returncode == 1
    assert health.read_text() == "ok\n", "the node has its users"


def test_two_hundred_users_are_one_request_of_a_node_and_no_list_is_too_long(node: Node) -> None:
    """GetParametersByPath returns at most ten parameters."""
    users = [User(name=f"user{n:03}", uid=2001 + n, ssh_keys=[KEY]) for n in range(200)]
    lists = user_lists(users)
    assert len(lists) <= 10
    assert max(map(len, lists)) <= 4096
    assert "\n".join(lists).split("\n") == [user.record for user in users]
    few = users[:45]
    assert len(user_lists(few)) > 1
    done = node.run(*few)
    assert done.returncode == 0, done.stderr
    assert all(node.key(user.name).read_text().strip() == KEY for user in few)


def test_an_existing_user_with_another_uid_is_reported_and_unchanged(node: Node) -> None:
    (node.room / "passwd").write_text("ada 1005\n")
    done = node.run(ADA, GRACE)
    assert done.returncode == 0, "the node boots"
    assert node.state == "failed: ada has the number 1005 here, and 2001 in the cluster: left alone"
    assert "ada has the number 1005 here, and 2001 in the cluster" in done.stderr
    assert "useradd --uid 2002" in node.log
    assert not node.key("ada").exists()


def test_a_user_that_could_not_be_added_is_added_the_next_time(node: Node) -> None:
    """Another installer has the lock of /etc/passwd, when the group is there."""
    (node.room / "locked").touch()
    done = node.run(ADA)
    assert (done.returncode, "ada can't be made" in done.stderr) == (0, True)
    assert node.state == "failed: ada can't be made with the number 2001"
    (node.room / "locked").unlink()
    done = node.run(ADA)
    assert (done.returncode, node.state) == (0, "ok"), done.stderr
    assert node.key("ada").exists()


def test_a_group_of_the_image_with_the_name_of_a_user_is_named(node: Node) -> None:
    (node.room / "group").write_text("ada:x:990:\n")
    done = node.run(ADA, GRACE)
    assert done.returncode == 0, "the node boots"
    assert "ada is a group of this image with the number 990: take another name" in done.stderr
    assert node.key("grace").exists()


def test_a_home_has_its_name_once_it_is_the_users(node: Node) -> None:
    """A node that ends in between leaves nothing that another node would take for a home."""
    (node.room / "bin" / "chown").write_text('#!/bin/sh\nkill -KILL "$PPID"\n')
    node.run(ADA)
    assert not (node.home / "ada").exists()
    (node.room / "bin" / "chown").write_text('#!/bin/sh\necho "chown $*" >>"$T/log"\n')
    assert node.run(ADA).returncode == 0
    assert "chown -R 2001:2001" in node.log
    assert (node.home / "ada" / ".bashrc").exists()
    assert [path.name for path in node.home.iterdir()] == ["ada"]


def test_homes_are_on_the_shared_file_system_wherever_it_is_mounted(node: Node) -> None:
    home = bent("40 GB/s}", "40 GB/s}, home: {mount: /users}") + "slurm: {users: {ada: {uid: 2001}}}\n"
    groups = [files for files, _ in boots(clusterfile.loads(home, "c.yaml")).values()]
    commands = {
        next(
            line.partition(" ")[2]
            for line in files["etc/systemd/system/ultracluster-users.service"].splitlines()
            if line.startswith("ExecStart=")
        )
        for files in groups
    }
    assert {files["etc/ultracluster/shared"] for files in groups} == {"/fsx\n"}, "and data of jobs on Lustre"
    assert commands == {"--path /ultracluster/llama/users --region us-east-2 --homes /users"}, "login nodes too"
    (node.room / "users").mkdir()
    assert node.run(ADA, homes=f"{node.room}/users").returncode == 0
    assert f"--home-dir {node.room}/users/ada" in node.log
    assert (node.room / "users" / "ada" / ".bashrc").exists()
    assert not (node.home / "ada").exists()


def test_a_user_whose_directory_another_user_took_does_not_fail_the_boot(node: Node) -> None:
    program = node.room / "usr/local/sbin/ultracluster-user-directories"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/bash\necho "directories $*" >>"$T/log"\nexit 1\n')
    program.chmod(0o755)
    assert node.run(ADA, GRACE).returncode == 0
    assert "directories 2001 2002" in node.log


def test_users_are_there_before_slurm_starts() -> None:
    files = {file.path: file.text for file in users_boot(cluster="llama", region="us-east-2", homes="/home").files}
    assert "After=ultracluster-users.service" in files["/etc/systemd/system/slurmd.service.d/ultracluster-users.conf"]
    unit = files["/etc/systemd/system/ultracluster-users.service"]
    assert "ultracluster-users --path /ultracluster/llama/users --region us-east-2 --homes /home" in unit


@pytest.mark.parametrize(
    ("name", "uid", "keys", "message"),
    [
        ("root", 2001, [], "root is a user or a group of the image"),
        ("render", 2001, [], "render is a user or a group of the image"),
        ("Ada", 2001, [], "lower-case"),
        ("a" * 33, 2001, [], "1 to 32"),
        ("ada", 0, [], "2000 to 59999"),
        ("ada", 65534, [], "2000 to 59999"),
        ("ada", 2001, ["ssh-dss AAAA"], "must hold public keys"),
        ("ada", 2001, [KEY + "\nssh-rsa x"], "must hold public keys"),
        ("ada", 2001, ['command="x" ' + KEY], "must hold public keys"),
        ("ada", 2001, [KEY] * 60, "4,096"),
    ],
)
def test_rejects_users_that_no_node_would_make(name: str, uid: int, keys: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        User(name=name, uid=uid, ssh_keys=keys)


def test_no_user_has_the_name_of_a_group_of_debian() -> None:
    """Of which no node could make the group."""
    groups = [line.split(":")[0] for line in Path("/usr/share/base-passwd/group.master").read_text().splitlines()]
    assert "staff" in groups
    assert set(groups) <= set(RESERVED_USERS)


@given(st.from_regex(USER_NAME, fullmatch=True), st.integers(2000, 59_999), st.booleans())
def test_a_record_is_one_line_that_splits_as_the_script_splits_it(name: str, uid: int, has_key: bool) -> None:
    try:
        user = User(name=name, uid=uid, ssh_keys=[KEY] if has_key else [])
    except ValueError:
        return
    head, *keys = user.record.split("|")
    assert head.split() == [name, str(uid)]
    assert keys == ([KEY] if has_key else [])
    assert not set(user.record) & set("\t\n")
