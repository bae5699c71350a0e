"""Make the letters of the site: Source Serif 4, Source Code Pro and KaTeX's, cut.

    npm pack @fontsource-variable/source-serif-4@5.3.1 @fontsource/source-code-pro@5.3.1
    npm pack katex@0.16.22
    (unpack the three archives into folders named "serif", "code" and "katex")
    python -m website.fonts serif/package/files code/package/files \\
        katex/package/dist/fonts

writes ``website/static/fonts/*.woff2`` and four of ``website/static/katex/fonts``. It
needs fontTools (constraints.txt pins it) and brotli 1.2.0. A letter that the site
needs and lacks is added to ``TEXT`` here, one of a formula to ``katex_math.LETTERS``.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fontTools import subset  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from fontTools.varLib import instancer  # type: ignore[import-untyped]

from website.katex_math import LETTERS

STATIC = Path(__file__).parent / "static"
ASCII = "".join(map(chr, range(0x20, 0x7F))) + "\u00a0"
CODE = ASCII + "·×\u2013’“”…\u2212"
DISPLAY = ASCII + "×éïü\u2013—\u2018’“”…\u2212"
TEXT = (
    ASCII + "§©°±²³·¹½ÄÉÖ×Üßàáâäåçèéêëíïñóôö÷øúü" + "\u2013—\u2018’“”„•…\u2032″\u2212"
)
DISPLAY_AXES = {"opsz": 40, "wght": 600}
SERIF = "source-serif-4-latin-opsz"

# The file, its source, the axes that are kept or fixed, its name, its letters.
FACES: tuple[tuple[str, str, dict[str, Any], str, str], ...] = (
    ("serif", f"{SERIF}-normal", {"opsz": 16, "wght": (400, 700)}, "PE Text", TEXT),
    ("serif-italic", f"{SERIF}-italic", {"opsz": 16, "wght": 400}, "PE Text", TEXT),
    ("serif-display", f"{SERIF}-normal", DISPLAY_AXES, "PE Display", DISPLAY),
    ("code", "source-code-pro-latin-400-normal", {}, "PE Code", CODE),
)
FORMULAS = ("AMS-Regular", "Main-Bold", "Main-Regular", "Math-Italic")
"""KaTeX's largest; what a formula seldom needs stays whole."""


def write(font: TTFont, letters: Iterable[str], path: Path) -> None:
    """Keep the letters, leave out hints, and say how large the file is."""
    options = subset.Options(hinting=False)
    options.layout_features = ["kern", "liga", "ccmp", "locl", "mark"]
    options.notdef_outline = True
    cut = subset.Subsetter(options)
    cut.populate(text="".join(letters))
    cut.subset(font)
    font.flavor = "woff2"
    font.save(path)
    print(f"{path.name}: {path.stat().st_size / 1000:.1f} KB")


def main(serif: str, code: str, katex: str) -> None:
    """Write the eight files, and to what letters those of formulas were cut."""
    for file, source, axes, name, letters in FACES:
        folder = Path(code if file == "code" else serif)
        font = TTFont(folder / f"{source}.woff2")
        if axes:
            font = instancer.instantiateVariableFont(font, axes)
        for kind in (1, 4):
            font["name"].setName(name, kind, 3, 1, 0x409)
        write(font, letters, STATIC / f"fonts/{file}.woff2")
    cut = STATIC / "katex/fonts"
    for face in FORMULAS:
        file = f"KaTeX_{face}.woff2"
        write(TTFont(Path(katex, file)), LETTERS, cut / file)
    (cut / "letters.txt").write_text("".join(LETTERS), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
