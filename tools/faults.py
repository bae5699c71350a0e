"""How many of 100 one-line faults, drawn with a seed, do the tests notice?

    python tools/faults.py 46 edda76d    in a checkout of its own: it writes into it

The faults are drawn from the code at that commit, and made in the code of today, where
a file has the line still. A fault is noticed if a test file that names its module, or
one of the names that the module defines, turns red. It goes with the release.
"""

import ast
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = re.compile(r"pe_lib/(beyond/|nn/|experiments/|explorers/)?\w+\.py")
SWAPS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "/", "**": "*", "%": "*", "@": "+",
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "and": "or", "or": "and", "True": "False", "False": "True",
}  # fmt: skip
TOKEN = re.compile(
    r"(?<= )(\*\*|//|<=|>=|==|!=|[-+*/%@<>]|and|or)(?= )|\b(True|False|\d+)\b"
)


def git(*words: str) -> str:
    """What git prints."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode()


def code_lines(text: str) -> Iterator[str]:
    """The lines of functions that compute: no docstring, message or signature."""
    tree = ast.parse(text)
    lines = text.splitlines()
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    inside: set[int] = set()
    for function in functions:
        for statement in function.body:
            if isinstance(statement, (ast.Expr, ast.Raise, ast.FunctionDef)):
                continue
            for node in ast.walk(statement):
                if isinstance(node, ast.expr):
                    inside.update(range(node.lineno, (node.end_lineno or 0) + 1))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Raise, ast.JoinedStr)) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            inside -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    for number in sorted(inside):
        if lines.count(lines[number - 1]) == 1 and TOKEN.search(lines[number - 1]):
            yield lines[number - 1]


def faulty(line: str, choice: random.Random) -> str:
    """The line with one operator or number changed."""
    found = choice.choice(list(TOKEN.finditer(line)))
    word = found.group()
    other = str(int(word) + 1) if word.isdigit() else SWAPS[word]
    return line[: found.start()] + other + line[found.end() :]


def drawn(seed: int, commit: str) -> list[tuple[str, str, str]]:
    """A hundred faults: the file, its line, the faulty line."""
    choice = random.Random(seed)
    files = git("ls-tree", "-r", "--name-only", commit).splitlines()
    lines = [
        (name, line)
        for name in files
        if FOLDERS.fullmatch(name)
        for line in code_lines(git("show", f"{commit}:{name}"))
    ]
    return [
        (name, line, faulty(line, choice)) for name, line in choice.sample(lines, 100)
    ]


def place(name: str, line: str) -> Path | None:
    """The file that has the line today: the same, or the only one."""
    known = [ROOT / name, *sorted(ROOT.glob("pe_lib/**/*.py"))]
    return next(
        (p for p in known if p.exists() and line in p.read_text().splitlines()), None
    )


def tests_of(path: Path) -> list[str]:
    """The test files named after the module, or after what uses it."""
    tests = [
        test
        for test in sorted(ROOT.glob("tests/**/test_*.py"))
        if test.parent.name not in ("book", "course", "live", "site", "website")
    ]
    stems = {path.stem}
    if not any(path.stem in test.stem for test in tests):
        stems = {
            user.stem
            for user in ROOT.glob("pe_lib/**/*.py")
            if re.search(rf"[. ]{path.stem}\b", user.read_text())
        }
    found = [test for test in tests if any(stem in test.stem for stem in stems)]
    return [str(test) for test in (*found, path)]


def noticed(path: Path, line: str, fault: str) -> bool:
    """Whether a test turns red."""
    text = path.read_text()
    path.write_text(text.replace(line, fault, 1))
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-n0"]
    try:
        run = subprocess.run(
            [*pytest, *tests_of(path)], cwd=ROOT, capture_output=True, timeout=900
        )
        if run.returncode not in (0, 1, 2, 5):  # 2: no import; 5: there is no test
            raise RuntimeError(run.stdout.decode() + run.stderr.decode())
        return run.returncode in (1, 2)
    except subprocess.TimeoutExpired:  # it loops
        return True
    finally:
        path.write_text(text)


def main(seed: int, commit: str) -> None:
    """Try them all."""
    counts = {"noticed": 0, "missed": 0, "gone": 0}
    for name, line, fault in drawn(seed, commit):
        path = place(name, line)
        if path is None:
            verdict = "gone"
        else:
            verdict = "noticed" if noticed(path, line, fault) else "missed"
        counts[verdict] += 1
        print(f"{verdict} {name}: {line.strip()} -> {fault.strip()}", flush=True)
    print(counts)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
