"""The site around the pages: what Sphinx does for this book beyond its own.

``_config.yml`` names this package; it lists the modules that extend Sphinx.
"""

from typing import Any

EXTENSIONS = (
    "chapters",
    "claims",
    "editions",
    "figures",
    "folds",
    "page_context",
    "katex_math",
    "live.extension",
    "search",
    "ten_drawings",
)


def setup(app: Any) -> None:
    """Register them with Sphinx."""
    from pybtex.backends.plaintext import Backend  # type: ignore[import-untyped]
    from pybtex.plugin import register_plugin  # type: ignore[import-untyped]

    # Asked for at every citation, where pybtex would read about all installed packages.
    register_plugin("pybtex.backends", "plaintext", Backend, force=True)
    for name in EXTENSIONS:
        app.setup_extension(f"website.{name}")
