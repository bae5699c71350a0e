"""A release with invented addresses: all are filled in, in a copy of the files."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from jinja2 import DictLoader, Environment

from tools import release

ROOT = Path(__file__).parents[2]
FILES = {file for file, _, _ in release.PLACES}
ADDRESSES = release.checked("ada-l", "po.si_tions", "https://ada.example.org/book")
OTHERS = release.checked("bob", "two", "https://bob.github.io/two/")
SITE, REPOSITORY = (
    "https://ada.example.org/book/",
    "https://github.com/ada-l/po.si_tions",
)


@pytest.fixture
def copy(tmp_path):
    """The files that have addresses."""
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, path)
    return tmp_path


def test_every_address_is_filled_in(copy):
    release.fill(copy, ADDRESSES)
    config = yaml.safe_load((copy / "_config.yml").read_text())
    assert config["repository"]["url"] == REPOSITORY
    assert config["html"]["baseurl"] == SITE
    citation = yaml.safe_load((copy / "CITATION.cff").read_text())
    assert (citation["repository-code"], citation["url"]) == (REPOSITORY, SITE)
    project = tomllib.loads((copy / "pyproject.toml").read_text())["project"]
    urls = project["urls"]
    assert (urls["Book"], urls["Repository"]) == (SITE, REPOSITORY)
    assert urls["Documentation"] == f"{SITE}book/reference/api.html"
    assert (ROOT / "book/reference/api.md").exists() and "Paper" in urls
    for name in ("README.md", "pe_lib/README.md"):
        assert f"]({SITE})" in (copy / name).read_text()


def test_no_address_is_left_out(copy):
    """What is empty or an example in a place for addresses, anywhere in them."""
    release.fill(copy, ADDRESSES)
    for name in FILES:
        for line in (copy / name).read_text().splitlines():
            assert not re.search(r'url: *("")? *(#|$)', line), f"{name}: {line}"


def test_other_addresses_take_the_place_of_the_first(copy):
    release.fill(copy, OTHERS)
    once = {name: (copy / name).read_text() for name in FILES}
    assert all("bob" in text for text in once.values())
    release.fill(copy, ADDRESSES)
    release.fill(copy, OTHERS)
    assert {name: (copy / name).read_text() for name in FILES} == once


def test_a_file_that_lost_its_place_is_named(copy):
    path = copy / "_config.yml"
    path.write_text(path.read_text().replace("baseurl", "address"))
    with pytest.raises(
        ValueError, match=r"_config.yml must have one place for .*, has 0"
    ):
        release.fill(copy, ADDRESSES)


GOOD = {"owner": "ada", "name": "book", "url": "https://a.org"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"owner": ""}, "OWNER must be an account on GitHub, as in ada, got ''"),
        ({"owner": "ada/book"}, "OWNER must be"),
        ({"owner": "-ada"}, "OWNER must be"),
        ({"name": ""}, "NAME must be a repository's name, as in positions, got ''"),
        ({"name": "a b"}, "NAME must be"),
        ({"name": ".."}, "NAME must be"),
        ({"url": ""}, "URL must be the site's address, as in https://.*, got ''"),
        ({"url": "http://a.org/"}, "URL must be"),
        ({"url": "https://a.org/?b"}, "URL must be"),
        ({"url": "https://a.org/index.html#b"}, "URL must be"),
        ({"url": "https://localhost/"}, "URL must be"),
    ],
)
def test_a_wrong_address_says_what_it_must_be(wrong, message):
    assert release.checked(**GOOD) == ("https://a.org/", "https://github.com/ada/book")
    with pytest.raises(ValueError, match=message):
        release.checked(**GOOD | wrong)


def test_the_command_stops_before_it_writes():
    command = [sys.executable, "-m", "tools.release", "ada", "book", "a.org"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stdout.startswith("URL must be"), done.stderr


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
    for addresses in (OTHERS, ADDRESSES):
        release.write_branch(copy, editions, addresses)
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
