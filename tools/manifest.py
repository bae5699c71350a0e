"""What the book shows and the library offers, at any commit, a line each.

    python tools/manifest.py edda76d > before; python tools/manifest.py HEAD > after
    diff before after

Pages, figures, anchors, printed numbers and public names. It goes with the release.
"""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ANCHOR = re.compile(r"^\(([\w-]+)\)=|^(#{2,4} .+)|:(?:label|name): ([\w-]+)", re.M)
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def git(*words: str) -> str:
    """What git prints."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode()


def of_page(name: str, text: str) -> Iterator[str]:
    """The figures, the anchors and the numbers of a page."""
    numbers: Counter[str] = Counter()
    texts = [text]
    if name.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
        for cell in (cell for cell in cells if cell["cell_type"] == "code"):
            about = cell["metadata"].get("mystnb", {})
            for kind in about:
                yield f"figure {name} {about[kind].get('name', kind)}"
            for tag in cell["metadata"].get("tags", []):
                yield f"tag {name} {tag}"
            for output in cell["outputs"]:
                numbers.update(NUMBER.findall("".join(output.get("text", []))))
    for found in ANCHOR.finditer("\n".join(texts)):
        yield f"anchor {name} {next(filter(None, found.groups()))}"
    for number, times in numbers.items():
        yield f"number {name} {number} x{times}"


def public(text: str) -> Iterator[str]:
    """The names that a module defines in the open."""
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_":
            yield node.name


def main(commit: str) -> None:
    """Print it, sorted."""
    lines: set[str] = set()
    for path in git("ls-tree", "-r", "--name-only", commit).splitlines():
        if path.startswith("book/") and path.endswith((".ipynb", ".md")):
            name = path.removesuffix(".ipynb").removesuffix(".md")
            lines.add(f"page {name}")
            lines.update(of_page(path, git("show", f"{commit}:{path}")))
        elif path.startswith("pe_lib/") and path.endswith(".py"):
            text = git("show", f"{commit}:{path}")
            lines.update(f"name {path} {name}" for name in public(text))
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main(sys.argv[1])
