"""Build the book with Sphinx alone, and compare its pages with those of `make book`.

Jupyter Book 1 does two things for this book: it turns `_config.yml` into Sphinx's
settings, and calls Sphinx. `make conf` writes these settings to
`_build/plain/conf.py` and builds from them where Jupyter Book cannot be imported,
so that the day it no longer installs is a day like others. Then every file must
be as `make book` made it, letter by letter, but for ``MAY_DIFFER``.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLAIN = ROOT / "_build/plain"
BY_JUPYTER_BOOK = ROOT / "_build/html"

JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
SPHINX = """
import sys
sys.modules["jupyter_book"] = None  # as if it were not installed
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""

# Jupyter Book's own, for LaTeX, or for services that the book does not use.
NOT_NEEDED = (
    "jupyter_book",
    "sphinx_comments",
    "sphinx_jupyterbook_latex",
    "sphinx_multitoc_numbering",
)
END = f"""
# What this book adds to what Jupyter Book wrote.
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "book/_ext"))
extensions = [name for name in extensions if name not in {NOT_NEEDED}]
"""

# What sphinx-thebe sets at the end of a page for its script, which no page loads; and
# the checksum after the name of a style sheet or script.
MAY_DIFFER = (
    r'\s*<script type="text/x-thebe-config">[^<]*</script>',
    r"\s*<script>kernelName = [^<]*</script>",
    r"\s+(?=</article>)",
    r'\?v=[0-9a-f]+(?=")',
)


def write_settings() -> None:
    """Write conf.py into a folder that links to the book."""
    shutil.rmtree(PLAIN, ignore_errors=True)
    PLAIN.mkdir(parents=True)
    (PLAIN / "book").symlink_to(os.path.relpath(ROOT / "book", PLAIN))
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, PLAIN)
    command = [sys.executable, "-c", JUPYTER_BOOK, "config", "sphinx", str(PLAIN)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with (PLAIN / "conf.py").open("a", encoding="utf-8") as settings:
        settings.write(END)


def build() -> int:
    """Build the site with Sphinx alone, warnings as errors; return its exit status."""
    options = ["-W", "-n", "--keep-going", "-q"]
    command = [sys.executable, "-c", SPHINX, *options, str(PLAIN), str(PLAIN / "html")]
    return subprocess.run(command, check=False).returncode


def what_a_reader_gets(page: str) -> str:
    """Return a page without what may differ."""
    for pattern in MAY_DIFFER:
        page = re.sub(pattern, "", page)
    return page


def pages(site: Path) -> dict[str, Path]:
    """Every page, drawing and notebook of a site that a reader may ask for."""
    return {
        path.relative_to(site).as_posix(): path
        for path in sorted(site.rglob("*"))
        if path.is_file() and not path.relative_to(site).parts[0].startswith(".")
    }


def differences(expected: Path, found: Path) -> Iterator[str]:
    """Say for each page in what it differs from that of `make book`."""
    before, after = pages(expected), pages(found)
    for name in sorted(before.keys() ^ after.keys()):
        yield f"{name} is only in {expected if name in before else found}"
    for name in sorted(before.keys() & after.keys()):
        if before[name].read_bytes() == after[name].read_bytes():
            continue
        if not name.endswith(".html"):
            yield f"{name} differs"
            continue
        was, now = (
            what_a_reader_gets(path.read_text(encoding="utf-8")).splitlines()
            for path in (before[name], after[name])
        )
        lines = list(difflib.unified_diff(was, now, n=0, lineterm=""))[2:]
        if lines:
            yield "\n  ".join([name, *(line[:200] for line in lines[:6])])


def main() -> int:
    """Write, build, compare."""
    write_settings()
    print(f"Wrote {PLAIN.relative_to(ROOT) / 'conf.py'}.")
    status = build()
    if status:
        return status
    if not BY_JUPYTER_BOOK.exists():
        print("Nothing to compare with: no site of `make book`.")
        return 1
    faults = list(differences(BY_JUPYTER_BOOK, PLAIN / "html"))
    count = sum(name.endswith(".html") for name in pages(PLAIN / "html"))
    print(*faults, f"{count} pages; {len(faults)} files differ.", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
