"""Nothing that a cell draws or shows leads away or asks another site for anything.

A browser may open a connection, by which nothing is asked, before it refuses the rest.
"""

import contextlib
import functools
import http.server
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live import steps
from tests.live.test_live import PAGE, SMALL, needs_engine
from tests.website import site_checks as checks
from tests.website.site_checks import Site

CALL = (
    "((urls, iceTransportPolicy) => { const iceServers = [{ urls, username: 'a', "
    "credential: 'b' }]; const it = new RTCPeerConnection({ iceServers, "
    "iceTransportPolicy }); it.createDataChannel('x'); "
    "it.createOffer().then((offer) => it.setLocalDescription(offer)); })("
)
DRAWN = """<style>@import 'FAR/1';</style>
<style>rect { fill: url(FAR/2#x) }</style>
<rect style="fill: url(FAR/3#x)" width="9" height="9"/>
<rect style="fill: u\\72l(FAR/4#x)" width="9" height="9"/>
<rect filter="url(FAR/5#x)" width="9" height="9"/>
<image href="FAR/6.png" width="9" height="9"/>
<image xlink:href="FAR/7.png" width="9" height="9"/>
<use href="FAR/8.svg#x"/>
<filter id="f"><feImage href="FAR/9.png"/></filter>
<foreignObject><img xmlns="HTML" src="FAR/10.png"/></foreignObject>
<script>fetch("FAR/11")</script>
<rect onload="fetch('FAR/12')" width="9" height="9"/>
<image href="#" width="9"><set attributeName="href" to="FAR/13"/></image>
<text mask="url( 'FAR/15#x' )">x</text>
<desc><meta http-equiv="refresh" content="0;url=FAR/50"/></desc>
<title><link rel="preconnect" href="FAR/51"/></title>
<desc><table background="FAR/52"><tr><td>x</td></tr></table></desc>
<desc><form action="FAR/53"><button>x</button></form></desc>"""
"""In a figure: one attack a line."""
SHOWN = """<img src="FAR/20.png">
<link rel="stylesheet" href="FAR/21.css">
<style>body { background: url(FAR/22.png) }</style>
<script>fetch("FAR/23").catch(() => 0)</script>
<script>new Image().src = "FAR/24"</script>
<iframe src="FAR/25"></iframe>
<form action="FAR/26"></form><script>[...document.forms].at(-1).submit()</script>
<script>navigator.sendBeacon("FAR/27")</script>
<video src="FAR/28" autoplay></video><object data="FAR/29"></object>
<script>new WebSocket("FAR/30".replace("http", "ws"))</script>
<script>import("FAR/31.js").catch(() => 0)</script>
<link rel="preload" as="image" href="FAR/32.png"><link rel="prefetch" href="FAR/33">
<base href="FAR"><img src="34.png"><script src="35.js"></script>
<script>new Worker(URL.createObjectURL(new Blob(["fetch('FAR/36')"])))</script>
<template shadowrootmode="open"><img src="FAR/37"></template>
<svg><style><a title="</style><iframe src='FAR/38'></iframe>"></a></style></svg>
<iframe srcdoc="<link rel='preconnect' href='FAR/39'>"></iframe>
<script>location = "FAR/40"</script>
<meta http-equiv="refresh" content="0; url=FAR/41">
<script>parent.location = "FAR/42"; top.location = "FAR/43"; open("FAR/44")</script>
<script>CALL('stun:HOST', 'all')</script>
<script>CALL('turn:HOST?transport=tcp', 'relay')</script>
<iframe srcdoc="<script>CALL('stun:HOST', 'all')</script>"></iframe>
<script>parent.document.querySelector('.live-mark').textContent = 'as stored'</script>
<div style="position: fixed; inset: 0; z-index: 99">as stored</div>"""
"""In a table: the same; the last two write over the page."""
STUB = """
addEventListener("message", ({ data }) => {
  if (data.do === "start") return postMessage({ kind: "ready" });
  const outputs = data.source === "attack" ? OUTPUTS : [];
  for (const output of outputs) postMessage({ kind: "output", output });
  postMessage({ kind: "done" });
});
"""
"""An engine that gives OUTPUTS, whatever Python could make of them."""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """Another server, and what it was asked for; a connection counts."""
    requests: list[str] = []

    class Noting(http.server.SimpleHTTPRequestHandler):
        def setup(self) -> None:
            requests.append("a connection")
            super().setup()

        def log_message(self, *message: Any) -> None:
            requests.append(" ".join(map(str, message)))

    handler = functools.partial(Noting, directory=str(tmp_path))
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        socket.socket(type=socket.SOCK_DGRAM) as packets,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        packets.bind(server.server_address[:2])

        def note() -> None:
            with contextlib.suppress(OSError):
                while True:
                    requests.append(f"a packet: {packets.recv(99)!r}")

        threading.Thread(target=note, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


@needs_engine
def test_nothing_leaves_the_page(
    browser: Any, site: Site, elsewhere: tuple[str, list[str]]
) -> None:
    """Each attack by itself; the page stays, and what it says."""
    far, requests = elsewhere
    host = far.removeprefix("http://")

    def aimed(text: str) -> list[str]:
        text = text.replace("CALL(", CALL).replace("HOST", host)
        text = text.replace("HTML", "http://www.w3.org/1999/xhtml")
        return text.replace("FAR", far).splitlines()

    given: list[dict[str, str]] = [{"text/javascript": "fetch(1)"}]
    for attack in aimed(DRAWN):
        svg = (
            "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9' "
            f"xmlns:xlink='http://www.w3.org/1999/xlink'>{attack}</svg>"
        )
        given.append({"image/svg+xml": svg})
    given += [{"text/html": attack} for attack in aimed(SHOWN)]
    outputs = [{"output_type": "display_data", "data": data} for data in given]
    worker = STUB.replace("OUTPUTS", json.dumps(outputs))
    with checks.visit(browser, site, site.url(PAGE)) as visit:
        page = visit.page
        page.route(
            "**/worker.js",
            lambda it: it.fulfill(body=worker, content_type="text/javascript"),
        )
        steps.begin(page)
        steps.rest(page)
        said = steps.write(page, SMALL, "attack")
        assert said == "differs, with your change"
        result = steps.result(page, SMALL)
        assert result.locator("iframe").count() == len(SHOWN.splitlines())
        assert result.locator("img").count() == len(DRAWN.splitlines())
        whole = result.locator("img").evaluate_all(
            "all => all.filter((e) => e.complete && e.naturalWidth).length"
        )
        assert whole == len(DRAWN.splitlines())
        page.wait_for_timeout(1500)
        assert set(requests) <= {"a connection"} and PAGE in page.url
        assert steps.mark(page, SMALL) == said
        box = page.locator(".live-message").bounding_box()
        at = page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y).className",
            [box["x"] + 9, box["y"] + 9],
        )
        assert at == "live-message"
        # And if the page itself were to hold it, nothing would be asked for.
        page.evaluate(
            """texts => texts.forEach((text) => document.body.append(
            document.createRange().createContextualFragment(text)))""",
            [*aimed(DRAWN)[:14], *aimed(SHOWN)[:17]],
        )
        page.wait_for_timeout(500)
        assert set(requests) <= {"a connection"} and PAGE in page.url
        # Where nobody forbids it, the other server hears them.
        bare = page.context.browser.new_page()
        bare.set_content("".join([*aimed(DRAWN)[:14], *aimed(SHOWN)[:17]]))
        bare.wait_for_timeout(500)
        bare.close()
        assert len({*re.findall(r"GET (/\d+)", " ".join(requests))}) > 9


def test_a_policy_on_every_page(site: Site) -> None:
    """But the root, which Jupyter Book writes and which leads to the first page."""
    pages = [*site.folder.glob("book/**/*.html")]
    bare = [p for p in pages if "Content-Security-Policy" not in p.read_text()]
    assert len(pages) > 50 and not bare
