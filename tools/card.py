"""Draw book/_static/card.png, the picture that social networks show with a link.

The field of hands of the first page under the book's name, 1200 by 630 pixels, by the
Chromium that the tests use.
"""

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "book/_ext"), str(ROOT / "tests/site")]

import quarter  # noqa: E402
from built_site import (  # type: ignore[import-not-found]  # noqa: E402
    CHROMIUM_OPTIONS,
    find_browser,
)

STATIC = ROOT / "book/_static"
PAGE = """<!doctype html><html data-theme="light"><meta charset="utf-8">
<link rel="stylesheet" href="{static}/book.css">
<link rel="stylesheet" href="{static}/quarter.css">
<style>
html, body {{ overflow: hidden; }}
h1 {{ margin: 46px 44px 34px; font-size: 76px; letter-spacing: -0.02em; }}
.still {{ width: 1156px; margin: 0 22px; }}
.still text {{ font-size: 16.5px !important; }}
</style>
<h1>Positional encodings, checked</h1>{field}"""


def main() -> None:
    """Photograph the page."""
    page_file = STATIC / "card.html"
    field = quarter.still("hero")
    page_file.write_text(
        PAGE.format(static=STATIC.as_uri(), field=field), encoding="utf-8"
    )
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=find_browser(), args=CHROMIUM_OPTIONS
            )
            page = browser.new_page(viewport={"width": 1200, "height": 630})
            page.goto(page_file.as_uri())
            page.evaluate("document.fonts.ready")
            picture = Image.open(BytesIO(page.screenshot()))
            few = picture.convert("RGB").quantize(128)
            few.save(STATIC / "card.png", optimize=True)
            browser.close()
    finally:
        page_file.unlink()


if __name__ == "__main__":
    main()
