"""The site's extensions: what they write is true, also without any address."""

import re

from sphinx.testing.util import SphinxTestApp

from manuscript import ROOT
from website import folds, katex_math, page_context

SITE = "https://example.org/book/"
EXTENSIONS = [
    "website.chapters",
    "website.figures",
    "website.page_context",
    "website.katex_math",
]


# A small site, really built


def build(folder, text, **config):
    """Build a site of one page with some of the extensions; return it and the log."""
    (folder / "page.rst").write_text(text, encoding="utf-8")
    (folder / "conf.py").touch()
    settings = {
        "extensions": EXTENSIONS,
        "root_doc": "page",
        "html_title": "A & B",
        "html_theme_path": [str(ROOT / "website")],
        "html_theme": "theme",
        "html_static_path": [str(ROOT / "website/static")],
        "html_math_renderer": "katex",
    }
    app = SphinxTestApp("html", folder, confoverrides={**settings, **config})
    app.build()
    app.cleanup()
    page = (app.outdir / "page.html").read_text(encoding="utf-8")
    return page, app.warning.getvalue()


PAGE = """
:description: Short & good.

Title of it & *more*
====================

A sentence, and :math:`a`.
"""


def test_with_an_address_all_is_absolute(tmp_path):
    """And a repository is offered: its source, a form for mistakes."""
    repository = "https://github.com/owner/name/"
    options = {
        "repository_url": repository,
        "repository_branch": "main",
        "launch_buttons": {"binderhub_url": "https://mybinder.org"},
    }
    address = SITE.rstrip("/")
    page, log = build(tmp_path, PAGE, html_baseurl=address, html_theme_options=options)
    assert log == ""
    assert f'<link rel="canonical" href="{SITE}page.html"' in page
    links = re.findall(r'<a href="(https:[^"]*)"', page)
    assert len(links) == 2
    assert all(link.startswith(repository) for link in links)
    assert '<meta name="description" content="Short &amp; good." />' in page


def test_what_a_reader_would_miss_is_a_warning(tmp_path):
    """A formula that cannot be drawn, a letter that the fonts lack; the engine ends."""
    # Its thread is one that Python 3.13 waits for: the build never ended.
    katex_math.close_engine(None, None)
    _, log = build(tmp_path, "Title\n=====\n\n:math:`\\nosuch{a}` :math:`a \\cong b`\n")
    assert "Undefined control sequence" in log
    assert "draws ≅, which the fonts lack" in log
    assert not katex_math.engine.cache_info().currsize


# Their parts


def test_sine_and_cosine_have_their_colours():
    drawn = katex_math.draw(r"\sin^2 a + \cos b + \log c", display=False)
    assert 'class="mop sine">sin<' in drawn
    assert 'class="mop cosine">cos<' in drawn
    assert 'class="mop">lo' in drawn


def test_katex_and_its_style_sheet_are_of_one_version():
    script = katex_math.KATEX.read_text(encoding="utf-8")
    sheet = (ROOT / "website/static/katex/katex.min.css").read_text(encoding="utf-8")
    (version,) = re.findall(r'version:"([\d.]+)"', script)
    assert f'content:"{version}"' in sheet


def test_the_fonts_were_cut_to_the_letters_that_a_formula_may_draw():
    """As they are now: who adds one makes the fonts again."""
    path = ROOT / "website/static/katex/fonts/letters.txt"
    assert path.read_text(encoding="utf-8") == "".join(katex_math.LETTERS)


def test_code_and_formulas_in_the_sentence_of_a_check():
    kinds = [type(node).__name__ for node in folds.inline("`f` keeps $x$ so")]
    assert kinds == ["literal", "Text", "math", "Text"]


def test_a_number_keeps_its_per_cent():
    """In the text; what is copied from code is what was written."""
    assert page_context.unbroken("<td>99 %</td>") == "<td>99\u00a0%</td>"
    code = '<pre>print("99 %")\n7 % 2</pre>'
    assert page_context.unbroken(code) == code


def test_a_comment_may_stand_above_its_line():
    """Both are boxes behind the indentation, sines have their colour in code alone, and
    the text is the same.
    """
    lines = (
        '<pre><span></span><span class="c1"># first</span>\n'
        '<span class="k">for</span> a in b:  '
        '<span class="c1"># each</span>\n'
        '    <span class="n">sin</span><span class="p">(</span>a)  '
        '<span class="c1"># twice</span>\n'
        '    <span class="c1"># alone</span>\n'
        '<span class="s">d = """\n  e</span>  <span class="c1"># not</span></pre>'
        '<span class="n">sin</span>'
    )
    shown = page_context.CODE.sub(page_context.as_styled, lines)
    assert shown.count('<span class="ended"><span>') == 2
    assert '    <span class="ended"><span><span class="n sine">sin</span>(a)  ' in shown
    assert shown.endswith('</pre><span class="n">sin</span>')
    assert re.sub("<.*?>", "", shown) == re.sub("<.*?>", "", lines)
