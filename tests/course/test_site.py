"""A site without solutions stays one, and leads to none that has them."""

import re
import subprocess
from types import SimpleNamespace

import pytest

import manuscript
from website import editions


@pytest.mark.parametrize(
    ("target", "folders"),
    [
        ("book SOLUTIONS=0", ["_build/without_solutions/."]),
        *(("book", ["."]), ("serve", ["."])),
        *(("course", []), ("course SOLUTIONS=0", [])),
    ],
)
def test_it_has_a_folder_of_its_own(target: str, folders: list[str]) -> None:
    """Neither the whole site is written there, nor the course kit, which needs none."""
    make = ["make", "--dry-run", "--always-make", *target.split()]
    done = subprocess.check_output(make, cwd=manuscript.ROOT, text=True)
    built = re.findall("jupyter-book build .*--path-output (\\S+)", done)
    assert built == folders


@pytest.mark.parametrize("solutions", [True, False])
def test_it_leads_to_nothing_that_has_solutions(
    monkeypatch: pytest.MonkeyPatch, solutions: bool
) -> None:
    """No repository, hence no source, Binder or Colab; no address of the whole site."""
    monkeypatch.setattr(manuscript, "SOLUTIONS", solutions)
    options = {"repository_url": "https://github.com/ada/positions"}
    config = SimpleNamespace(html_baseurl="https://a.org/", html_theme_options=options)
    editions.lead_to_no_answers(None, config)
    assert bool(config.html_baseurl) == bool(options["repository_url"]) == solutions
    context = {"pathto": lambda name, _: name}
    editions.tell_the_page(None, "book/failures/dials", "", context)
    assert context["solutions"] == solutions
