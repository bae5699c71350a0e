"""A release with invented addresses: a branch of notebooks, and links to it."""

import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from tools import release

ROOT = Path(__file__).parents[2]
SITE = "https://ada.example.org/book/"
REPOSITORY = "https://github.com/ada-l/po.si_tions"


@pytest.fixture
def copy(tmp_path):
    """The files that name the site, and its address filled in."""
    (tmp_path / "pe_lib").mkdir()
    for name in release.ADDRESSED:
        text = (ROOT / name).read_text(encoding="utf-8")
        filled = f"{text}{SITE} {REPOSITORY}"
        (tmp_path / name).write_text(filled, encoding="utf-8")
    told = (ROOT / "_config.yml").read_text(encoding="utf-8")
    told = told.replace('  url: ""', f'  url: "{REPOSITORY}"')
    told = told.replace('  baseurl: ""', f'  baseurl: "{SITE}"')
    (tmp_path / "_config.yml").write_text(told, encoding="utf-8")
    return tmp_path


ABOUT = {"url": SITE, "repository": REPOSITORY}


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("_config.yml", REPOSITORY, "", r"repository: url must be .*, got ''"),
        ("_config.yml", REPOSITORY, f"{REPOSITORY}/tree/main", "repository: url must"),
        ("_config.yml", SITE, "", r"html: baseurl must be .*, got ''"),
        ("_config.yml", SITE, SITE[:-1], "with a / at its end"),
        ("_config.yml", SITE, SITE.replace("s:", ":"), "baseurl must be"),
        ("_config.yml", SITE, f"{SITE}?b/", "baseurl must be"),
        ("_config.yml", f'"{REPOSITORY}"', "", r"repository: url must be .*, got ''"),
        *((file, SITE, "", f"{file} must name the site") for file in release.ADDRESSED),
        ("CITATION.cff", REPOSITORY, "", "CITATION.cff must name the repository"),
        ("pyproject.toml", REPOSITORY, "", "pyproject.toml must name the repository"),
    ],
)
def test_an_address_that_is_missing_is_named(copy, file, old, new, message):
    """Before anything is made."""
    assert release.addresses(copy) == ABOUT
    text = (copy / file).read_text(encoding="utf-8")
    (copy / file).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        release.addresses(copy)


def test_the_command_stops_before_it_writes(copy, monkeypatch):
    (copy / "README.md").write_text("")
    monkeypatch.setattr(release, "ROOT", copy)
    with pytest.raises(SystemExit, match=f"README.md must name the site, {SITE}"):
        release.main()
    assert not (copy / "_build").exists()


def test_the_notebooks_get_a_branch_and_nothing_else_moves(copy, monkeypatch):
    for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{name}_NAME", "a")
        monkeypatch.setenv(f"{name}_EMAIL", "a@b")

    def git(*words):
        return subprocess.check_output(["git", *words], cwd=copy, text=True)

    git("init", "-q", "-b", "main")
    editions = copy / "_build/html/notebooks"
    (editions / "part").mkdir(parents=True)
    with zipfile.ZipFile(editions / "part/a.zip", "w") as archive:
        for name in ("book/part/a.ipynb", "book/other/data/a.csv", "LICENSE"):
            archive.writestr(name, "")
    (copy / ".gitignore").write_text("_build\n*.ipynb\n")
    git("add", ".")
    git("commit", "-qm", "all")
    before = git("status", "--porcelain=2", "--branch")
    for about in (ABOUT | {"url": ""}, ABOUT):
        release.write_branch(copy, editions, about)
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
