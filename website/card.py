"""Draw the picture that social networks show with a link, by the tests' Chromium.

website/static/card.png is the field of hands of the first page under the book's name.
"""

import shutil
from io import BytesIO

from PIL import Image
from playwright.sync_api import sync_playwright

from manuscript import ROOT
from pe_lib.explorers import Hero
from pe_lib.explorers.drawing import read

STATIC = ROOT / "website/static"
BOOK = "Positional encodings, checked"
PAGE = """<!doctype html><html data-theme="light"><meta charset="utf-8">
<link rel="stylesheet" href="{static}/book.css">
<style>{style}</style>
<style>
html, body {{ overflow: hidden; }}
h1 {{ margin: 46px 44px 34px; font-size: 76px; letter-spacing: -0.02em; }}
.still {{ width: 1156px; margin: 0 22px; }}
.still text {{ font-size: 16.5px !important; }}
</style>
<h1>{title}</h1><div class="still">{drawing}</div>"""


def main() -> None:
    """Show it as a page, and store it in few colours."""
    style, static = read("drawing.css"), STATIC.as_uri()
    shown = PAGE.format(
        static=static, style=style, title=BOOK, drawing=Hero().picture()
    )
    page_file = STATIC / "card.html"
    page_file.write_text(shown, encoding="utf-8")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 630})
        page.goto(page_file.as_uri())
        page.evaluate("document.fonts.ready")
        picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    picture.quantize(128).save(STATIC / "card.png", optimize=True)
    page_file.unlink()


if __name__ == "__main__":
    main()
