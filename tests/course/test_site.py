"""A site without solutions stays one, and leads to none that has them."""

import subprocess
from types import SimpleNamespace

import pytest

import manuscript
from website import editions


def commands(*arguments: str) -> str:
    """What make would do."""
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", *arguments],
        cwd=manuscript.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in done.stdout.splitlines() if "jupyter-book" in line]
    return line


def test_it_has_a_folder_of_its_own() -> None:
    """Neither the site nor the course kit, which needs the whole one, writes there."""
    assert " --path-output _build/without_solutions/. " in commands(
        "book", "SOLUTIONS=0"
    )
    for whole in (["book"], ["course"], ["course", "SOLUTIONS=0"], ["serve"]):
        assert " --path-output . " in commands(*whole)


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
