"""Firefox as the system has it, driven by Playwright over WebDriver BiDi.

Playwright's own Firefox is a patched one; Debian's speaks the standard protocol, and
Playwright (as ``channel="moz-firefox"``) speaks it too, but begins with a command that
Firefox 153 does not know. So Playwright starts this file in place of Firefox. It starts
Firefox, passes all messages on in both directions, and answers that command itself:

    with sync_playwright() as playwright, start(playwright) as browser: ...

Its colour scheme can therefore not be set, and motion is always reduced. What comes
from Chromium alone (CDP sessions, layout shifts) is not there either.
"""

import asyncio
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application
from tornado.websocket import WebSocketHandler, websocket_connect

NO_FIREFOX = "no Firefox found"
BROWSERS = ("firefox-esr", "firefox")
UNKNOWN = {"emulation.setMediaFeaturesOverride"}
"""Commands that Firefox does not know, and no test needs."""
LISTENS = "WebDriver BiDi listening on "
LARGEST = 2**30

QUIET = {
    "app.update.enabled": False,
    "browser.safebrowsing.downloads.remote.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
    "ui.prefersReducedMotion": 1,
}
"""It talks to nobody but this machine."""


def find_firefox() -> str | None:
    """The path of a Firefox: what FIREFOX names, or the first one installed."""
    return os.environ.get("FIREFOX") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )


@contextmanager
def start(playwright: Any) -> Iterator[Any]:
    """A headless Firefox; ask `find_firefox` first whether there is one."""
    with tempfile.TemporaryDirectory(prefix="firefox-") as folder:
        between = Path(folder, "firefox")
        command = shlex.join([sys.executable, __file__, str(find_firefox())])
        between.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        between.chmod(0o700)
        browser = playwright.firefox.launch(
            channel="moz-firefox", executable_path=between, firefox_user_prefs=QUIET
        )
        yield browser
        browser.close()


class Between(WebSocketHandler):
    """Playwright's connection; opens one to Firefox."""

    firefox: Any
    address = ""

    async def open(self, *_: str, **__: str) -> None:
        """Pass on what Firefox says."""
        self.firefox = asyncio.ensure_future(_connect(self.address, self._from_firefox))
        await self.firefox

    def _from_firefox(self, message: str | bytes | None) -> None:
        if message is None:
            self.close()
        else:
            self.write_message(message)

    async def on_message(self, message: str | bytes) -> None:
        """Pass on what Playwright says, and answer what Firefox would not."""
        asked = json.loads(message)
        if asked["method"] in UNKNOWN:
            said = {"type": "success", "id": asked["id"], "result": {}}
            await self.write_message(json.dumps(said))
        else:
            await (await self.firefox).write_message(message)

    def on_close(self) -> None:
        """Nobody is there any more."""
        self.firefox.result().close()

    def check_origin(self, _: str) -> bool:
        """Whoever reaches this machine's port."""
        return True


async def _connect(address: str, heard: Any) -> Any:
    return await websocket_connect(
        address, on_message_callback=heard, max_message_size=LARGEST
    )


async def main(command: list[str]) -> int:
    """Be Firefox."""
    firefox = await asyncio.create_subprocess_exec(
        *command, stderr=asyncio.subprocess.PIPE
    )
    assert firefox.stderr is not None
    while line := (await firefox.stderr.readline()).decode(errors="replace"):
        if LISTENS in line:
            Between.address = f"{line.split(LISTENS)[1].strip()}/session"
            routes = [(r"/.*", Between)]
            socket, port = bind_unused_port()
            application = Application(
                routes,
                websocket_max_message_size=LARGEST,  # type: ignore[arg-type]
            )
            HTTPServer(application).add_socket(socket)
            line = f"{LISTENS}ws://127.0.0.1:{port}\n"
        print(line, end="", file=sys.stderr, flush=True)
    return await firefox.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
