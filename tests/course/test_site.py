"""A site without solutions stays one, and leads to none that has them."""

import re
import subprocess
from types import SimpleNamespace

import pytest

import manuscript
from website import editions


def built(*arguments: str) -> list[str]:
    """How make would build a site."""
    make = ["make", "--dry-run", "--always-make", *arguments]
    done = subprocess.run(
        make, cwd=manuscript.ROOT, capture_output=True, text=True, check=True
    )
    return re.findall("jupyter-book build .*--path-output (\\S+)", done.stdout)


def test_it_has_a_folder_of_its_own() -> None:
    """Neither the whole site is written there, nor the course kit, which needs none."""
    assert built("book", "SOLUTIONS=0") == ["_build/without_solutions/."]
    assert built("book") == built("serve") == ["."]
    assert built("course") == built("course", "SOLUTIONS=0") == []


@pytest.mark.parametrize("solutions", [True, False])
def test_it_leads_to_nothing_that_has_solutions(
    monkeypatch: pytest.MonkeyPatch, solutions: bool
) -> None:
    """No repository, hence no source, Binder or Colab; no address of the whole site."""
    monkeypatch.setattr(manuscript, "SOLUTIONS", solutions)
    addresses = {"repository_url": "https://github.com/ada/positions"}
    config = SimpleNamespace(
        html_baseurl="https://a.org/", html_theme_options=addresses
    )
    editions.lead_to_no_answers(None, config)
    assert bool(config.html_baseurl) == bool(addresses["repository_url"]) == solutions
    context = {"pathto": lambda name, _: name}
    editions.tell_the_page(None, "book/failures/dials", "", context)
    assert context["solutions"] == solutions
