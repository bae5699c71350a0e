"""Ids keep their meaning from release to release, and the version is one."""

import pytest

from course import kit, term
from website import changes, manuscript

BOOK = manuscript.read()
TEXT = changes.RELEASED.read_text(encoding="utf-8")


def test_no_id_of_a_release_vanished_or_changed_its_meaning() -> None:
    """Those of the list are there; those that are gone stay gone."""
    ids = changes.released(TEXT)
    assert len(ids) > 100
    assert term.broken(ids, BOOK) == []


def test_it_would_notice() -> None:
    """A vanished exercise, an id that came back, a line that is none."""
    some = changes.released(
        "exercise ex-vanished 0.1.0\nclaim shift-is-linear 0.1.0 gone"
    )
    assert [line.split(" of ")[0] for line in term.broken(some, BOOK)] == [
        "exercise ex-vanished",
        "claim shift-is-linear",
    ]
    for line in ("claim a 0.1.0 lost", "claim a 0.1.0\nclaim a 0.2.0"):
        with pytest.raises(ValueError, match=r"released\.txt"):
            changes.released(line)


def test_the_version_is_the_same_everywhere() -> None:
    """pyproject.toml, CITATION.cff and the newest release of CHANGELOG.md."""
    assert term.versions() == []


def test_another_version_is_noticed(monkeypatch, tmp_path) -> None:
    """In any of the three."""
    files = {
        "pyproject.toml": '[project]\nversion = "1.2.0"\n',
        "CITATION.cff": "version: 1.1.0\ndate-released: soon\n",
        "CHANGELOG.md": "## Unreleased\n## 1.0.0: a\n## 1.1.0: b\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for module in (kit, term):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    assert len(term.versions()) == 4


def test_the_page_of_changes_names_what_is_new_and_what_is_gone() -> None:
    """Every id of the book that the release had not, and none that it had."""
    ids = {
        k for k, (release, _) in changes.released(TEXT).items() if release == "0.1.0"
    }
    page = "\n".join(changes.lines("book/reference/changes"))
    since = page[page.index("Since 0.1.0") :]
    for kind, name in sorted(changes.of_book(BOOK)):
        if kind == "exercise":
            assert (f"(`{name}`)" in since) == ((kind, name) not in ids), name
        elif name in BOOK.settled:
            assert (f"(#claim-{name})" in since) == ((kind, name) not in ids), name
    assert "exercise `ex-own-code`" in since.split("**Gone:**")[1].splitlines()[0]
    assert "It is the ones first, everywhere." in page and "](book/" not in page
