"""`make diffs`: git shows and merges notebooks by their cells, outputs kept."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
PAGE = "book/failures/counting.ipynb"
FILES = ("Makefile", ".gitattributes", "tools/notebooks.gitconfig", PAGE)


class Clone:
    """A repository with one notebook, in which `make diffs` was run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        (folder / ".venv").symlink_to(sys.prefix)
        self.run("git", "init", "--quiet", "--initial-branch=main")
        self.run("make", "--old-file=.venv/.ready", "diffs")
        self.commit("the page")

    def run(self, *command: str) -> str:
        """What it prints; an error if it fails."""
        person = {f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")}
        mail = {f"GIT_{who}_EMAIL": "a@b.c" for who in ("AUTHOR", "COMMITTER")}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | person | mail | {"GIT_CONFIG_GLOBAL": os.devnull},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commit(self, message: str) -> None:
        """All that is in the folder but the environment."""
        self.run("git", "add", *FILES)
        self.run("git", "commit", "--quiet", "--message", message)

    def edit(self, number: int, word: str) -> None:
        """Change one code cell and its output; run the others again.

        The figure comes out differently too, as if both branches rested on it.
        """
        path = self.folder / PAGE
        page = nbformat.read(path, as_version=4)
        code = [cell for cell in page.cells if cell.cell_type == "code"]
        for place, cell in enumerate(code):
            cell.execution_count = place + len(word)
        figure = code[1].outputs[0].data
        figure["image/svg+xml"] = figure["image/svg+xml"].replace("<g ", f"<g {word} ")
        code[number].source += f"\n# {word}"
        code[number].outputs[0].text += f"{word}\n"
        path.write_text(nbformat.writes(page) + "\n", encoding="utf-8")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """In a folder of its own."""
    return Clone(tmp_path)


@pytest.mark.weekly
def test_two_branches_that_edit_one_notebook_merge_without_a_hand(clone: Clone) -> None:
    """Different cells, all outputs stored anew in both; where both differ, ours."""
    clone.run("git", "switch", "--quiet", "--create", "other")
    clone.edit(4, "theirs")
    clone.commit("theirs")
    clone.run("git", "switch", "--quiet", "main")
    clone.edit(2, "ours")
    clone.commit("ours")
    clone.run("git", "merge", "--no-edit", "other")
    text = (clone.folder / PAGE).read_text(encoding="utf-8")
    merged = nbformat.reads(text, as_version=4)
    nbformat.validate(merged)
    assert nbformat.writes(merged) + "\n" == text  # as `make outputs` writes it
    code = [cell for cell in merged.cells if cell.cell_type == "code"]
    for number, word in ((2, "ours"), (4, "theirs")):
        assert code[number].source.endswith(f"# {word}")
        assert code[number].outputs[0].text.endswith(f"{word}\n")
    figure = code[1].outputs[0].data["image/svg+xml"]
    assert "<g ours " in figure and "<g theirs " not in figure


@pytest.mark.weekly
def test_a_diff_shows_what_was_written(clone: Clone) -> None:
    """Lines of code, not of JSON, and no figure."""
    clone.edit(2, "ours")
    shown = clone.run("git", "diff")
    assert "+# ours" in shown.replace("\x1b[32m", "").replace("\x1b[m", "")
    assert '"source"' not in shown and "<g ours" not in shown
