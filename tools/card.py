"""Draw the pictures that social networks show with a link, by the tests' Chromium.

website/static/card.png is the field of hands of the first page under the book's name;
card-<panel>.png is a panel of the quarter of an hour beside its title.
"""

import re
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "website"), str(ROOT / "tests/website")]

from tests.website.built_site import (  # type: ignore[import-not-found]  # noqa: E402
    CHROMIUM_OPTIONS,
    find_browser,
)
from website.quarter import still  # noqa: E402

STATIC = ROOT / "website/static"
BOOK = "Positional encodings, checked"
PAGE = """<!doctype html><html data-theme="light"><meta charset="utf-8">
<link rel="stylesheet" href="{static}/book.css">
<link rel="stylesheet" href="{static}/quarter.css">
<style>
html, body {{ overflow: hidden; }}
h1 {{ margin: 46px 44px 34px; font-size: 76px; letter-spacing: -0.02em; }}
.still {{ width: 1156px; margin: 0 22px; }}
.still text {{ font-size: 16.5px !important; }}
main {{ display: grid; grid-template: 1fr auto / 440px 1fr; gap: 0 56px; }}
main {{ width: 1200px; height: 630px; padding: 64px; }}
main h1 {{ margin: 0; font-size: 56px; line-height: 1.12; }}
main p {{ margin: 0; font: 28px var(--display); }}
main .still {{ width: auto; margin: auto 0; grid-area: 1 / 2 / 3; }}
main .still svg {{ max-width: none; max-height: 500px; }}
main .still text:not(.line) {{ font-size: 20px !important; }}
main .still .line {{ font-size: 34px !important; }}
</style>
{body}"""


def bodies() -> dict[str, str]:
    """What each picture shows, by the name of its file."""
    text = (ROOT / "book/quarter.md").read_text(encoding="utf-8")
    titles = re.findall(r"## (.*)\n\n```{panel} (\w+)", text)[:10]
    panels = {
        f"card-{name}": f"<main><h1>{title}</h1><p>{BOOK}</p>{still(name)}</main>"
        for title, name in titles
    }
    return {"card": f"<h1>{BOOK}</h1>{still('hero')}", **panels}


def photograph(page: Page, name: str, body: str) -> None:
    """Show the picture as a page, and store it in few colours."""
    page_file = STATIC / "card.html"
    page_file.write_text(
        PAGE.format(static=STATIC.as_uri(), body=body), encoding="utf-8"
    )
    page.goto(page_file.as_uri())
    page.evaluate("document.fonts.ready")
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    few = picture.quantize(128 if name == "card" else 32)
    few.save(STATIC / f"{name}.png", optimize=True)
    page_file.unlink()


def main() -> None:
    """Draw them all."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=find_browser(), args=CHROMIUM_OPTIONS
        )
        page = browser.new_page(viewport={"width": 1200, "height": 630})
        for name, body in bodies().items():
            photograph(page, name, body)
        browser.close()


if __name__ == "__main__":
    main()
