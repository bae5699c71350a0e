"""Make what is published: ``make release``.

The repository on GitHub and the site have the addresses of ``_config.yml``. Nothing is
sent anywhere; ``docs/development.md`` has the steps that a person then takes.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
EDITIONS = ROOT / "_build/html/notebooks"
BRANCH = "notebooks"
ADDRESSED = ("CITATION.cff", "README.md", "pe_lib/README.md", "pyproject.toml")
"""What a reader may see without the site, and then finds it."""

NOTEBOOKS = """\
# The notebooks of *Positional Encodings, Checked*

Each page of [the book]({url}) as its readers run it: figures with captions, checks that
report, no solutions. On Colab the first cell fetches the library from
[the repository]({repository}), where the book is written and mistakes are reported.
Elsewhere clone that, too, and in it `pip install ".[book]"`.
This branch is made by `make release`; text and figures are CC BY 4.0, code is MIT.
"""


def addresses(root: Path) -> dict[str, str]:
    """Of the site and of the repository; ValueError says what is missing, and where."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    repository = config["repository"]["url"] or ""
    url = config["html"]["baseurl"] or ""
    if not re.fullmatch(r"https://github\.com/[\w-]+/[\w.-]+", repository):
        raise ValueError(
            "_config.yml: repository: url must be an address as "
            f"https://github.com/ada/positions, got {repository!r}"
        )
    if not re.fullmatch(r"https://[^\s/?#]+\.[^\s?#]*/", url):
        raise ValueError(
            "_config.yml: html: baseurl must be an address with a / at its end, as "
            f"https://ada.github.io/positions/, got {url!r}"
        )
    for file in ADDRESSED:
        if url not in (root / file).read_text(encoding="utf-8"):
            raise ValueError(f"{file} must name the site, {url}")
    for file in ("CITATION.cff", "pyproject.toml"):
        if repository not in (root / file).read_text(encoding="utf-8"):
            raise ValueError(f"{file} must name the repository, {repository}")
    return {"url": url, "repository": repository}


def write_branch(root: Path, editions: Path, about: dict[str, str]) -> None:
    """Commit the readers' notebooks to a branch of their own; nothing else moves.

    They are what the site offers, with the data that they read and the licences.
    """
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name, "tree")
        for archive in editions.rglob("*.zip"):
            shutil.unpack_archive(archive, tree)
        text = NOTEBOOKS.format(**about)
        (tree / "README.md").write_text(text, encoding="utf-8")

        def git(*words: str) -> str:
            apart = {"GIT_WORK_TREE": str(tree), "GIT_INDEX_FILE": f"{name}/index"}
            command, where = ["git", *words], {**os.environ, **apart}
            return subprocess.check_output(
                command, cwd=root, env=where, text=True
            ).strip()

        git("add", "--all", "--force", ".")
        commit = git("commit-tree", git("write-tree"), "-m", "The readers' notebooks")
        git("update-ref", f"refs/heads/{BRANCH}", commit)


def main() -> None:
    """All of it."""
    try:
        about = addresses(ROOT)
    except ValueError as error:
        sys.exit(str(error))
    subprocess.run(["make", "book"], cwd=ROOT, check=True)
    write_branch(ROOT, EDITIONS, about)
    print(f"Made: the site in _build/html, and the branch {BRANCH}.")
    print("What is left to you is in docs/development.md, under Publish.")


if __name__ == "__main__":
    main()
