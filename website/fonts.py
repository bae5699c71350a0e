"""Make the letters of the site: subsets of Source Serif 4 and Source Code Pro.

    npm pack @fontsource-variable/source-serif-4@5.3.1 @fontsource/source-code-pro@5.3.1
    (unpack the two archives into folders named "serif" and "code")
    python -m website.fonts serif/package/files code/package/files

writes ``website/static/fonts/*.woff2``. It needs fontTools (constraints.txt pins it)
and brotli 1.2.0. A letter that the site needs and lacks is added to ``TEXT`` here.
"""

import sys
from pathlib import Path
from typing import Any

from fontTools import subset  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from fontTools.varLib import instancer  # type: ignore[import-untyped]

TARGET = Path(__file__).parents[1] / "website/static/fonts"
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


def make(source: Path, axes: dict[str, Any], name: str, letters: str) -> TTFont:
    """Fix the axes, keep the letters, leave out hints, and give it its name."""
    font = TTFont(source)
    if axes:
        font = instancer.instantiateVariableFont(font, axes)
    options = subset.Options(hinting=False)
    options.layout_features = ["kern", "liga", "ccmp", "locl", "mark"]
    options.notdef_outline = True
    cut = subset.Subsetter(options)
    cut.populate(text=letters)
    cut.subset(font)
    for kind in (1, 4):
        font["name"].setName(name, kind, 3, 1, 0x409)
    font.flavor = "woff2"
    return font


def main(serif: str, code: str) -> None:
    """Write the four files, and say how large they are."""
    for file, source, axes, name, letters in FACES:
        folder = Path(code if file == "code" else serif)
        path = TARGET / f"{file}.woff2"
        make(folder / f"{source}.woff2", axes, name, letters).save(path)
        print(f"{path.name}: {path.stat().st_size / 1000:.1f} KB")


if __name__ == "__main__":
    main(*sys.argv[1:])
