"""What a term rests on: ids that keep their meaning, and one version in all places.

    python course/term.py    # at a release: the book's ids join released.txt

``released.txt`` is explained in ``website/changes.py``, which makes a page of it.
"""

import re
from datetime import date

from course import kit
from website import manuscript
import yaml
from website.changes import RELEASED, Ids, of_book, released
from website.manuscript import ROOT, Manuscript

HEADING = re.compile(r"^## (\d+\.\d+\.\d+)\b", re.MULTILINE)


def broken(ids: Ids, book: Manuscript) -> list[str]:
    """Ids that vanished without a word, and ids that were gone and are used again."""
    now = of_book(book)
    return [
        f"{kind} {name} of {release} "
        + ("is gone, and used again" if gone else "vanished: mark it in released.txt")
        for (kind, name), (release, gone) in ids.items()
        if gone == ((kind, name) in now)
    ]


def versions() -> list[str]:
    """Where the version is said otherwise than in pyproject.toml."""
    version = kit.version()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    log = HEADING.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    wrong = []
    if cited["version"] != version:
        wrong.append(f"CITATION.cff says version {cited['version']}, not {version}")
    if not isinstance(cited["date-released"], date):
        wrong.append(f"CITATION.cff: {cited['date-released']!r} is no date")
    if log[:1] != [version]:
        wrong.append(f"the newest release of CHANGELOG.md is {log[:1]}, not {version}")
    if sorted(log, key=lambda v: [*map(int, v.split("."))], reverse=True) != log:
        wrong.append("the releases of CHANGELOG.md are not in their order")
    return wrong


def main() -> None:
    """Add what the book has now, as of its version."""
    text = RELEASED.read_text(encoding="utf-8")
    fresh = sorted(of_book(manuscript.read()) - set(released(text)))
    lines = [f"{kind} {name} {kit.version()}\n" for kind, name in fresh]
    RELEASED.write_text(text + "".join(lines), encoding="utf-8")
    print(f"{len(fresh)} ids added")


if __name__ == "__main__":
    main()
