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
PERSON = {
    f"GIT_{who}_{what}": "a@b"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}


@pytest.mark.weekly
def test_two_branches_that_edit_one_notebook_merge_without_a_hand(
    tmp_path: Path,
) -> None:
    """Different cells, all outputs stored anew in both; where both differ, ours.

    A diff shows lines of code, not of JSON, and no figure.
    """
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    path = tmp_path / PAGE

    def run(command: str) -> str:
        """What it prints; an error if it fails."""
        env = os.environ | PERSON | {"GIT_CONFIG_GLOBAL": os.devnull}
        how = {"cwd": tmp_path, "env": env, "capture_output": True, "text": True}
        done = subprocess.run(command.split(), check=False, **how)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def parts(
        page: nbformat.NotebookNode,
    ) -> tuple[list[nbformat.NotebookNode], dict[str, str]]:
        """The cells that print, and the drawing of the first figure."""
        outputs = [(c, o) for c in page.cells for o in c.get("outputs", [])]
        drawn = [o.data for _, o in outputs if "image/svg+xml" in o.get("data", {})]
        return [c for c, o in outputs if "text" in o], drawn[0]

    def edit(number: int, word: str) -> None:
        """One cell and its output; the figure changes, too, and all are run again."""
        page = nbformat.read(path, as_version=4)
        printing, figure = parts(page)
        for place, cell in enumerate(printing):
            cell.execution_count = place + len(word)
        figure["image/svg+xml"] = figure["image/svg+xml"].replace("<g ", f"<g {word} ")
        printing[number].source += f"\n# {word}"
        printing[number].outputs[0].text += f"{word}\n"
        path.write_text(nbformat.writes(page) + "\n", encoding="utf-8")

    run("git init --quiet --initial-branch=main")
    run("make --old-file=.venv/.ready diffs")
    run(f"git add {' '.join(FILES)}")
    run("git commit --quiet --message page")
    run("git switch --quiet --create other")
    edit(2, "theirs")
    run("git commit --quiet --all --message theirs")
    run("git switch --quiet main")
    edit(0, "ours")
    shown = run("git diff").replace("\x1b[32m", "").replace("\x1b[m", "")
    assert "+# ours" in shown and '"source"' not in shown and "<g ours" not in shown
    run("git commit --quiet --all --message ours")
    run("git merge --no-edit other")
    text = path.read_text(encoding="utf-8")
    merged = nbformat.reads(text, as_version=4)
    nbformat.validate(merged)
    assert nbformat.writes(merged) + "\n" == text  # as `make outputs` writes it
    printing, figure = parts(merged)
    for number, word in ((0, "ours"), (2, "theirs")):
        assert printing[number].source.endswith(f"# {word}")
        assert printing[number].outputs[0].text.endswith(f"{word}\n")
    assert "<g ours " in figure["image/svg+xml"]
    assert "<g theirs " not in figure["image/svg+xml"]
