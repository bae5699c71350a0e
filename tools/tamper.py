"""Change one operator or constant of a notebook's code, and see whether it turns red.

    make tamper            # fifty changes, drawn from the seed 1
    make tamper SEED=2

A change is red when a cell raises, when an output is not the stored one, when the
book's lint says so, or when the test of the exercises does: no wrong answer passes a
check, each gets its hint, and the inputs that a grader replaces stand where they stood.
All four belong to `make test`. Prints every change, the score, how many each of them
found, and the survivors that tools/tamper.txt does not explain; the exit status is 1 if
there is one, or if fewer than 47 of 50 are red. The number that bounds an assertion is
not made larger where that asserts less: what is asserted then follows from what was. It
is where that asserts more. Works in copies, and takes ten minutes on two cores.
"""

import ast
import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tools/tamper.txt"
DRAWS = 50
AT_LEAST = 47
LINT = [
    f"tests/book/test_{name}.py" for name in ("code", "numbers", "book", "students")
]

SWAPPED = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "**": "*"}
SWAPPED |= {"@": "*", "and": "or", "or": "and", "in": "not in", "not in": "in"}
SWAPPED |= {"is": "is not", "is not": "is", "<<": ">>", ">>": "<<"}
# A comparison becomes its mirror image. One that asserts less is no error of a page:
# what is below a bound also differs from it.
SWAPPED |= {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "!=", "!=": "=="}
OPERATOR = re.compile(
    rb"#[^\n]*|\*\*|//|<<|>>|[-+*/%@]|[<>=!]=|[<>]|\b(?:is not|is|not in|in|and|or)\b"
)


class Place(NamedTuple):
    """The bytes of a cell's source that can be changed, and what they say."""

    start: int
    end: int
    old: str


class Change(NamedTuple):
    """One place of one notebook, and what it says instead."""

    notebook: str
    cell: str
    place: Place
    new: str

    def apply(self, source: str) -> str:
        """The source of the cell with the change, formatted as before."""
        text = source.encode()
        start, end, _ = self.place
        return (text[:start] + self.new.encode() + text[end:]).decode()

    def lines(self, source: str) -> str:
        """The lines taken away and put in, as a diff writes them."""
        pairs = zip(source.split("\n"), self.apply(source).split("\n"), strict=True)
        old, new = next((a, b) for a, b in pairs if a != b)
        return f"{self.notebook} | {self.cell}\n- {old.strip()}\n+ {new.strip()}"


def places(source: str) -> Iterator[Place]:
    """Every operator and every number, True and False of a cell."""
    text = source.encode()
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def between(left: ast.expr, right: ast.expr) -> Iterator[Place]:
        for found in OPERATOR.finditer(text, span(left)[1], span(right)[0]):
            if not found[0].startswith(b"#"):
                yield Place(*found.span(), found[0].decode())
                return

    tree = ast.parse(source)
    slack = set(bounds(tree))
    for node in ast.walk(tree):
        if node in slack:
            continue
        if isinstance(node, ast.BinOp):
            yield from between(node.left, node.right)
        elif isinstance(node, ast.AugAssign):
            yield from between(node.target, node.value)
        elif isinstance(node, ast.BoolOp):
            for left, right in pairwise(node.values):
                yield from between(left, right)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, right in pairwise(sides):
                yield from between(left, right)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            start = span(node)[0]
            yield Place(start, start + 1, "minus")
        elif isinstance(node, ast.Constant) and isinstance(
            node.value, (bool, int, float, complex)
        ):
            start, end = span(node)
            yield Place(start, end, text[start:end].decode())


def bounds(tree: ast.AST) -> Iterator[ast.expr]:
    """The numbers that, made larger, let an assertion assert less."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        for part in ast.walk(node.test):
            if isinstance(part, ast.Compare):
                sides = [part.left, *part.comparators]
                pairs = zip(pairwise(sides), part.ops, strict=True)
                for (left, right), sign in pairs:
                    larger = left if isinstance(sign, ast.Gt | ast.GtE) else right
                    if isinstance(sign, ast.Lt | ast.LtE | ast.Gt | ast.GtE) and (
                        isinstance(larger, ast.Constant)
                    ):
                        yield larger


def instead(old: str) -> str:
    """What a place says after the change."""
    if old == "minus":
        return ""
    if old in SWAPPED:
        return SWAPPED[old]
    value = ast.literal_eval(old)
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    digits = old.rstrip("j")
    return f"{float(digits) * 1.01 or 0.01:.4g}" + old[len(digits) :]


def read(name: str) -> NotebookNode:
    """A notebook of the book."""
    notebook: NotebookNode = nbformat.read(ROOT / name, as_version=4)
    return notebook


def draw(count: int, seed: int) -> list[Change]:
    """So many of all changes, each as likely as any other."""
    every = [
        (str(path.relative_to(ROOT)), cell.id, place)
        for path in sorted((ROOT / "book").glob("*/*.ipynb"))
        for cell in read(str(path)).cells
        if cell.cell_type == "code"
        for place in places(cell.source)
    ]
    random = Random(seed)
    chosen = random.sample(every, count)
    return [Change(*each, instead(each[2].old)) for each in chosen]


def compared(outputs: list[NotebookNode]) -> dict[str, str]:
    """What nbval compares of a cell's outputs: their texts, kind by kind."""
    found: dict[str, str] = {}
    for output in outputs:
        for kind, text in output.get("data", {"text": output.get("text")}).items():
            found[kind] = found.get(kind, "") + str(text)
    return found


def fault(notebook: NotebookNode, folder: Path, limit: float) -> str:
    """Execute up to the first red cell; what is wrong with it, or nothing."""
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        coalesce_streams=True,
        record_timing=False,
        extra_arguments=["--log-level=40"],  # of its warnings nothing is printed
    )
    end = time.monotonic() + limit
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                continue
            stored = compared(cell.outputs)
            client.timeout = max(1, int(end - time.monotonic()))
            try:
                client.execute_cell(cell, index)
            except CellTimeoutError:
                return f"{cell.id}: longer than {limit:.0f} seconds"
            except DeadKernelError:
                return f"{cell.id}: the kernel died"
            except CellExecutionError as error:
                return f"{cell.id}: {error.ename}"
            if compared(cell.outputs) != stored:
                return f"{cell.id}: another output"
    return ""


def lint(folder: Path, name: str) -> set[str]:
    """The tests of the book's lint that fail on this page of a copy."""
    page = str(Path(name).with_suffix("").relative_to("book"))
    quick = ["-q", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:nbval"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *quick, "-p", "no:xdist", "-k", page, *LINT],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return set(re.findall(r"^FAILED (\S+)", result.stdout, re.MULTILINE))


def try_all(name: str, changes: list[Change]) -> list[tuple[str, str]]:
    """Each change of one notebook with its fault, in a copy of the project."""
    hidden = shutil.ignore_patterns(".*", "_build", "*.egg-info", "__pycache__")
    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "copy"
        shutil.copytree(ROOT, folder, ignore=hidden)
        path = folder / name
        unchanged = read(name)
        start = time.monotonic()
        wrong = fault(copy.deepcopy(unchanged), path.parent, 600)
        limit = 20 + 4 * (time.monotonic() - start)  # more than thrice the honest time
        if wrong:
            raise SystemExit(f"{name} is red before any change. {wrong}")
        known: set[str] | None = None
        for change in changes:
            changed = copy.deepcopy(unchanged)
            cell = next(cell for cell in changed.cells if cell.id == change.cell)
            lines = change.lines(cell.source)
            cell.source = change.apply(cell.source)
            found = fault(copy.deepcopy(changed), path.parent, limit)
            if not found and known is None:
                known = lint(folder, name)
            if not found:
                nbformat.write(changed, path)
                found = " ".join(lint(folder, name) - (known or set()))
                nbformat.write(unchanged, path)
            results.append((lines, found))
            print(f"{lines}\n  {found or 'SURVIVES'}\n", flush=True)
    return results


def means(found: str) -> str:
    """What turned red, in two words."""
    if "::" in found:
        parts = {"exercises" if "_students" in one else "lint" for one in found.split()}
        return " and ".join(sorted(parts))
    said = found.partition(": ")[2]
    return said if " " in said else "an error"


def main(seed: int) -> int:
    """Draw, try and print."""
    os.environ["OMP_NUM_THREADS"] = "1"
    changes = draw(DRAWS, seed)
    names = sorted({change.notebook for change in changes})
    mine = [[c for c in changes if c.notebook == name] for name in names]
    with ProcessPoolExecutor(2) as pool:
        tried = [each for group in pool.map(try_all, names, mine) for each in group]
    survivors = [lines for lines, found in tried if not found]
    kept = KEPT.read_text(encoding="utf-8")
    new = [lines for lines in survivors if lines not in kept]
    red = len(tried) - len(survivors)
    by = Counter(means(found) for _, found in tried if found)
    print(
        f"\nseed {seed}: {red} of {len(tried)} red {dict(by)}; not explained:",
        *new,
        sep="\n\n",
    )
    return int(red < AT_LEAST or bool(new))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 1))
