"""A Python that has imported libraries already: it runs each program in a copy of itself.

    python warm_python.py NAME STATEMENTS

It executes the statements, which import the libraries. Each program that `start` sends then runs as in a new process of
Python: its arguments, environment, directory and files are those of the request. It ends when its input is closed.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

# Length of a number on a connection.
_DIGITS = 16


def start(address: str, words: list[str]) -> int:
    """Run a program with the arguments of Python, and the environment, directory and files of this process.

    Args:
        address: Name of the server's socket.
        words: Name of this program, which the copy starts where it starts Python, and the arguments.

    Returns:
        Its exit code, or that of a shell where a signal ended it.
    """
    request = {"words": words, "environment": dict(os.environ), "directory": os.getcwd()}
    received, receives = os.pipe()
    os.set_blocking(receives, False)
    signal.set_wakeup_fd(receives)
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), lambda *_: None)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{address}")
        socket.send_fds(connection, [b"\n"], [0, 1, 2])
        connection.sendall(json.dumps(request).encode() + b"\n")
        pid = int(connection.recv(_DIGITS))
        while connection.fileno() not in select.select([connection.fileno(), received], [], [])[0]:
            for number in os.read(received, 64):
                os.kill(pid, number)
        return int(connection.recv(_DIGITS))


def serve(address: str) -> dict[str, Any]:
    """Copy this process for each request until the input is closed.

    Returns:
        The request, in the copy.
    """
    gc.freeze()
    # The one of jemalloc, which pyarrow has, starts again in a copy.
    threads = {Path(f"/proc/self/task/{task}/comm").read_text().strip() for task in os.listdir("/proc/self/task")}
    assert threads - {"jemalloc_bg_thd"} == {Path("/proc/self/comm").read_text().strip()}, threads
    assert threading.active_count() == 1, "a copy has one thread"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{address}")
        listening.listen()
        print("ready", flush=True)
        while 0 not in select.select([listening.fileno(), 0], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                _, files, *_ = socket.recv_fds(connection, 1, 3)
                request: dict[str, Any] = json.loads(connection.makefile().readline())
                if (pid := os.fork()) == 0:
                    for number, file in enumerate(files):
                        os.dup2(file, number)
                        os.close(file)
                    connection.close()
                    return request
                _watch(pid, connection)
            connection.close()
            # Else their time is not that of this process.
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    with contextlib.suppress(ChildProcessError):
        while os.wait():
            pass
    os._exit(0)


def _watch(pid: int, connection: socket.socket) -> None:
    """Report the end of a program, or end it when its client has ended."""
    connection.sendall(f"{pid:{_DIGITS}}".encode())
    if connection.fileno() in select.select([connection.fileno(), os.pidfd_open(pid)], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.wait()[1])
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(f"{code if code >= 0 else 128 - code:{_DIGITS}}".encode())
    os._exit(0)


def run(request: dict[str, Any]) -> None:
    """Run a program as Python does: `[-u] [-W ignore] FILE|-c TEXT|-m MODULE [ARGUMENTS]`."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    sys.executable, *arguments = request["words"]
    while arguments[0] in ("-u", "-W"):
        if arguments.pop(0) == "-u":
            sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        else:
            warnings.simplefilter(arguments.pop(0))
    path = [name for name in os.environ.get("PYTHONPATH", "").split(":") if name]
    sys.path[1:1] = [name for name in path if name not in sys.path]
    sys.modules.pop("sitecustomize", None)
    importlib.import_module("sitecustomize")
    kind = arguments.pop(0) if arguments[0] in ("-c", "-m") else ""
    sys.path[0] = "" if kind else os.path.dirname(os.path.abspath(arguments[0]))
    sys.argv[:] = arguments
    if kind == "-c":
        sys.argv[0] = "-c"
        exec(compile(arguments[0], "<string>", "exec"), vars(sys.modules["__main__"]))
    elif kind == "-m":
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(arguments[0], run_name="__main__")


def finish(request: dict[str, Any]) -> None:
    """Run a program, and end as Python does, but for the clearing of all modules: a third of a second with PyTorch."""
    code: Any = 0
    try:
        run(request)
    except SystemExit as error:
        code = error.code
    except Exception:
        sys.excepthook(*sys.exc_info())
        code = 1
    if not isinstance(code, int | None):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((code or 0) & 0xFF)


if __name__ == "__main__":
    exec(sys.argv[2])
    finish(serve(sys.argv[1]))
