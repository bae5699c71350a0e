"""The book as data: what stands in its pages, and the notebook that a reader gets.

``pages`` reads every file of the book once, ``claims`` the ledger, ``values`` what a
reader may change, ``markdown`` the words of a line. ``edition`` makes the reader's
notebook of a page, with what ``sources``, ``stubs`` and ``wrong_answers`` give it;
``dependencies`` says on which cells an exercise rests. Site, course, tools and tests
ask here, and nobody else parses a notebook. Nothing in it knows of Sphinx.

    book = manuscript.read()
    book.listed                      the names of _toc.yml, in reading order
    book.pages["book/problem/adding"].sections[2].title
    book.claims["linear-shift"].verdict
"""

from manuscript.claims import UNTRACED, Claim
from manuscript.pages import (
    DEEPER,
    EXERCISES,
    RECALL,
    ROOT,
    SOLUTIONS,
    Cell,
    Manuscript,
    Page,
    Section,
    count_words,
    read,
    read_page,
)

__all__ = [
    "DEEPER",
    "EXERCISES",
    "RECALL",
    "ROOT",
    "SOLUTIONS",
    "UNTRACED",
    "Cell",
    "Claim",
    "Manuscript",
    "Page",
    "Section",
    "count_words",
    "read",
    "read_page",
]
