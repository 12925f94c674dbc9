"""A machine for programs that install software: the root file system of this one under an overlay, with apt and dpkg.

Files and packages come from a local server, signed and with their checksums; the bucket is a directory behind a command
that accepts what the AWS CLI accepts. What is written stays in the overlay.
"""

import hashlib
import http.server
import io
import os
import shutil
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Mapping
from pathlib import Path

BIN = Path(__file__).parent / "bin"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ROOT = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
_ENTER = """
mount --types overlay overlay --options lowerdir=/,upperdir="$0/upper",workdir="$0/work" "$0/root"
mount --bind /dev "$0/root/dev"
mount --bind /proc "$0/root/proc"
cd "$0/root"
pivot_root . mnt
umount --lazy mnt
# Not in another root than that of the mounts, in which no user may have a namespace.
exec chroot . env --ignore-environment "$@"
"""


class Server:
    """A web server for files, which counts requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests.append(self.path)
                body = outer.files.get(os.path.normpath(self.path))
                start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
                # A file that is complete has no rest.
                if body is None or 0 < start >= len(body):
                    self.send_response(404 if body is None else 416)
                else:
                    self.send_response(206 if start else 200)
                sent = (body or b"")[start:]
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()

    def put(self, path: str, body: bytes) -> tuple[str, str]:
        """Serve a file, and return its URL and checksum."""
        self.files[path] = body
        return self.url + path, hashlib.sha256(body).hexdigest()


class Machine:
    """A machine that starts from the root file system of this one."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.upper = directory / "upper"
        for name in ("upper", "work", "root"):
            (directory / name).mkdir(parents=True)
        for program in BIN.iterdir():
            self.write(f"/usr/local/sbin/{program.name}", program.read_text(), 0o755)
        self.write("/calls", "")
        (self.upper / "bucket").mkdir()

    def write(self, path: str, text: str | bytes, mode: int = 0o644) -> None:
        """Write a file of the machine."""
        created = self.upper / path.lstrip("/")
        created.parent.mkdir(parents=True, exist_ok=True)
        # A link of the machine is one into the root of the host.
        created.unlink(missing_ok=True)
        created.write_bytes(text if isinstance(text, bytes) else text.encode())
        created.chmod(mode)

    def read(self, path: str) -> str:
        """Read a file that the machine wrote."""
        return (self.upper / path.lstrip("/")).read_text()

    def has(self, path: str) -> bool:
        """Report whether the machine wrote a file."""
        return (self.upper / path.lstrip("/")).is_file()

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the machine."""
        variables = [f"{name}={value}" for name, value in {"PATH": _PATH, **environment}.items()]
        entering = [*_ROOT, "unshare", "--mount", "bash", "-euc", _ENTER, str(self.directory)]
        return subprocess.run(
            [*entering, *variables, *command], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
        )

    def reboot(self) -> None:
        """Lose /run."""
        shutil.rmtree(self.upper / "run", ignore_errors=True)

    @property
    def calls(self) -> list[str]:
        """Commands that stand-ins were called with."""
        return self.read("/calls").splitlines()


class Repository:
    """A signed repository of packages, in the flat format of apt, on a server."""

    def __init__(self, server: Server, directory: Path, name: str) -> None:
        self.server = server
        self.folder = directory / name
        self.folder.mkdir(parents=True)
        self.name = name
        self.names: set[str] = set()
        self._packages: list[bytes] = []
        # The socket of its agent has a short path.
        self._gpg = ["gpg", "--homedir", str(self.folder), "--batch", "--quiet", "--pinentry-mode", "loopback"]
        self.folder.chmod(0o700)
        subprocess.run(
            [*self._gpg, "--passphrase", "", "--quick-gen-key", f"{name} <test@example.com>", "ed25519", "sign"],
            check=True,
            capture_output=True,
        )
        self.key = subprocess.run([*self._gpg, "--export"], check=True, capture_output=True).stdout

    @property
    def source(self) -> str:
        """Line of sources.list."""
        return f"deb [signed-by=/etc/apt/keyrings/{self.name}.gpg] {self.server.url}/{self.name} ./\n"

    def add(
        self, package: str, version: str = "99.0", depends: str = "", files: Mapping[str, str] | None = None
    ) -> bytes:
        """Build a package and add it to the repository."""
        self.names.add(package)
        tree = self.folder / f"{package}_{version.replace(':', '_')}"
        for path, text in (files or {}).items():
            created = tree / path.lstrip("/")
            created.parent.mkdir(parents=True, exist_ok=True)
            created.write_text(text)
            created.chmod(0o755)
        control = f"Package: {package}\nVersion: {version}\nArchitecture: all\nMaintainer: Test <test@example.com>\n"
        control += f"Depends: {depends}\n" if depends else ""
        control += "Description: Package of a test\n"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(control)
        built = Path(f"{tree}.deb")
        subprocess.run(
            ["dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, built], check=True, capture_output=True
        )
        body = built.read_bytes()
        _, checksum = self.server.put(f"/{self.name}/{built.name}", body)
        self._packages.append(f"{control}Filename: ./{built.name}\nSize: {len(body)}\nSHA256: {checksum}\n".encode())
        return body

    def publish(self) -> None:
        """Sign the list of packages."""
        packages = b"\n".join(self._packages)
        _, checksum = self.server.put(f"/{self.name}/Packages", packages)
        release = f"Date: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n {checksum} {len(packages)} Packages\n"
        signed = subprocess.run([*self._gpg, "--clearsign"], input=release.encode(), check=True, capture_output=True)
        self.server.put(f"/{self.name}/InRelease", signed.stdout)


def tarball(folder: str, files: Mapping[str, str]) -> bytes:
    """Return a compressed tarball with a folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{folder}/{path}")
            member.mode, member.size = 0o755, len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def zipped(files: Mapping[str, str]) -> bytes:
    """Return a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return packed.getvalue()
