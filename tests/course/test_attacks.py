"""Answers that were written to harm: each costs its own points, and nothing else.

Below each of them stands a right answer, which must get its points. What they must not
find lies where it lies when a class is graded.
"""

import contextlib
import json
import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from course import from_browser, graders, kit, report, worker
from website import editions, manuscript

PAGE = manuscript.read().pages["book/sinusoidal/rotation"]
LIMITS = report.Limits(seconds=40, cell_seconds=2)
RIGHT = graders.Exercises(PAGE).solutions
ATTACKED, SPARED = list(RIGHT)[:3], list(RIGHT)[3]
EACH = 24  # cells of a notebook
ABOVE = """import numpy as np
from pe_lib import shift_matrix, sinusoidal
def close(A, B):
    return np.abs(A - B).max() < 1e-12"""
"""All that the checks of PAGE rest on; its own cells load SymPy, for each attack."""
FORGED = b'{"done": "ex-net-shift", "message": ""}\n'
STEAL = f"""
import json
for cell in json.load(open({str(PAGE.path)!r}))["cells"]:
    source = "".join(cell["source"])
    if "return" in source:
        exec(source)
"""
GRAB = (
    "import gc, channel, signal\n"
    "end = [x for x in gc.get_objects() if isinstance(x, channel.Channel)][0]\n"
    "signal.alarm(0)\nend.send({'problem': ''})\n"
)
APART = (
    "import ctypes, os, time\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "def allowed(code):\n    if code < 0: raise OSError(ctypes.get_errno(), 'no')\n"
)
BUSY = (
    "import os, time\nfor _ in range({}):\n    if os.fork() == 0:\n"
    "        os.setsid()\n"
    "        os.execv('/bin/sh', ['sh', '-c', 'while :; do :; done'])\n"
    "time.sleep(100)"
)

QUICK = {
    "leaves": "import os\nos._exit(0)",
    "kills itself": "import os\nos.kill(os.getpid(), 9)",
    "kills all": "import os\nos.kill(-1, 9)",
    "crashes": "import ctypes\nctypes.string_at(0)",
    "leaves a child": "import os, time\nif os.fork() == 0:\n    time.sleep(1000)",
    "leaves a thread": (
        "import os, threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.5), os._exit(1))).start()"
    ),
    "closes all files": "import os\nos.closerange(0, 256)",
    "forges a result": (
        f"import os\nfor fd in range(256):\n    try: os.write(fd, {FORGED!r})\n"
        "    except OSError: pass"
    ),
    "forges a reply": (
        "import channel, gc\n"
        "ends = [x for x in gc.get_objects() if isinstance(x, channel.Channel)]\n"
        "for reply in ({'problem': ''}, {'value': {}}, {'value': 0}, {'call': 0}):\n"
        "    ends[0].send(reply)"
    ),
    "says what is no value": (
        "import channel, gc\n"
        "ends = [x for x in gc.get_objects() if isinstance(x, channel.Channel)]\n"
        "value = {'kind': 'array', 'type': 'O', 'shape': [], 'data': 0}\n"
        "ends[0].send({'value': value})"
    ),
    "is not alone in memory": "x = [bytearray(10**8) for _ in range(10**4)]",
    "lifts the limits": (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))\nx = bytearray(10**10)"
    ),
    "patches Python": (
        "import builtins\nbuiltins.AssertionError = builtins.__import__ = None"
    ),
    "imports the grader": (
        "import worker, report\nworker.checked = lambda *_: ''\n"
        "first, second = 9, -4\nshift_halves = offset_of = None"
    ),
    "looks at frames": (
        "import sys\nframe = sys._getframe()\nwhile frame.f_back:\n"
        "    frame = frame.f_back\n    frame.f_locals.update(problem='')\n"
        "print(frame.f_locals['exercise'])"
    ),
    "is equal to all": (
        "class Same:\n    __eq__ = __le__ = __ge__ = lambda *_: True\n"
        "    __iter__ = lambda self: iter([])\n"
        "first = second = shift_halves = offset_of = Same()"
    ),
    "is a pickle": (
        "class P:\n    def __reduce__(self):\n        return print, ('read',)\n"
        "first = second = shift_halves = offset_of = P()"
    ),
    "is a deep list": (
        "first = []\nfor _ in range(10**5):\n    first = [first]\n"
        "second = shift_halves = offset_of = first"
    ),
    "is a large array": "first = second = shift_halves = offset_of = np.zeros(10**7)",
    "has no end": (
        "import itertools\n"
        "first = second = shift_halves = offset_of = itertools.count()"
    ),
    "is a long range": "first = second = shift_halves = offset_of = range(10**15)",
    "fills the disk": (
        "for n in range(100):\n    open(f'{n}', 'wb').write(bytes(10**7))"
    ),
    "deletes all": "import shutil\nshutil.rmtree('/', ignore_errors=True)",
    "writes the report": (
        "import pathlib\nfor name in ('report.csv', 'ada.ipynb'):\n"
        "    pathlib.Path({folder!r}, name).write_text('me, all points')"
    ),
    "reads the solution": STEAL,
    "reads the secret": "open({folder!r} + '/class.yml').read()",
    "looks at the machine": (
        "import os\nassert len(os.listdir('/proc')) > 99\nos.listdir('/root')"
    ),
    "mounts": (
        "import subprocess\n"
        "subprocess.run(['mount', '-t', 'tmpfs', 'p', '/usr'], check=True)"
    ),
    "calls the host": "import socket\nsocket.socket(40, socket.SOCK_STREAM)",
    "prints": "for _ in range(100):\n    print('x' * 10**6)",
    "is no Python": "(" * 10**5,
    "is many": BUSY.format(50),
    "leaves its group": (
        APART + "libc.prctl(1, 0)\nos.setsid()\nif os.fork() == 0:\n"
        "    os.setsid()\n    os.execvp('sleep', ['sleep', '1234'])"
    ),
    "hides memory in files": "import os\nos.memfd_create('x')",
    "hides memory of System V": APART + "allowed(libc.shmget(0, 10**8, 0o1600))",
    "hides memory in semaphores": APART + "allowed(libc.semget(0, 32000, 0o600))",
    "hides memory in messages": APART + "allowed(libc.msgget(0, 0o600))",
    "hides memory in a pipe": (
        APART + "r, w = os.pipe()\nv = (ctypes.c_size_t * 2)(id(v := 7), 1)\n"
        "allowed(libc.vmsplice(w, v, 1, 2))"
    ),
    "hides memory in a ring": APART + "allowed(libc.syscall(425, 8, bytes(120)))",
    "hides memory in a stack": "import mmap\nmmap.mmap(-1, 10**8, flags=0x122)",
    "hides memory that is shared": "import mmap\nmmap.mmap(-1, 10**8)",
    "hides in a namespace": APART + "allowed(libc.unshare(0x30000000))",
    "turns a screw of the kernel": (
        "import os\nos.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)"
    ),
    "turns a device": "import os\nos.chmod('/dev/null', 0o666)",
    "collides": (
        GRAB
        + "same = {'kind': 'set', 'items': [(2**61 - 1) * n for n in range(35_000)]}"
        "\nwhile True:\n    names = end.receive().get('names', ())\n"
        "    end.send({'value': {name: same for name in names}})"
    ),
    "is long and empty": "\n" * 30_000 + "raise ValueError('os')",
    "errs when asked what is left": (
        GRAB + "while True:\n    asked = end.receive()\n"
        "    names = {'value': {n: 0 for n in asked.get('names', ())}}\n"
        "    end.send({'error': ['ValueError', 'x']} if 'left' in asked else names)"
    ),
    "errs in no words": GRAB
    + "while True:\n    end.receive()\n    end.send({'error': 7})",
    "is a bomb of JSON": (
        "import gc, channel\n"
        "end = [x for x in gc.get_objects() if isinstance(x, channel.Channel)][0]\n"
        "body = b'{\"x\":[' + b'{\"\":0},' * 4_500_000 + b'0]}'\n"
        "frame = len(body).to_bytes(4, 'big') + body\n"
        "end.write.write(len(frame).to_bytes(4, 'big') + frame)\nend.write.flush()"
    ),
}
ERRORS = dict.fromkeys(
    (name for name in QUICK if name.startswith("hides")), "[Errno 1] "
) | {
    "is many": "[Errno 1] ",
    "calls the host": "[Errno 1] ",
    "leaves a child": "[Errno 1] ",
    "turns a screw of the kernel": "Read-only",
    "turns a device": "Read-only",
    "is a bomb of JSON": "more than an answer",
    "collides": "after 2 seconds",
}
"""Of what is refused for a reason: the reason."""
SLOW = {
    "is busy on the side": BUSY.format(9),
    "never ends": (
        "while True:\n    try:\n        pass\n    except BaseException:\n        pass"
    ),
    "ignores the clock": (
        "import signal\nsignal.alarm(0)\n"
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True: pass"
    ),
    "is busy outside Python": "x = 9 ** 9 ** 9",
    "sleeps": "import time\nwhile True:\n    try: time.sleep(1000)\n    except: pass",
    "forks": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "fills memory by children": (
        "import os, time\nfor _ in range(20):\n    if os.fork() == 0:\n"
        "        x = b'1' * (4 * 10**8)\n        time.sleep(1000)\ntime.sleep(1000)"
    ),
    "floods standard error": "import os\nwhile True:\n    os.write(2, b'x' * 10**6)",
    "floods the channel": (
        "import os\nwhile True:\n    for fd in range(3, 20):\n"
        "        try: os.write(fd, b'x' * 10**6)\n        except OSError: pass"
    ),
    "answers for ever": (
        "def shift_halves(*_):\n    while True: pass\n"
        "offset_of = shift_halves\nfirst = second = shift_halves"
    ),
}


def grade(folder: Path, attacks: dict[str, str]) -> dict[str, list[str]]:
    """What the check says of each attack, and then of the right answer below it."""
    kit.write(filled(RIGHT), folder / "ada.ipynb")
    (folder / "class.yml").write_text("term: t\nsecret: s3cret\n", encoding="utf-8")
    real = report.plan(kit.short(PAGE), LIMITS, report.Whose("ada"))
    exercises, given = {}, dict[str, str]()
    for number, (name, attack) in enumerate(attacks.items()):
        label = ATTACKED[number % len(ATTACKED)]
        given[name] = attack.replace("{folder!r}", repr(str(folder)))
        given[f"{name}, then"] = RIGHT[SPARED]
        exercises[name] = real["exercises"][label]
        exercises[f"{name}, then"] = real["exercises"][SPARED]
    report.plan = lambda *_: real | {"above": [ABOVE], "exercises": exercises}
    names, files = list(given), []
    for start in range(0, len(names), EACH):
        files.append(folder / f"s{start:03}.ipynb")
        cells = [f"# Your answer to {n}\n{given[n]}" for n in names[start:][:EACH]]
        kit.write({"cells": [code(text) for text in cells]}, files[-1])
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with ThreadPoolExecutor(2) as pool:
        graded = [*pool.map(work, files)]
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    messages = {name: message for found in graded for name, message in found.items()}
    print(*messages.items(), sep="\n")
    assert "s3cret" not in str(messages) and len(messages) == len(given)
    return {name: [messages[name], messages[f"{name}, then"]] for name in attacks}


def work(path: Path) -> dict[str, str]:
    """What is said of the answers in a notebook."""
    found, end = report.work(path, kit.short(PAGE), LIMITS, report.Whose("eve"))
    assert end == "stopped: ", end
    missing = "missing: the notebook has no such answer"
    return {name: message for name, message in found.items() if message != missing}


def code(text: str) -> dict[str, Any]:
    """A cell."""
    return {"cell_type": "code", "metadata": {}, "source": text}


def filled(given: dict[str, str]) -> dict[str, Any]:
    """A student's notebook with some answers."""
    notebook = kit.student(PAGE)
    for cell in notebook["cells"]:
        first = editions.source(cell).partition("\n")[0]
        label = first.removeprefix("# Your answer to ")
        if label in given:
            cell["source"] = editions.lines(f"{first}\n{given[label]}")
    return notebook


needs_walls = pytest.mark.skipif(
    not report.is_apart(), reason="this system cannot shut answers in"
)


@needs_walls
@pytest.mark.parametrize(
    "attacks",
    [
        pytest.param(QUICK, id="quick"),
        pytest.param(SLOW, id="slow", marks=pytest.mark.weekly),
    ],
)
def test_an_attack_costs_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attacks: dict[str, str]
) -> None:
    """The grader keeps its memory, and leaves no process behind."""
    folder, made = tmp_path / "class", tmp_path / "made"
    folder.mkdir()
    made.mkdir()
    monkeypatch.setenv("TMPDIR", str(made))
    # In a process of its own, whose children are the grader's alone.
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        found = alone.submit(grade, folder, attacks).result()
        kilobytes = alone.submit(largest_child).result()
    wrong = {n: pair for n, pair in found.items() if not pair[0] or pair[1]}
    wrong |= {
        n: found[n] for n in ERRORS.keys() & found if ERRORS[n] not in found[n][0]
    }
    assert wrong == {}
    assert kilobytes < 10**6
    assert not left(made)


def largest_child() -> int:
    """The most memory that a child of this process took, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def left(made: Path) -> list[str]:
    """The processes of answers, and the programs that they started."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.append((process / "cmdline").read_text(errors="replace"))
    ours = (f"{made}/", "sleep\x001234", "while :; do :; done")
    return [command for command in found if any(part in command for part in ours)]


@pytest.mark.parametrize(
    ("running", "seconds", "why"),
    [
        ((17, 0.0, 0), 9, "more than 16 processes"),
        ((2, 9.0, 0), 9, "busy in more than one process"),
        ((2, 0.0, 2**21), 9, "more than 1 MB"),
        ((2, 0.0, 0), 0, "more than 0 seconds in all"),
    ],
)
def test_who_takes_too_much_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
    running: tuple[int, float, int],
    seconds: int,
    why: str,
) -> None:
    """By all its processes together, also while the examiner is busy."""
    ended: list[int] = []
    monkeypatch.setattr(worker, "end", ended.append)
    process = object.__new__(worker.Process)
    process.plan = {"megabytes": 1, "seconds": seconds}
    process.begun, process.excess = time.monotonic(), ""
    process.process = SimpleNamespace(pid=7, poll=lambda: None)
    process.running = lambda: running
    process.watch()
    assert (process.excess, ended) == (why, [7])


@needs_walls
def test_the_time_of_a_notebook_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by an examiner that hears nothing; no process is left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(report.tempfile, "tempdir", str(tmp_path))
    deaf = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    real = report.plan("sinusoidal/rotation", LIMITS, report.Whose("ada"))
    hangs = real["exercises"]["ex-offset"] | {"check": deaf + "while True: pass"}
    late = real | {"above": [ABOVE], "exercises": {"ex-offset": hangs}}
    late["cell_seconds"] = 600
    monkeypatch.setattr(report, "plan", lambda *_: late)
    right = {"ex-offset": RIGHT["ex-offset"]}
    kit.write(filled(right), tmp_path / "ada.ipynb")
    limits = report.Limits(seconds=4)
    begun = time.monotonic()
    whose = report.Whose("ada")
    got = report.work(tmp_path / "ada.ipynb", "sinusoidal/rotation", limits, whose)
    assert got == ({}, "stopped: more than 8 seconds")
    assert time.monotonic() - begun < 20
    assert not left(tmp_path)


def test_a_file_costs_its_own_row(tmp_path: Path) -> None:
    """Links, pipes, folders, what is too large or too deep, and odd names."""
    kit.write(filled(RIGHT), tmp_path / "ada.ipynb")
    (tmp_path / "ben.ipynb").symlink_to("ada.ipynb")
    (tmp_path / "cid.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "dan.ipynb")
    (tmp_path / "eve.ipynb").write_text('{"cells": ' + "[" * 10**6, encoding="utf-8")
    with (tmp_path / "fay.ipynb").open("wb") as large:
        large.truncate(from_browser.LARGEST + 1)
    (tmp_path / "gil...ipynb").write_text('{"cells": [{"id": []}]}', encoding="utf-8")
    os.mkfifo(tmp_path / "hal.json")
    odd: list[Any] = [None, {"cell_type": "code", "source": None}]
    (tmp_path / "=ivy\n.ipynb").write_text(json.dumps({"cells": odd}), encoding="utf-8")
    rows = report.grade_all(tmp_path, LIMITS, jobs=2)
    got = {row.student: row.points for row in rows if row.points}
    assert set(got) == {"ada"}
    known = {row.student for row in rows}
    assert known >= {"ben", "cid", "dan", "eve", "fay", "gil..", "=ivy\n"}
