"""``{the-misconceptions}``: what students take for true, chapter by chapter.

The list comes from the collected wrong answers, so each line of it fails a check; the
figure beside it is the one that clears it up.
"""

import re
from itertools import groupby

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from website import manuscript, wrong_answers

LEVEL = re.compile(r"(?<=[.?!]) (?:Predict|Modify|Build|Prove), \d+ minutes$")


class TheMisconceptions(SphinxDirective):
    """A fold a chapter: the exercise, what is thought, the figure that helps."""

    def run(self) -> list[nodes.Node]:
        """Write it as Markdown, which knows links and folds."""
        for path in manuscript.visible(manuscript.ROOT / "book", "exercises/*.yml"):
            self.env.note_dependency(str(path))
        return self.parse_text_to_nodes("\n".join(lines(self.env.docname)))


def lines(docname: str) -> list[str]:
    """The Markdown of the list."""
    book, found = manuscript.read(), wrong_answers.collected()
    up = "../" * (docname.count("/") - 1)
    text: list[str] = []
    for part, pages in groupby(
        book.notebooks, key=lambda page: book.contents[page.name]
    ):
        text += [f":::{{dropdown}} {part}"]
        for page in pages:
            address = up + page.name.removeprefix("book/")
            text += [f"\n**[{page.title}]({address}.ipynb)**\n"]
            for exercise in page.exercises:
                one = found[exercise.label]
                thought = " ".join(f"*{wrong.thinks}*" for wrong in one.wrong)
                title = LEVEL.sub("", exercise.title)
                text += [
                    f"- **{title}** {thought} Show {{ref}}`this figure <{one.cure}>`."
                ]
        text += [":::\n"]
    return text


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_directive("the-misconceptions", TheMisconceptions)
