"""The reader of the book's files; what it reads of the book the other tests rely on."""

from pathlib import Path
from random import Random

import pytest

import manuscript
from manuscript import markdown
from manuscript.values import MARK, Value
from tests.made_page import made_page

CHAPTER = """\
# A title

(one)=
(two)=
## What `x` *is*, and $y$

```python
# not a heading
```

### Deeper
"""


def test_formulas_are_words_and_options_are_none() -> None:
    """What one reads."""
    text = (
        "(a)=\n[Two words](b.md#c)\n\n$$\na + b\n$$\n:::{margin}\n:class: c\nOne.\n:::"
    )
    assert manuscript.count_words(text + "<!-- none -->") == 4


def test_a_page_is_cut_at_its_headings() -> None:
    """A comment in code is no heading; a cell belongs where it stands."""
    page = made_page(CHAPTER, ("print(1)",), "Of the third level.\n\n## The end\n")
    assert page.title == "A title"
    assert [(s.title, s.level) for s in page.sections] == [
        ("A title", 1),
        ("What `x` *is*, and $y$", 2),
        ("Deeper", 3),
        ("The end", 2),
    ]
    _, second, third, last = page.sections
    assert second.labels == ("one", "two") and second.anchor == "what-x-is-and-y"
    assert "# not a heading" in second.texts[0].source and not second.cells
    assert [part.id for part in third.parts] == ["c1", "c2"]
    assert not last.parts


def test_claims_are_read_or_refused(tmp_path: Path) -> None:
    """A missing or a doubled one is an error that names the file."""
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").write_text("root: book/page\nparts: []\n")
    (tmp_path / "book/page.md").write_text("# Page\n")
    once = (
        "- {id: sky, claim: C, sources: [untraced], verdict: open,\n"
        "   why: W, settled_by: later}\n"
    )
    for text, message in (
        (once, ""),
        (once + once, "claims.yml: there are two claims 'sky'"),
        (once.replace("claim: C,", ""), "claims.yml, sky: .*claim"),
        (once.replace("untraced", ""), "claims.yml, sky: sources must say who"),
        (once.replace("untraced", "a, untraced"), "untraced. alone; got .'a', 'untr"),
    ):
        (tmp_path / "book/claims.yml").write_text(f"Q?:\n{text}")
        manuscript.read.cache_clear()
        if message:
            with pytest.raises(ValueError, match=message):
                manuscript.read(tmp_path)
        else:
            assert manuscript.read(tmp_path).claims["sky"].place == ""


IMPORTS = {
    "import torch": True,
    "import numpy, torch.nn as nn": True,
    "from torch import nn": True,
    "def later():\n    from pe_lib.experiments.training import train": True,
    "from pe_lib import (\n    plotting,\n    nn,\n)": True,
    "import pe_lib.check as check": True,
    "import torchless": False,
    "from pe_lib import naive  # not torch": False,
    "from pe_lib.nnet import a": False,
    "words = 'import torch'": False,
}


@pytest.mark.parametrize(("source", "needs"), IMPORTS.items())
def test_pytorch_is_seen_in_every_form_of_import(source: str, needs: bool) -> None:
    """Whatever is bound, and on however many lines."""
    assert made_page((source,)).needs_torch == needs


def test_what_a_page_reads_is_there_without_copies_of_jupyter(tmp_path: Path) -> None:
    """A file, a folder, the licences beside them."""
    for name in ("a.csv", ".ipynb_checkpoints/a.csv", "LICENSE.txt"):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    read = made_page(('all_of = Path("data/")',), folder=str(tmp_path)).reads
    assert [path.name for path in read] == ["LICENSE.txt", "a.csv"]


def test_exercises_by_their_labels_and_values_by_their_names() -> None:
    """As tags and the set-up cell have them; a value without its words is refused."""
    page = made_page(("x = 0", "solution-a"), ("x = 1", "check-a x"), ("x = 2",))
    assert page.solutions == {"a": "x = 0"} and page.checks == {"a": "x = 1"}
    assert page.values == []
    line = 'D = chosen(32, "4 to 1_000, even")  # width'
    source = f"import numpy\n{MARK}\n{line}"
    page = made_page((source, "setup parameters"))
    assert page.values == [Value("D", "32", "4", "1_000", True)]
    drawn = {page.values[0].drawn(Random(seed)) for seed in range(99)}
    assert all(int(one) % 2 == 0 and 4 <= int(one) <= 1000 for one in drawn)
    bare = made_page((source.removesuffix("  # width"), "parameters"))
    with pytest.raises(ValueError, match="NAME = chosen"):
        bare.values  # noqa: B018 (it is read)


@pytest.mark.parametrize(
    ("text", "words", "html"),
    [
        ("[the row P[0]](x) is", "the row P[0] is", "the row P[0] is"),
        ("2 * 3 * 4", "2 * 3 * 4", "2 * 3 * 4"),
        ("**a `b` c** *d*", "a b c d", "<b>a <code>b</code> c</b> <i>d</i>"),
        (
            "$t_{16}$ and\n`x < 1`",
            "t_{16} and\nx < 1",
            "=t_{16}= and <code>x &lt; 1</code>",
        ),
        ("by {ref}`him <a-b>` a<!-- no -->b", "by him ab", "by him ab"),
        ('a_b_c "q" <i>', 'a_b_c "q" <i>', "a_b_c &quot;q&quot; &lt;i&gt;"),
    ],
)
def test_a_line_is_read_as_markdown(text: str, words: str, html: str) -> None:
    """Its words alone, and as HTML with a formula between signs of equality."""
    assert markdown.words(text) == words
    assert markdown.as_html(text, "={}=".format) == html
