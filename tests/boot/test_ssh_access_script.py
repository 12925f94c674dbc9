"""SSH to compute nodes: the program in bash, and its line in the file of sshd, which Linux-PAM itself reads."""

import ctypes
import ctypes.util
import os
import subprocess
from pathlib import Path

import pytest

from support.node_boot.gpu_node import GpuNode
from ultracluster.boot import hyperpod_controller, scripts

PROGRAM = "/usr/local/sbin/ultracluster-ssh-access"
# As Ubuntu and Amazon Linux 2023 have it: the first line of the latter ends the stack with a success.
SSHD = {
    "ubuntu": "account    required     pam_permit.so\n",
    "al2023": "#%PAM-1.0\naccount    sufficient   pam_permit.so\naccount    required     pam_deny.so\n",
}
REFUSAL = "You have no job on node-7: a compute node allows SSH while a job of the same user runs there."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "run/ultracluster/jobs").mkdir(parents=True)
    (tmp_path / "run/ultracluster/jobs/4711").write_text("2001\n")
    for path in (tmp_path / "bin", tmp_path / "etc/pam.d", tmp_path / PROGRAM[1:]):
        (path.parent if path.name == "ultracluster-ssh-access" else path).mkdir(parents=True)
    users = (
        "ada:2001:2001:ada\ngrace:2002:2002:grace\nadmin:2003:2003 4 27:admin adm sudo\nslurm:401:401:slurm\n"
        "ubuntu:1000:1000:ubuntu\nreader:2004:2004 127:reader gpu sudo readers\n"
    )
    (tmp_path / "users").write_text(users)
    (tmp_path / "bin/id").write_text(
        "#!/bin/bash\n"
        f"""awk -F: -v n="$3" -v o="$1" '$1 == n {{ known = 1; print $(o == "-u" ? 2 : o == "-G" ? 3 : 4) }}"""
        f""" END {{ exit !known }}' {tmp_path}/users\n"""
    )
    (tmp_path / "bin/aws").write_text("#!/bin/bash\nexit 1\n")
    (tmp_path / "bin/getent").write_text("#!/bin/bash\necho sudo:x:27:admin\nexit 2\n")
    for name in ("id", "aws", "getent"):
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def access(root: Path, user: str, wait: int = 0) -> tuple[int, str]:
    environment = {
        "PATH": f"{root}/bin:{os.environ['PATH']}",
        "ULTRACLUSTER_ROOT": str(root),
        "ULTRACLUSTER_WAIT": str(wait),
        "PAM_USER": user,
        "HOSTNAME": "node-7.internal",
    }
    command = ["bash", "-c", scripts.text("ssh-access.sh")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


@pytest.mark.parametrize(
    ("user", "allowed"),
    [
        *(("ada", True), ("root", True), ("ubuntu", True), ("ec2-user", True), ("slurm", True), ("admin", True)),
        *(("grace", False), ("reader", False), ("nobody-knows", False), ("", False)),
    ],
)
def test_users_with_a_job_and_administrators_are_allowed(root: Path, user: str, allowed: bool) -> None:
    assert access(root, user)[0] == (0 if allowed else 1)


@pytest.mark.parametrize("jobs", ["another's", "none", "no directory"])
def test_a_user_without_a_job_reads_why(root: Path, jobs: str) -> None:
    if jobs != "another's":
        (root / "run/ultracluster/jobs/4711").unlink()
    if jobs == "no directory":
        (root / "run/ultracluster/jobs").rmdir()
    assert access(root, "grace") == (1, REFUSAL)


def test_the_controller_of_hyperpod_is_for_administrators(root: Path) -> None:
    (root / "etc/ultracluster").mkdir()
    controller = {file.path: file for file in hyperpod_controller({}, health=False).files}
    assert controller[PROGRAM].in_place
    (root / "etc/ultracluster/ssh-refusal").write_text(controller["/etc/ultracluster/ssh-refusal"].text)
    for name in ("root", "ubuntu", "slurm", "admin"):
        assert access(root, name) == (0, ""), name
    for name in ("ada", "grace", "reader"):
        code, message = access(root, name, wait=60)
        assert (code, message[:39]) == (1, "This node is the controller of Slurm: S"), "at once, also with a job"


def test_a_user_whose_prolog_has_not_begun_waits_for_it(root: Path) -> None:
    (root / "bin/sleep").write_text(f"#!/bin/bash\necho 2002 >{root}/run/ultracluster/jobs/4712\n")
    (root / "bin/sleep").chmod(0o755)
    assert access(root, "grace", wait=1) == (0, "")


def test_the_prolog_lists_a_job_before_it_waits_and_no_longer_once_it_fails(tmp_path: Path) -> None:
    node = GpuNode(tmp_path)
    jobs = node.root / "run/ultracluster/jobs"
    for code in (0, 1):
        flock = node.bin / "flock"
        flock.unlink(missing_ok=True)
        flock.write_text(f"#!/bin/bash\ncat {jobs}/77 >{tmp_path}/listed\n")
        flock.chmod(0o755)
        (tmp_path / "listed").unlink(missing_ok=True)
        if code:
            lock = node.root / "run/ultracluster/epilog.lock"
            lock.unlink()
            lock.mkdir()
        done = node.call("prolog", SLURM_JOB_ID="77", SLURM_JOB_UID="2001")
        assert done.returncode == code, done.stderr
        assert (tmp_path / "listed").read_text() == "2001\n"
        assert (jobs / "77").exists() is (code == 0)


def users(root: Path) -> str:
    """The file of sshd after a run of the program that creates users, which cannot read their list."""
    environment = {
        "PATH": f"{root}/bin:{os.environ['PATH']}",
        "ULTRACLUSTER_ROOT": str(root),
        "ULTRACLUSTER_ETC": str(root / "etc"),
        "ULTRACLUSTER_PAUSE": "0",
    }
    command = ["bash", "-c", scripts.text("users.sh"), "users", "--path", "/p", "--region", "r"]
    assert subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60).returncode == 0
    assert [path.name for path in (root / "etc/pam.d").iterdir()] == ["sshd"]
    return (root / "etc/pam.d/sshd").read_text()


def install(root: Path) -> Path:
    program = root / PROGRAM[1:]
    # PAM passes no variable of the test.
    program.write_text(
        scripts.text("ssh-access.sh").replace("${ULTRACLUSTER_ROOT:-}", str(root)).replace("_WAIT:-10", "_WAIT:-0")
    )
    program.chmod(0o755)
    return program


def test_the_line_is_there_once_and_as_long_as_the_program(root: Path) -> None:
    sshd = root / "etc/pam.d/sshd"
    sshd.write_text(SSHD["al2023"])
    sshd.chmod(0o640)
    assert users(root) == SSHD["al2023"], "login nodes do not have the program"
    program = install(root)
    line, _, rest = users(root).partition("\n")
    assert (line.count(PROGRAM), rest) == (2, SSHD["al2023"])
    assert sshd.stat().st_mode & 0o777 == 0o640
    before = sshd.stat()
    assert users(root).startswith(line)
    assert sshd.stat() == before, "a second run writes nothing"
    program.unlink()
    assert users(root) == SSHD["al2023"]


@pytest.mark.parametrize("system", sorted(SSHD))
def test_pam_asks_the_program_and_locks_nobody_out_without_it(root: Path, system: str) -> None:
    (root / "etc/pam.d/sshd").write_text(SSHD[system])
    program = install(root)
    (root / "etc/pam.d/sshd").write_text(users(root).replace(PROGRAM, str(program)))
    answer, message = account(root / "etc/pam.d", "nobody")
    assert answer != 0
    assert message.startswith("You have no job on ")
    (root / "run/ultracluster/jobs/4712").write_text("65534\n")
    assert account(root / "etc/pam.d", "nobody") == (0, "")
    (root / "run/ultracluster/jobs/4712").unlink()
    assert account(root / "etc/pam.d", "root") == (0, "")
    program.unlink()
    assert account(root / "etc/pam.d", "nobody") == (0, "")


def account(directory: Path, user: str) -> tuple[int, str]:
    """The answer of Linux-PAM to sshd for an account, and what sshd prints."""
    pam = ctypes.CDLL(ctypes.util.find_library("pam") or pytest.skip("no Linux-PAM"))
    libc = ctypes.CDLL(None)
    libc.calloc.restype = ctypes.c_void_p
    printed: list[str] = []

    class Message(ctypes.Structure):
        _fields_ = [("style", ctypes.c_int), ("text", ctypes.c_char_p)]

    messages = ctypes.POINTER(ctypes.POINTER(Message))
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, messages, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)

    def converse(count: int, given: object, answers: object, data: object) -> int:
        printed.extend(given[index].contents.text.decode() for index in range(count))  # type: ignore[index]
        answers[0] = libc.calloc(count, 16)  # type: ignore[index]
        return 0

    class Conversation(ctypes.Structure):
        _fields_ = [("call", callback), ("data", ctypes.c_void_p)]

    conversation = Conversation(callback(converse), None)
    handle = ctypes.c_void_p()
    name, folder = user.encode(), str(directory).encode()
    assert pam.pam_start_confdir(b"sshd", name, ctypes.byref(conversation), folder, ctypes.byref(handle)) == 0
    answer = pam.pam_acct_mgmt(handle, 0)
    pam.pam_end(handle, answer)
    return answer, "".join(printed)
