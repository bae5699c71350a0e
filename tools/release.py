"""Fill in the addresses, make what is published, and say what a person then does.

    make release OWNER=ada NAME=positions URL=https://ada.github.io/positions/

OWNER/NAME is the repository on GitHub, URL the site. All addresses of the project come
from these; run it again with others, and they change. Nothing is sent anywhere.
"""

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "_build/release"
EDITIONS = ROOT / "_build/html/notebooks"
BRANCH = "notebooks"
PLACES = (
    ("_config.yml", r'^  url: ".*" +#', '  url: "{repository}"  #'),
    ("_config.yml", r'^  baseurl: ".*" +#', '  baseurl: "{url}"  #'),
    ("CITATION.cff", r"^date-released: .*", "date-released: {today}"),
    (
        "CITATION.cff",
        r"^license: MIT\n(repository-code: .*\nurl: .*\n)?",
        "license: MIT\nrepository-code: {repository}\nurl: {url}\n",
    ),
    (
        "pyproject.toml",
        r"^\[project\.urls\].*\n(Book = .*\nDocumentation = .*\nRepository = .*\n)?",
        '[project.urls]\nBook = "{url}"\n'
        'Documentation = "{url}book/reference/api.html"\nRepository = "{repository}"\n',
    ),
    (
        "README.md",
        r"\A# (.*)\n\n(\*\*Read it at .*\n\n)?",
        r"# \1\n\n**Read it at [{url}]({url})**, or run it there.\n\n",
    ),
    (
        "pe_lib/README.md",
        r"\[?\*Positional Encodings, Checked\*(\]\(.*?\))?",
        "[*Positional Encodings, Checked*]({url})",
    ),
)
"""A file, what in it has an address or will, and what stands there then."""

NOTEBOOKS = """\
# The notebooks of *Positional Encodings, Checked*

Each page of [the book]({url}) as its readers run it: figures with captions, checks that
report, no solutions. On Colab the first cell fetches the library from
[the repository]({repository}), where the book is written and mistakes are reported.
Elsewhere clone that, too, and in it `pip install ".[book]"`.
This branch is made by `make release`; text and figures are CC BY 4.0, code is MIT.
"""

BY_HAND = """
Made: the addresses, {wheel}, the site in _build/html, the branch {branch}.
Six things are left to you:

1. If https://pypi.org/project/{project} is somebody's, choose another `name` in
   pyproject.toml and run this again. Read `git diff`, run `make test`, and
   git commit -am "Addresses" && git tag v{version}
2. Make an empty public repository {repository}, with Settings, Pages, Source
   "GitHub Actions"{domain}.
3. git push {repository}.git main +{branch} v{version}
   When `check` is green there, `publish` puts the site at {url}
4. Open a chapter there and try its links to Binder, Colab, its source and the form for
   mistakes. Binder's first start takes minutes; after it readers wait less.
5. .venv/bin/python -m pip install twine && .venv/bin/twine upload {wheel}
   with your account on PyPI.
6. Make a release of v{version} on GitHub with the entry of CHANGELOG.md, the wheel, and
   .venv/live as a zip: a site can be built from it when its packages are gone. With the
   repository known to Zenodo it gets a DOI, for CITATION.cff as `doi: ...`."""


class Addresses(NamedTuple):
    """Where the book is, and where it is written."""

    url: str
    repository: str


def checked(owner: str, name: str, url: str) -> Addresses:
    """The addresses; ValueError says which argument is wrong, and what it must be."""
    if not re.fullmatch(r"[A-Za-z0-9](-?[A-Za-z0-9]){0,38}", owner):
        raise ValueError(
            f"OWNER must be an account on GitHub, as in ada, got {owner!r}"
        )
    if not re.fullmatch(r"(?!\.+$)[\w.-]{1,100}", name, re.ASCII):
        raise ValueError(
            f"NAME must be a repository's name, as in positions, got {name!r}"
        )
    if not re.fullmatch(r"https://([a-z0-9-]+\.)+[a-z0-9-]+(/[\w.~-]+)*/?", url):
        raise ValueError(
            "URL must be the site's address, as in https://ada.github.io/positions/, "
            f"got {url!r}"
        )
    return Addresses(url.rstrip("/") + "/", f"https://github.com/{owner}/{name}")


def fill(root: Path, addresses: Addresses) -> None:
    """Write them wherever the project has an address."""
    today = datetime.date.today().isoformat()
    for file, old, new in PLACES:
        path = root / file
        text, found = re.subn(
            old,
            new.format(today=today, **addresses._asdict()),
            path.read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
        if found != 1:
            raise ValueError(f"{file} must have one place for {old}, has {found}")
        path.write_text(text, encoding="utf-8")


def build_wheel(root: Path, to: Path) -> None:
    """Build it from a copy: setuptools would leave files in the project."""
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(root / "pe_lib", Path(name, "pe_lib"))
        for file in ("pyproject.toml", "LICENSE"):
            shutil.copy(root / file, name)
        pip = f"{sys.executable} -m pip wheel --quiet --no-deps --no-build-isolation"
        subprocess.run([*pip.split(), "--wheel-dir", str(to), name], check=True)


def write_branch(root: Path, editions: Path, addresses: Addresses) -> None:
    """Commit the readers' notebooks to a branch of their own; nothing else moves.

    They are what the site offers, with the data that they read and the licences.
    """
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name, "tree")
        for archive in editions.rglob("*.zip"):
            shutil.unpack_archive(archive, tree)
        text = NOTEBOOKS.format(**addresses._asdict())
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


def main() -> int:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("owner", "name", "url"):
        parser.add_argument(name)
    try:
        addresses = checked(**vars(parser.parse_args()))
    except ValueError as error:
        print(error)
        return 2
    fill(ROOT, addresses)
    installed = "--old-file=.venv/.ready"  # though pyproject.toml is newer now
    subprocess.run(["make", installed, "book"], cwd=ROOT, check=True)
    shutil.rmtree(FOLDER, ignore_errors=True)
    build_wheel(ROOT, FOLDER)
    write_branch(ROOT, EDITIONS, addresses)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (wheel,) = FOLDER.glob(f"*-{project['version']}-*.whl")
    at_home = addresses.url.split("/")[2].endswith(".github.io")
    domain = "" if at_home else f", and the domain {addresses.url.split('/')[2]}"
    about = {"wheel": wheel.relative_to(ROOT), "branch": BRANCH, "domain": domain}
    about |= {"project": project["name"], "version": project["version"]}
    print(BY_HAND.format(**about, **addresses._asdict()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
