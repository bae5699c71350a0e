"""The process in which a student's cells run: it sees no check and no other file.

    python answer.py folder data-folder limits-as-JSON          the examiner starts it

It shuts itself in, runs the cells that it is sent, and calls the functions that they
define; what it sends back is data (channel.py). Whatever an answer does here, it does
to nobody else: the points are given by the examiner (worker.py), in another process.

On Linux, started under `unshare`, it has no network and a file system of its own, in
which there are Python, its packages and pe_lib, to be read, and a small folder in
memory. Elsewhere the limits of time, memory, files and processes remain.
"""

import _thread
import contextlib
import ctypes
import json
import os
import shutil
import signal
import struct
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from course.channel import Channel, Gone, decode, encode, gradients

MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND = 1, 2, 32, 4096
MS_REC, MS_PRIVATE = 2**14, 2**18
KEPT_FLAGS = 2 | 4 | 8 | 1024 | 2048  # nosuid, nodev, noexec, noatime, nodiratime
MNT_DETACH = 2
PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 22, 24, 38
READABLE = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/ld.so.cache")
REFUSED = {  # by the machine: its name, clone, mmap, and calls by their numbers
    "x86_64": (0xC000003E, 56, 9, (29, 64, 68, 240, 278, 319, 323, 425, 447,
               57, 58, 41, 272, 206, 248, 250, 298, 321)),
    "aarch64": (0xC00000B7, 220, 222, (194, 190, 186, 180, 75, 279, 282, 425, 447,
                198, 97, 0, 217, 219, 241, 280)),
}  # fmt: skip
"""Memory of no process: shmget, semget, msgget, mq_open, vmsplice, memfd_create,
userfaultfd, io_uring_setup, memfd_secret. Then fork and vfork, which aarch64 lacks,
socket, which also reaches the host of a virtual machine, unshare, io_setup, add_key,
keyctl, perf_event_open, bpf."""
CLONE3 = 435
DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")


class TooLong(BaseException):
    """A cell ran out of time. No Exception: an answer may catch those."""


def shut_in(root: Path, data: Path, book: Path) -> None:
    """A file system of one's own, and no right to leave it."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str, *arguments: Any) -> None:
        given = [os.fsencode(a) if isinstance(a, (str, Path)) else a for a in arguments]
        if getattr(libc, name)(*given):
            raise OSError(ctypes.get_errno(), f"{name} {arguments}")

    def show(path: str) -> None:
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if Path(path).is_symlink():
            place.symlink_to(Path(path).readlink())
            return
        place.mkdir(exist_ok=True) if Path(path).is_dir() else place.touch()
        call("mount", path, place, None, MS_BIND | MS_REC, None)
        kept = os.statvfs(place).f_flag & KEPT_FLAGS | MS_RDONLY
        call("mount", None, place, None, MS_REMOUNT | MS_BIND | kept, None)

    call("mount", None, "/", None, MS_REC | MS_PRIVATE, None)
    call("mount", "tmpfs", root, "tmpfs", MS_NOSUID, b"size=128m,nr_inodes=20000")
    shown = {*READABLE, *DEVICES, sys.prefix, sys.base_prefix, f"{book}/pe_lib"}
    for path in sorted(shown):
        if Path(path).exists() and not (root / path.lstrip("/")).exists():
            show(path)
    home = root / "home"
    shutil.copytree(data, home)
    (root / "tmp").mkdir(exist_ok=True)
    (root / "proc").mkdir()
    with contextlib.suppress(OSError):  # some containers do not allow it
        call("mount", "proc", root / "proc", "proc", MS_NOSUID | MS_RDONLY, None)
    (root / "old").mkdir()
    call("pivot_root", root, root / "old")
    os.chdir("/home")
    call("umount2", "/old", MNT_DETACH)
    Path("/old").rmdir()
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    version_3 = (0x20080522).to_bytes(4, "little") + bytes(4)
    call("capset", ctypes.create_string_buffer(version_3), bytes(24))
    if os.uname().machine in REFUSED:
        rules = refusing(*REFUSED[os.uname().machine])
        held = ctypes.create_string_buffer(rules)
        given = struct.pack("HxxxxxxQ", len(rules) // 8, ctypes.addressof(held))
        call("prctl", PR_SET_SECCOMP, 2, given, 0, 0)


def refusing(machine: int, clone: int, mmap: int, calls: tuple[int, ...]) -> bytes:
    """Rules for the system: no second process, no memory that counts with none."""
    load, equal, some, give = 0x20, 0x15, 0x45, 0x06  # some: any of these bits
    no, unknown, yes = 0x50001, 0x50026, 0x7FFF0000
    rules = [(load, 0, 0, 4), (equal, 1, 0, machine), (give, 0, 0, no)]
    rules += [(load, 0, 0, 0), (0x35, 0, 1, 2**30), (give, 0, 0, no)]
    for number in calls:
        rules += [(equal, 0, 1, number), (give, 0, 0, no)]
    rules += [(equal, 0, 1, CLONE3), (give, 0, 0, unknown)]  # then clone is asked
    rules += [(equal, 0, 4, clone), (load, 0, 0, 16), (some, 1, 0, 0x10000)]
    rules += [(give, 0, 0, no), (give, 0, 0, yes)]  # a thread alone
    rules += [(equal, 0, 5, mmap), (load, 0, 0, 40), (some, 2, 0, 0x100)]  # no stack
    rules += [(0x54, 0, 0, 0x21), (equal, 0, 1, 0x21)]  # shared, and of no file
    rules += [(give, 0, 0, no), (give, 0, 0, yes)]
    return b"".join(struct.pack("HBBI", *rule) for rule in rules)


def limit(limits: dict[str, int]) -> None:
    """Let the system stop what takes too much, where it can."""
    try:
        import resource
    except ImportError:  # Windows has no such limits: the examiner's clock remains
        return
    wanted = {
        "CPU": limits["seconds"],
        "AS": limits["addresses"] * 2**20,
        "DATA": limits["megabytes"] * 2**20,
        "FSIZE": 32 * 2**20,
        "NOFILE": 64,
        "NPROC": limits["processes"],
        "CORE": 0,
    }
    for name, most in wanted.items():
        if hasattr(resource, f"RLIMIT_{name}"):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def no_network() -> None:
    """Refuse connections in words, and also where the system has a network."""
    import socket

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise OSError("there is no network while an answer is graded")

    for name in ("connect", "connect_ex", "bind", "sendto"):
        setattr(socket.socket, name, refuse)
    setattr(socket, "getaddrinfo", refuse)  # noqa: B010 (its type is a function's)


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Stop what takes longer."""

    def stop(*_: Any) -> NoReturn:
        raise TooLong(f"stopped after {seconds} seconds")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(text: str, names: dict[str, Any], seconds: int) -> str:
    """Run a cell; what is wrong with it, or nothing."""
    try:
        with at_most(seconds):
            exec(compile(text, "<cell>", "exec"), names)
    except AssertionError as problem:
        return str(problem) or "a check failed"
    except NotImplementedError as problem:
        return f"not answered yet: {problem}"
    except TooLong as problem:
        return str(problem)
    except Gone:
        raise
    except BaseException as problem:
        return f"{type(problem).__name__}: {problem}"
    return ""


class Answers:
    """What a student's cells define, and the examiner's calls of it."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.lent: list[Any] = []
        self.threads = _thread._count()
        self.made: list[tuple[Any, Any]] = []

    def lend(self, value: Any) -> int:
        """A number by which the examiner calls it."""
        self.lent.append(value)
        return len(self.lent) - 1

    def borrow(self, data: dict[str, Any]) -> Any:
        """A function of the examiner's, to be called from here."""
        number = data["number"]

        def function(*given: Any, **named: Any) -> Any:
            self.channel.send({"call": number, **self.packed(given, named)})
            while "value" not in (reply := self.channel.receive()):
                if "error" in reply:
                    raise RuntimeError(reply["error"])
                self.serve(reply)
            return decode(reply["value"], self.borrow)

        return function if data["kind"] == "function" else data["name"]

    def packed(self, given: Any, named: Any) -> dict[str, Any]:
        """Arguments, ready to travel."""
        return {"given": encode(given, self.lend), "named": encode(named, self.lend)}

    def serve(self, request: dict[str, Any]) -> None:
        """Answer one question of the examiner."""
        if "run" in request:
            problem = run(request["run"], self.names, request["seconds"])
            self.channel.send({"problem": problem[:2000]})
            return
        try:
            if "left" in request:
                reply: dict[str, Any] = {"value": _thread._count() - self.threads}
            elif "names" in request:
                known = {n: self.names[n] for n in request["names"] if n in self.names}
                value = {n: encode(v, self.lend) for n, v in known.items()}
                reply = {"value": value}
            elif "pull" in request:
                reply = {"value": self.pulled(request)}
            else:
                reply = self.called(request)
            self.channel.send(reply)
        except BaseException as problem:
            about = [type(problem).__name__, str(problem)[:2000]]
            self.channel.send({"error": about})

    def called(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a function of the answer gives."""
        given = decode(request["given"], self.borrow)
        named = decode(request["named"], self.borrow)
        value = self.lent[request["call"]](*given, **named)
        reply: dict[str, Any] = {"value": encode(value, self.lend)}
        if (tensors := gradients([given, named])) and gradients(value):
            self.made.append((tensors, value))
            reply["pull"] = len(self.made) - 1
        return reply

    def pulled(self, request: dict[str, Any]) -> Any:
        """How the gradient of a tensor that was given goes on to the arguments."""
        import torch

        tensors, value = self.made[request["pull"]]
        gradient = decode(request["gradient"], self.borrow)
        found = torch.autograd.grad(value, tensors, gradient, allow_unused=True)
        return encode(list(found), self.lend)


def main() -> None:
    """Shut the door, then do what is asked."""
    root, data, book = map(Path, sys.argv[1:4])
    if sys.argv[4] == "try":
        shut_in(root, data, book)
        return
    limits = json.loads(sys.argv[4])
    streams = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    no_network()
    warnings.simplefilter("ignore")
    if limits["apart"]:
        shut_in(root, data, book)
    limit(limits)
    answers = Answers(Channel(*streams))
    while True:
        answers.serve(answers.channel.receive())


if __name__ == "__main__":
    main()
