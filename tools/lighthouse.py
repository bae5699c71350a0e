"""Measure the built site with Lighthouse, as a phone loads it.

Serves _build/html compressed on this machine, opens pages five times each, and
prints the median of each score. Needs Node (npx) and Chromium; nothing of it is
in requirements.txt, because the scores wobble with the machine and gate nothing.

    python tools/lighthouse.py [RUNS] [PAGE ...]
"""

import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).parents[1] / "_build/html"
LIGHTHOUSE = "lighthouse@12.8.2"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
COMPRESSED = {".html", ".css", ".js", ".svg", ".json", ".xml"}


class Handler(SimpleHTTPRequestHandler):
    """Serve files as an ordinary web host does: compressed, and kept for a while."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Send one file."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        self.send_response(200)
        if path.suffix in COMPRESSED:
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def measure(address: str, chromium: str) -> dict[str, float]:
    """Run Lighthouse once on one page; return its scores, 0 to 100."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        subprocess.run(
            [
                *("npx", "--yes", LIGHTHOUSE, address, "--quiet", "--output=json"),
                f"--output-path={report}",
                f"--only-categories={','.join(CATEGORIES)}",
                "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
            ],
            check=True,
            env={**os.environ, "CHROME_PATH": chromium},
        )
        found = json.loads(report.read_text(encoding="utf-8"))
    scores = {name: 100 * found["categories"][name]["score"] for name in CATEGORIES}
    shift = found["audits"]["cumulative-layout-shift"]["numericValue"]
    size = found["audits"]["total-byte-weight"]["numericValue"] / 1024
    return {**scores, "shift": shift, "KB": size}


def main() -> None:
    """Print a line for every page."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    names = sys.argv[2:] or [
        page.relative_to(SITE).as_posix()
        for page in sorted(SITE.glob("book/**/*.html"))
    ]
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not (chromium and shutil.which("npx")):
        sys.exit("Lighthouse needs Node (npx) and Chromium; one of them is missing.")
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *request: Handler(*request, directory=str(SITE))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in names:
        address = f"http://127.0.0.1:{server.server_port}/{name}"
        results = [measure(address, chromium) for _ in range(runs)]
        medians = {
            key: statistics.median(r[key] for r in results) for key in results[0]
        }
        print(name, *(f"{key} {value:.4g}" for key, value in medians.items()), sep="  ")


if __name__ == "__main__":
    main()
