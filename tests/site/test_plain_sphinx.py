"""The way out of Jupyter Book: what `make conf` writes, and what its check sees."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import plain_sphinx  # noqa: E402

PAGE = """<article>
<p>A word, <a href="other.html#there">a link</a>,
<svg class="figure"><path d="M0 0h9"/></svg></p>{end}
</article>
<script src="_static/book.js{version}"></script>
"""
THEBE = """
    <script type="text/x-thebe-config">
    { requestKernel: true }
    </script>
    <script>kernelName = 'python3'</script>"""


def site(folder, page, **more):
    folder.mkdir()
    (folder / "page.html").write_text(page, encoding="utf-8")
    for name, text in more.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def compare(tmp_path, before, after, **more):
    expected, found = site(tmp_path / "1", before), site(tmp_path / "2", after, **more)
    return list(plain_sphinx.differences(expected, found))


def test_what_may_differ(tmp_path):
    with_thebe = PAGE.format(end=THEBE, version="?v=0fc248ba")
    assert compare(tmp_path, with_thebe, PAGE.format(end="\n", version="")) == []


@pytest.mark.parametrize(
    ("there", "here"),
    [("A word", "Two words"), ("#there", "#here"), ("h9", "h8"), ("book.js", "new.js")],
)
def test_what_may_not_differ(tmp_path, there, here):
    page = PAGE.format(end="", version="")
    (fault,) = compare(tmp_path, page, page.replace(there, here))
    assert fault.startswith("page.html")
    assert there in fault and here in fault


def test_files_may_not_differ(tmp_path):
    page = PAGE.format(end="", version="")
    (fault,) = compare(tmp_path, page, page, figure="<svg/>")
    assert fault == f"figure is only in {tmp_path / '2'}"


def test_the_settings_need_no_jupyter_book(tmp_path, monkeypatch):
    """They name this folder's extensions, and none that is not needed."""
    monkeypatch.setattr(plain_sphinx, "PLAIN", tmp_path / "plain")
    monkeypatch.setattr(sys, "path", [*sys.path])
    plain_sphinx.write_settings()
    settings = runpy.run_path(str(tmp_path / "plain/conf.py"))
    extensions = settings["extensions"]
    own = {
        path.stem
        for path in (ROOT / "book/_ext").glob("*.py")
        if "\ndef setup(" in path.read_text(encoding="utf-8")
    }
    assert {"myst_nb", "sphinx_external_toc"} <= set(extensions)
    assert own and own <= set(extensions)
    assert not set(plain_sphinx.NOT_NEEDED) & set(extensions)
    assert (tmp_path / "plain/book/index.md").is_file()
    assert Path(sys.path[0]) == tmp_path / "plain/book/_ext"
