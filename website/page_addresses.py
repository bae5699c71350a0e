"""What the world outside is told about a page, from one setting.

``html: baseurl`` in ``_config.yml`` is the site's address. With it, pages name
their canonical address (Sphinx does that), and the site gets a sitemap, social
tags and a page for addresses that do not exist. Without it, only what is true
at any address is written. Either way the site's root gets a short way in.

``repository: url`` is the repository's address; ``website/theme/next.html`` makes of it
the links that launch a notebook, show its source and report a mistake.
"""

import html
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def head(
    app: Sphinx, pagename: str, _: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give the templates a page's description and its social tags.

    The description is in the metadata of a notebook or the front matter of a Markdown
    page.
    """
    book = app.config.html_title
    properties = []
    title, about = context.get("title", ""), context.get("about", "")
    if doctree is not None:
        title = next(doctree.findall(nodes.title)).astext()
        written = (context.get("meta") or {}).get("description", "")
        about = written or f"{title}: a page of {book}."
    if about:
        names = [("description", about)]
        properties = [
            ("og:type", "article"),
            ("og:site_name", book),
            ("og:title", title),
            ("og:description", about),
        ]
        if context.get("pageurl"):
            card = f"{app.config.html_baseurl.rstrip('/')}/_static/card.png"
            properties += [("og:url", context["pageurl"]), ("og:image", card)]
            names.append(("twitter:card", "summary_large_image"))
    else:
        names = [
            ("description", f"{book}: {pagename}"),
            ("robots", "noindex"),
        ]
    context["head_names"] = names
    context["head_properties"] = properties


def sitemap(base: str, pages: list[str]) -> str:
    """Return the list of all addresses for search engines."""
    entries = "".join(
        f"  <url><loc>{html.escape(base)}{page}.html</loc></url>\n" for page in pages
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{entries}</urlset>\n"
    )


SMALL_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; img-src data:; form-action 'self' file:">
<meta name="description" content="{title}">
<title>{title} - {book}</title>
{head}<style>
body {{ font: 1.1rem/1.6 system-ui, sans-serif }}
main {{ max-width: 34rem; margin: 3rem auto; padding: 0 1rem }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def not_found(book: str, base: str) -> str:
    """Return the page for an address that does not exist; it needs no other file."""
    links = "".join(
        f'<li><a href="{base}book/{page}.html">{text}</a></li>\n'
        for page, text in (
            ("index", "The first page"),
            ("reference/claims", "What people say about positional encodings"),
            ("reference/glossary", "The glossary"),
        )
    )
    form = (
        f'<form action="{base}book/index.html"><label>Search the book: '
        '<input type="search" name="q"></label> <button>Search</button></form>'
    )
    return SMALL_PAGE.format(
        title="This page is not here",
        book=book,
        head="",
        body=f"<ul>\n{links}</ul>{form}",
    )


def first_page(book: str) -> str:
    """Return the short way from the site's root to the book's first page."""
    return SMALL_PAGE.format(
        title=book,
        book="start",
        head='<link rel="icon" href="data:,">\n'
        '<meta http-equiv="refresh" content="0; url=book/index.html">\n',
        body='<p><a href="book/index.html">To the first page</a></p>',
    )


def write_files(app: Sphinx, exception: Exception | None) -> None:
    """Write the way in, and with an address the sitemap and the page for 404."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    book = html.escape(app.config.html_title)
    (out / "index.html").write_text(first_page(book), encoding="utf-8")
    for name in ("sitemap.xml", "404.html"):
        (out / name).unlink(missing_ok=True)
    if app.config.html_baseurl:
        base = app.config.html_baseurl.rstrip("/") + "/"
        pages = sorted(app.env.found_docs)
        (out / "sitemap.xml").write_text(sitemap(base, pages), encoding="utf-8")
        (out / "404.html").write_text(not_found(book, base), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register with Sphinx; the first page after Jupyter Book wrote its own."""
    app.connect("html-page-context", head)
    app.connect("build-finished", write_files, priority=950)
