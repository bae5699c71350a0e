"""Grades one notebook, in a process of its own; report.py starts it.

    python worker.py plan.json submission.ipynb results.jsonl

The plan holds the master's cells of the chapter. They are run first, as far as the
answers and the checks rest on them; then the student's own cells in their order, each
check from the master right after its answer, with the master's names restored. A line
goes to the results for each exercise that is begun, and one when it is done: if this
process is stopped, the lines remain, and it is started again without that exercise.
"""

import ast
import contextlib
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from needs import rests_on

ANSWER = "# Your answer to "
OURS = {"find-pe-lib", "report-checks", "points-so-far"}


class TooLong(BaseException):
    """A cell ran out of time. No Exception: an answer may catch those."""


def limit(cpu_seconds: int, megabytes: int) -> None:
    """Let the system stop what takes too much, where it can."""
    try:
        import resource
    except ImportError:  # Windows has no such limits: the parent's clock remains
        return
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
    if megabytes:
        size = megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def no_network() -> None:
    """Refuse connections, also where the system cannot do without a network."""
    import socket

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise OSError("there is no network while an answer is graded")

    for name in ("connect", "connect_ex", "bind", "sendto"):
        setattr(socket.socket, name, refuse)
    setattr(socket, "getaddrinfo", refuse)  # noqa: B010 (its type is a function's)


@contextlib.contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Stop a cell that takes longer."""

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
    except BaseException as problem:
        return f"{type(problem).__name__}: {problem}"
    return ""


def label_of(cell: dict[str, Any], labels: dict[str, str]) -> str:
    """Whose answer a cell is: by its first line, its tag, or its id."""
    first = "".join(cell["source"]).lstrip().partition("\n")[0]
    if first.startswith(ANSWER):
        return first.removeprefix(ANSWER).strip()
    for tag in cell.get("metadata", {}).get("tags", []):
        if tag.startswith("answer-"):
            return str(tag.removeprefix("answer-"))
    return labels.get(cell.get("id", ""), "")


def own_cells(notebook: dict[str, Any], plan: dict[str, Any]) -> list[tuple[str, str]]:
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
    """Python alone: a line for IPython is left out."""
    if parses(text):
        return text
    lines = text.splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))


def parses(text: str) -> bool:
    """Whether it is Python."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def grade(plan: dict[str, Any], notebook: dict[str, Any], tell: Any) -> None:
    """One line for each exercise."""
    own = own_cells(notebook, plan)
    checks = [c for e in plan["exercises"].values() for c in (e["check"], e["hidden"])]
    below = [text for _, text in own if parses(text)] + checks
    names: dict[str, Any] = {"__name__": "__main__"}
    needed = {text for one in below for text in rests_on(plan["above"], [one])}
    for text in filter(needed.__contains__, plan["above"]):
        if problem := run(text, names, plan["cpu_seconds"]):
            raise RuntimeError(f"a cell of the book failed: {problem}")
    master, answered = dict(names), set()
    for label, text in own:
        if label in plan["skip"]:
            continue
        tell(begin=label)
        problem = run(text, names, plan["cell_seconds"])
        if not label:
            continue
        answered.add(label)
        exercise = plan["exercises"][label]
        problem = problem or unset(exercise["asked"], names)
        own_names = names | {n: master[n] for n in master if n not in exercise["asked"]}
        problem = problem or run(exercise["check"], own_names, plan["cell_seconds"])
        if not problem:
            found = run(exercise["hidden"], own_names, plan["cell_seconds"])
            problem = f"with other inputs: {found}" if found else ""
        tell(done=label, message=problem)
    for label in plan["exercises"]:
        if label not in answered and label not in plan["skip"]:
            tell(done=label, message="missing: the notebook has no such answer")
    tell(end="")


def unset(asked: list[str], names: dict[str, Any]) -> str:
    """What an answer leaves open."""
    left = [name for name in asked if names.get(name, ...) is ...]
    return f"not answered yet: {', '.join(left)}" if left else ""


def main() -> None:
    """Read, limit, grade."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    notebook = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    with Path(sys.argv[3]).open("a", encoding="utf-8") as results:

        def tell(**line: Any) -> None:
            results.write(json.dumps(line) + "\n")
            results.flush()

        limit(plan["cpu_seconds"], plan["megabytes"])
        no_network()
        warnings.simplefilter("ignore")
        with (
            Path(os.devnull).open("w", encoding="utf-8") as nothing,
            contextlib.redirect_stdout(nothing),
            contextlib.redirect_stderr(nothing),
        ):
            grade(plan, notebook, tell)


if __name__ == "__main__":
    main()
