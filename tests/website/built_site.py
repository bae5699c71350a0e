"""A strict build of the site, served on this machine, and the browser to open it in."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from course import handouts
from tests.website.site_checks import ROOT, Site

NO_BROWSER = "no Chromium found"
JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"

# It runs as root in a container, and talks to nobody but this machine.
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def find_browser() -> str | None:
    """Its path: what the variable CHROMIUM names, or the first installed."""
    found = map(shutil.which, handouts.BROWSERS)
    return os.environ.get("CHROMIUM") or next(filter(None, found), None)


class Build(NamedTuple):
    """A build of the site, and how it went."""

    folder: Path
    status: int
    output: str


def build(folder: Path) -> Build:
    """Build the site as `make book` does, but elsewhere; only once for all workers."""
    html = folder / "_build/html"
    log = folder / "build.log"
    with FileLock(f"{folder}.lock"):
        if not log.exists():
            options = ["--path-output", str(folder), "-W", "-n", "--keep-going"]
            result = subprocess.run(
                [sys.executable, "-c", JUPYTER_BOOK, "build", str(ROOT), *options],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            folder.mkdir(exist_ok=True)
            log.write_text(f"{result.returncode}\n{result.stdout}", encoding="utf-8")
    status, _, output = log.read_text(encoding="utf-8").partition("\n")
    return Build(html, int(status), output)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, *_: Any) -> None:
        """Keep silent."""


def serve(folder: Path) -> Iterator[Site]:
    """Serve a folder at a free port of this machine."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}/")
        server.shutdown()
