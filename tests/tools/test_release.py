"""A release with invented addresses: a branch of notebooks, and links to it."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from tools import release

ROOT = Path(__file__).parents[2]
SITE = "https://ada.example.org/book/"
REPOSITORY = "https://github.com/ada-l/po.si_tions"


ABOUT = {"url": SITE, "repository": REPOSITORY}


def test_the_command_stops_without_an_address(tmp_path, monkeypatch):
    shutil.copy(ROOT / "_config.yml", tmp_path)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="Publish"):
        release.main()
    assert not (tmp_path / "_build").exists()


def test_the_notebooks_get_a_branch_and_nothing_else_moves(tmp_path, monkeypatch):
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "a")
        monkeypatch.setenv(f"{name}_EMAIL", "a@b")

    def git(*words):
        return subprocess.check_output(["git", *words], cwd=tmp_path, text=True)

    git("init", "-q", "-b", "main")
    editions = tmp_path / "_build/html/notebooks"
    (editions / "part").mkdir(parents=True)
    with zipfile.ZipFile(editions / "part/a.zip", "w") as archive:
        for name in ("book/part/a.ipynb", "book/other/data/a.csv", "LICENSE"):
            archive.writestr(name, "")
    (tmp_path / ".gitignore").write_text("_build\n*.ipynb\n")
    git("add", ".")
    git("commit", "-qm", "all")
    before = git("status", "--porcelain=2", "--branch")
    for about in (ABOUT | {"url": ""}, ABOUT):
        release.write_branch(tmp_path, editions, about)
    assert git("ls-tree", "-r", "--name-only", release.BRANCH).split() == [
        "LICENSE",
        "README.md",
        "book/other/data/a.csv",
        "book/part/a.ipynb",
    ]
    assert f"]({SITE})" in git("show", f"{release.BRANCH}:README.md")
    assert git("rev-list", "--count", release.BRANCH) == "1\n"
    assert git("status", "--porcelain=2", "--branch") == before


def links(repository):
    """The addresses elsewhere that a chapter offers below its text."""
    theme = ROOT / "website/theme"
    files = {name: (theme / name).read_text() for name in ("next.html", "icons.html")}
    page = Environment(loader=DictLoader(files), autoescape=True).get_template(
        "next.html"
    )
    html = page.render(
        pagename="book/part/a",
        page_source_suffix=".ipynb",
        theme_repository_url=repository,
        theme_repository_branch="main",
        theme_launch_buttons={"binderhub_url": "https://mybinder.org"},
        edition={"version": "3.0.0", "year": 2026},
    )
    return re.findall(r'href="(https:[^"?]*)', html)


def test_a_chapter_offers_binder_and_colab():
    """At the branch that this writes; without an address nothing is offered."""
    colab = "https://colab.research.google.com/github/ada-l/po.si_tions/blob"
    assert links(REPOSITORY)[:2] == [
        "https://mybinder.org/v2/gh/ada-l/po.si_tions/main",
        f"{colab}/{release.BRANCH}/book/part/a.ipynb",
    ]
    assert links("") == []
