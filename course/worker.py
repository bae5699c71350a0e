"""Grades one notebook: the examiner. report.py starts it, a process for each notebook.

    python worker.py submission.ipynb    the plan on standard input, JSON lines out

The plan holds the master's cells of the chapter. As far as the answers and the checks
rest on them they are run twice: here, and in the process of the answers (answer.py),
where then the student's own cells run in their order. The checks run here, with the
master's names: what they ask of an answer is fetched as data, and a function of the
student's is called over there (channel.py). So an answer sees no check, and has no way
to the points but to be right.

An answer that ends its process, hangs, fills the memory, leaves something running, or
is wrong and reaches for what is not its own, costs its own points: the others go on in
a fresh process, without its cell.
"""

import ast
import builtins
import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from course import answer
from course.answer import TooLong, at_most, run
from course.channel import Gone, Patient, decode, encode, gradients
from course.needs import rests_on

ANSWER = "# Your answer to "
OURS = {"find-pe-lib", "report-checks", "points-so-far"}
BOOK = Path(__file__).parents[2]
UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork"]
UNSHARE += ["--kill-child", "--net", "--ipc", "--uts", "--"]
GRACE = 3  # seconds: a cell's own clock comes first
MOST_PROCESSES = 16
BESIDE = 2  # seconds of processors that an answer may have used beyond the clock's
TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
WILD = re.compile(
    r"setattr|exec|eval|__|globals|vars\(|builtins|ctypes|\bsys\b|\bos\b|\bgc\b"
    r"|thread|process|signal|^[ \t]*(?!self\b)\w+(\.\w+)+ *=[^=]",
    re.MULTILINE,
)
"""What a wrong answer may have changed for those below it."""
TIMED = re.compile(
    r"^([ \t]*)%%?time(?:it)?\b(?:[ \t]+-\w+(?:[ \t]+\d+)?)*[ \t]*", re.M
)
"""What IPython does around a line or a cell that is Python."""


def processes() -> list[Path]:
    """Those of this machine, where it lists them."""
    with contextlib.suppress(OSError):
        return [path for path in Path("/proc").iterdir() if path.name.isdigit()]
    return []


def threads() -> int:
    """How many threads they have together."""
    count = 0
    for process in processes():
        with contextlib.suppress(OSError):
            count += len([*(process / "task").iterdir()])
    return count


def tree(leader: int) -> dict[int, tuple[bool, float, int]]:
    """A process and those that it began: alive or not, seconds, bytes; of /proc."""
    seen = dict[int, tuple[bool, float, int]]()
    ties = dict[int, tuple[int, int]]()
    for process in processes():
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            seconds, pid = sum(map(int, fields[11:15])) / TICK, int(process.name)
            seen[pid] = fields[0] not in "ZX", seconds, int(fields[21]) * PAGE
            ties[pid] = int(fields[1]), int(fields[2])
    pids, more = set[int](), {leader}
    while more:
        pids |= more
        more = {n for n, (up, group) in ties.items() if up in pids or group == leader}
        more -= pids
    return {pid: seen[pid] for pid in pids if pid in seen}


def end(leader: int) -> None:
    """A process and those that it began, also where they left its group."""
    for pid in sorted(tree(leader), key=lambda pid: pid == leader):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(OSError, AttributeError):
        os.killpg(leader, signal.SIGKILL)


def joined(value: Any, pull: Callable[[Any], Any], tensors: list[Any]) -> Any:
    """A tensor whose gradient goes to others by way of the answer's process."""
    import torch

    class Joined(torch.autograd.Function):
        @staticmethod
        def forward(*_: Any) -> Any:
            return value.clone()

        @staticmethod
        def backward(_: Any, gradient: Any) -> Any:
            return tuple(pull(gradient))

    return Joined.apply(*tensors)  # type: ignore[no-untyped-call]


class Remote:
    """A function of the answer's, to be called from here."""

    def __init__(self, call: Callable[..., Any], data: dict[str, Any]) -> None:
        self._call, self._number = call, int(data["number"])
        self.__name__ = str(data["name"])
        uses = tuple(map(str, data.get("uses", ())))
        self.__code__ = SimpleNamespace(co_names=uses)

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Over there."""
        return self._call(self._number, given, named)

    def __repr__(self) -> str:
        """By its name."""
        return f"<{self.__name__}>"


class Process:
    """In which a student's cells run, until it ends or is ended."""

    def __init__(self, plan: dict[str, Any], folder: Path) -> None:
        self.plan, self.lent = plan, list[Any]()
        self.begun, self.excess = time.monotonic(), ""
        limits = {
            "apart": plan["apart"],
            "seconds": plan["seconds"],
            "addresses": plan["addresses"],
            "megabytes": plan["megabytes"],
            "processes": 2 * MOST_PROCESSES + threads(),
        }
        program = Path(__file__).with_name("answer.py")
        places = [str(Path(tempfile.mkdtemp(dir=folder))), str(Path.cwd()), str(BOOK)]
        self.process = subprocess.Popen(
            [*(UNSHARE if plan["apart"] else []), sys.executable, str(program), *places,
             json.dumps(limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin and self.process.stdout
        self.channel = Patient(self.process.stdout, self.process.stdin)
        threading.Thread(target=self.watch, daemon=True).start()

    def hear(self, seconds: float) -> dict[str, Any]:
        """What it says next; Gone if it takes too long, or took too much."""
        late = time.monotonic() + seconds
        while True:
            try:
                with contextlib.suppress(queue.Empty):
                    return self.channel.receive(0.2)
            except Gone as gone:
                raise Gone(self.excess or gone) from None
            if time.monotonic() > late:
                raise Gone(f"more than {seconds - GRACE:g} seconds")

    def watch(self) -> None:
        """End it when it takes too much, whatever the examiner does meanwhile."""
        while self.process.poll() is None and not self.excess:
            time.sleep(0.2)
            alive, used, size = self.running()
            passed = time.monotonic() - self.begun
            if passed > self.plan["seconds"]:
                self.excess = f"more than {self.plan['seconds']} seconds in all"
            elif size > self.plan["megabytes"] * 2**20:
                self.excess = f"more than {self.plan['megabytes']} MB"
            elif alive > MOST_PROCESSES:
                self.excess = f"more than {MOST_PROCESSES} processes"
            elif used > passed + BESIDE:
                self.excess = "busy in more than one process"
        if self.excess:
            end(self.process.pid)

    def running(self) -> tuple[int, float, int]:
        """How many processes the answers began; their seconds and bytes."""
        members = tree(self.process.pid)
        if self.plan["apart"]:
            members.pop(self.process.pid, None)  # it only shuts the next one in
        alive = [size for lives, _, size in members.values() if lives]
        return len(alive), sum(used for _, used, _ in members.values()), sum(alive)

    def run(self, text: str) -> str:
        """Run a cell there; what is wrong with it."""
        seconds = self.plan["cell_seconds"]
        self.channel.send({"run": text, "seconds": seconds})
        return str(self.hear(seconds + GRACE).get("problem", ""))[:2000]

    def values(self, names: list[str]) -> dict[str, Any]:
        """What it has under some names."""
        self.lent.clear()
        self.channel.send({"names": names})
        found = self.reply()["value"]
        if not isinstance(found, dict):
            raise Gone("the process of the answer said what is no answer")
        return {name: self.decoded(found[name]) for name in names if name in found}

    def has_left(self) -> bool:
        """Whether something goes on after its cell has ended."""
        self.channel.send({"left": 0})
        return bool(self.reply()["value"]) or self.running()[0] > 1

    def call(self, number: int, given: Any, named: Any) -> Any:
        """Call a function there."""
        self.channel.send({"call": number, **self.packed(given, named)})
        reply = self.reply()
        value, tensors = self.decoded(reply["value"]), gradients([given, named])
        if "pull" not in reply or not hasattr(value, "requires_grad") or not tensors:
            return value

        def pull(gradient: Any) -> Any:
            request = {"pull": reply["pull"], "gradient": encode(gradient, self.lend)}
            self.channel.send(request)
            return self.decoded(self.reply()["value"])

        return joined(value.detach(), pull, tensors)

    def packed(self, given: Any, named: Any) -> dict[str, Any]:
        """Arguments, ready to travel."""
        return {"given": encode(given, self.lend), "named": encode(named, self.lend)}

    def reply(self) -> dict[str, Any]:
        """What comes, or its error raised; on the way it may ask back."""
        while True:
            message = self.hear(self.plan["cell_seconds"] + GRACE)
            if "value" in message:
                return message
            if "error" in message:
                name, text = map(str, message["error"])
                kind = getattr(builtins, name, None)
                if not (isinstance(kind, type) and issubclass(kind, Exception)):
                    raise RuntimeError(f"{name}: {text}")
                raise kind(text)
            self.answer(message)

    def answer(self, request: dict[str, Any]) -> None:
        """Call a function of the check's that the answer was given."""
        try:
            function = self.lent[request["call"]]
            given, named = (self.decoded(request[n]) for n in ("given", "named"))
        except (LookupError, TypeError):
            raise Gone("the process of the answer said what is no answer") from None
        try:
            value = encode(function(*given, **named), self.lend)
        except Exception as problem:
            self.channel.send({"error": f"{type(problem).__name__}: {problem}"[:2000]})
        else:
            self.channel.send({"value": value})

    def lend(self, value: Any) -> int:
        """A number by which it may call a function of the check's."""
        self.lent.append(value)
        return len(self.lent) - 1

    def decoded(self, data: Any) -> Any:
        """A value that came."""
        try:
            return decode(data, lambda known: Remote(self.call, known))
        except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
            raise Gone("the process of the answer said what is no answer") from None

    def end(self) -> None:
        """All of it."""
        end(self.process.pid)
        self.process.kill()
        self.process.wait()


def label_of(cell: dict[str, Any], labels: dict[str, str]) -> str:
    """Whose answer a cell is: by its first line, its tag, or its id."""
    first = "".join(cell["source"]).lstrip().partition("\n")[0]
    if first.startswith(ANSWER):
        return first.removeprefix(ANSWER).strip()
    for tag in cell.get("metadata", {}).get("tags", []):
        if tag.startswith("answer-"):
            return str(tag.removeprefix("answer-"))
    return labels.get(cell.get("id", ""), "")


def submitted(notebook: dict[str, Any], plan: dict[str, Any]) -> list[tuple[str, str]]:
    """The cells that a student wrote, each with the exercise that it answers."""
    found = []
    for cell in notebook["cells"]:
        if cell.get("cell_type") != "code" or cell.get("id") in OURS:
            continue
        text = without_magic("".join(cell["source"]))
        label = label_of(cell, plan["answers"])
        if label in plan["exercises"]:
            found.append((label, text))
        elif not (
            cell.get("id") in plan["known"]
            or text.strip() in plan["texts"]
            or text.lstrip().startswith("with exercise(")
        ):
            found.append(("", text))
    return found


def without_magic(text: str) -> str:
    """Python alone: a line for IPython is left out, but not what it times."""
    if parses(text):
        return text
    lines = TIMED.sub(r"\1", text).splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))


def parses(text: str) -> bool:
    """Whether it is Python."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def needed(plan: dict[str, Any], cells: list[tuple[str, str]]) -> list[str]:
    """The master's cells on which the answers and the checks rest."""
    below = [c for e in plan["exercises"].values() for c in (e["check"], e["hidden"])]
    found = set[str]()
    for text in [*below, *(text for _, text in cells if parses(text))]:
        with contextlib.suppress(RecursionError):
            found |= {*rests_on(plan["above"], [text])}
    return [text for text in plan["above"] if text in found]


class Notebook:
    """The answers of a student, in one process after the other."""

    def __init__(self, plan: dict[str, Any], above: list[str], folder: Path) -> None:
        self.plan, self.above, self.folder = plan, above, folder
        self.kept, self.pending = list[str](), list[str]()
        self.process: Process | None = None

    def begin(self) -> Process:
        """A process that runs all that has run so far, while we do something else."""
        self.process = Process(self.plan, self.folder)
        self.pending = [*self.above, *self.kept]
        for text in self.pending:
            self.process.channel.send({"run": text, "seconds": self.plan["seconds"]})
        return self.process

    def ready(self) -> Process:
        """The process, when it has done so."""
        process = self.process or self.begin()
        try:
            while self.pending:
                process.hear(self.plan["seconds"])
                self.pending.pop()
        except Gone:  # what ran once does not run again: go on without it
            self.end()
            if not self.kept:
                raise
            self.kept.clear()
            return self.ready()
        return process

    def judge(self, label: str, text: str, master: dict[str, Any]) -> str:
        """Run a cell; what is wrong with it and, of an answer, what its check says."""
        try:
            process = self.ready()
            problem = process.run(text)
            if label:
                exercise = self.plan["exercises"][label]
                problem = problem or checked(process, exercise, master)
            late = problem.startswith("stopped after")
            if late or process.has_left() or (problem and WILD.search(text)):
                self.end()
            else:
                self.kept.append(text)
        except (Gone, Exception) as why:  # whatever it says to the examiner
            self.end()
            problem = f"stopped: {why or type(why).__name__}"
        return problem

    def end(self) -> None:
        """Let the next cell begin afresh."""
        if self.process is not None:
            self.process.end()
            self.process = None


def checked(process: Process, exercise: dict[str, Any], master: dict[str, Any]) -> str:
    """What the checks of an exercise say to its answer."""
    try:
        with at_most(process.plan["cell_seconds"]):
            values = process.values(exercise["names"])
    except TooLong as late:
        raise Gone(str(late).removeprefix("stopped ")) from None
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    left = [name for name in exercise["names"] if values.get(name, ...) is ...]
    if left:
        return f"not answered yet: {', '.join(left)}"
    checks = {exercise["check"]: "", exercise["hidden"]: "with other inputs: "}
    for text, head in checks.items():
        found = run(text, master | values, process.plan["cell_seconds"])
        if found.startswith("stopped after"):
            raise Gone(found.removeprefix("stopped "))
        if found:
            return head + found
    return ""


def grade(plan: dict[str, Any], notebook: dict[str, Any], tell: Any) -> None:
    """One line for each exercise."""
    cells = submitted(notebook, plan)
    above = needed(plan, cells)
    with tempfile.TemporaryDirectory() as folder:
        answers = Notebook(plan, above, Path(folder))

        def leave(*_: Any) -> None:  # at once: no check may hear of it
            answers.end()
            os._exit(1)

        signal.signal(signal.SIGTERM, leave)
        master: dict[str, Any] = {"__name__": "__main__"}
        try:
            answers.begin()
            for text in above:
                if problem := run(text, master, plan["seconds"]):
                    raise RuntimeError(f"a cell of the book failed: {problem}")
            for label, text in cells:
                problem = answers.judge(label, text, dict(master))
                if label:
                    tell(done=label, message=problem[:2000])
        finally:
            answers.end()
    for label in plan["exercises"].keys() - {label for label, _ in cells}:
        tell(done=label, message="missing: the notebook has no such answer")


def main() -> None:
    """Read, limit, grade."""
    plan = json.load(sys.stdin)
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")

    def tell(**line: Any) -> None:
        results.write(json.dumps(line) + "\n")
        results.flush()

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    answer.limit(plan | {"processes": 2**20})
    warnings.simplefilter("ignore")
    try:
        notebook = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
        grade(plan, notebook, tell)
    except Exception as problem:
        tell(end=f"{type(problem).__name__}: {problem}"[:300])
    else:
        tell(end="")


if __name__ == "__main__":
    main()
