"""What runs inside the reader's browser: the cells of a page, as Jupyter runs them.

The page's worker calls :func:`handle` with a request in JSON. What a cell gives goes to
standard output, one JSON object a line, each an output as a notebook stores it:

    {"output_type": "stream", "name": "stdout", "text": ...}
    {"output_type": "display_data", "data": {type: ...}}     one type: what is shown
    {"output_type": "error", "ename": ..., "evalue": ..., "line": ..., "traceback": ...,
     "wanted": what an assertion wants that could not be tried on the answer above it}

Nothing here knows what is stored: the page compares. Figures are what matplotlib's
inline backend would make, byte for byte.
"""

import ast
import builtins
import io
import json
import linecache
import logging
import os
import sys
import time
import traceback
import types
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

PACKS = Path("/live/packs")
UNPACKED = {
    "/live/book.zip": "/live/lib",
    "/live/drawing.zip": "/usr/local/lib/python315.zip/matplotlib/mpl-data",
}
NAMES = {"torch": "PyTorch", "sympy": "SymPy", "scipy": "SciPy"}
FETCHED = {"mpmath", "scipy", "sympy"}
NOT_HERE = "{} is not in the Python of a page; save the page as a notebook to use it."
NOT_FETCHED = "{} is fetched when a cell imports it by name, and could not be had now."
NO_INPUT = "input() cannot ask on a page: write the value into the cell."
BFLOAT16 = object()
"""Stands for ml_dtypes.bfloat16, which NumPy does not know here."""
PIECE = 60_000

_write = os.write
_names: dict[str, Any] = {}
_kept: dict[int, dict[str, Any]] = {}
"""By the number of each cell that ran the names below it."""


def tell(output_type: str, **what: Any) -> None:
    """Send an output to the page."""
    for stream in STREAMS:
        stream.flush()
    _send({"output_type": output_type, **what})


def _send(output: dict[str, Any]) -> None:
    data = json.dumps(output).encode() + b"\n"
    while data:
        data = data[_write(1, data) :]


class Stream(io.StringIO):
    """Standard output or error of a cell: keeps a little, sends the rest on."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def write(self, text: str) -> int:
        """Print."""
        if super().write(text) and self.tell() > 4000:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send what was kept."""
        if text := self.getvalue():
            self.seek(0)
            self.truncate()
            _send({"output_type": "stream", "name": self.name, "text": text})


STREAMS = (Stream("stdout"), Stream("stderr"))


def show_figure(figure: Any) -> None:
    """Send a figure, drawn with the options of matplotlib's inline backend."""
    if not figure.axes and not figure.lines:
        return
    file = io.BytesIO()
    figure.canvas.print_figure(
        file,
        format="svg",
        facecolor=figure.get_facecolor(),
        edgecolor=figure.get_edgecolor(),
        dpi=figure.dpi,
        bbox_inches="tight",
        metadata={"Date": None, "Creator": None},
    )
    tell("display_data", data={"image/svg+xml": file.getvalue().decode()})


def show_all(**_options: Any) -> None:
    """Send every open figure and close it: what ``plt.show`` does in a notebook."""
    if (plt := sys.modules.get("matplotlib.pyplot")) is None:
        return
    try:
        for number in plt.get_fignums():
            show_figure(plt.figure(number))
    finally:
        plt.close("all")


def show(value: Any) -> None:
    """Send what a notebook shows of a value."""
    if type(value).__module__ == "matplotlib.figure":
        show_figure(value)
    elif hasattr(value, "_repr_html_") and not isinstance(value, type):
        tell("display_data", data={"text/html": str(value._repr_html_())})
    elif value is not None:
        tell("display_data", data={"text/plain": repr(value)})


def prepare() -> None:
    """Unpack what must lie in folders, and take the place of what is not here."""
    import zipfile

    for archive, folder in UNPACKED.items():
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    sys.path.insert(0, "/live/lib")
    os.chdir("/live/lib/book/beyond")  # whose kept files cells read
    os.access = is_there  # permissions are unknown here, and matplotlib asks
    time.sleep = sleep  # type: ignore[assignment]
    os.environ["MPLBACKEND"] = "module://website.live.backend"
    builtins.input = ask
    logging.getLogger("matplotlib.font_manager").setLevel(
        "ERROR"
    )  # formulas ask for more
    sys.modules["ml_dtypes"] = module = types.ModuleType("ml_dtypes")
    vars(module).update(bfloat16=BFLOAT16, __getattr__=lacking)
    forget()


def sleep(seconds: float) -> None:
    """``time.sleep``: the system's would last as long as Python has run."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def is_there(path: Any, *_: Any, **__: Any) -> bool:
    """Whether there is such a file."""
    return os.path.exists(path)  # noqa: PTH110 (pathlib may not be loaded yet)


def ask(_prompt: object = "") -> NoReturn:
    """``input``: nobody can be asked."""
    raise EOFError(NO_INPUT)


def lacking(name: str) -> NoReturn:
    """What ml_dtypes has besides: importing it is possible, using it is not."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(NOT_HERE.format("ml_dtypes"), name="ml_dtypes")


class Casts(ast.NodeTransformer):
    """Lets ``x.astype(ml_dtypes.bfloat16)`` do its rounding without that package."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Send the casts of a cell through `cast`."""
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "astype" and node.args:
            text = f"__import__('sys').modules[{__name__!r}].cast"
            function = ast.parse(text, mode="eval").body
            arguments = [called.value, *node.args]
            made = ast.Call(function, arguments, node.keywords)
            return ast.copy_location(made, node)
        return node


def cast(values: Any, dtype: Any, *rest: Any, **options: Any) -> Any:
    """``values.astype(dtype)``; what bfloat16 would hold comes as float32.

    It has 8 digits, and below its smallest normal number 2**-126 steps of 2**-133.
    """
    if dtype is not BFLOAT16:
        return values.astype(dtype, *rest, **options)
    import numpy as np

    exact = values.astype(np.float32).astype(float)
    steps = np.maximum(np.frexp(exact)[1], -125) - 8
    with np.errstate(over="ignore"):
        return np.ldexp(np.rint(np.ldexp(exact, -steps)), steps).astype(np.float32)


def forget() -> None:
    """Begin afresh."""
    global _names
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    _names = main.__dict__
    _kept.clear()


def again(index: int) -> None:
    """Give a cell the names that those above it left, also if it runs once more.

    What is inside of arrays, lists and modules is as the last run left it, as in
    Jupyter; only a fresh Python knows nothing of what ran.
    """
    for later in [at for at in _kept if at >= index]:
        del _kept[later]
    if not _kept:
        return forget()
    _names.clear()
    _names.update(_kept[max(_kept)])


def run(source: str, name: str) -> None:
    """Run a cell and send what it gives; an error is sent, too."""
    sys.stdout, sys.stderr = STREAMS
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    try:
        tree = ast.fix_missing_locations(Casts().visit(ast.parse(source, name)))
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, name, "exec", dont_inherit=True), _names)
        if last:
            value = eval(compile(last, name, "eval", dont_inherit=True), _names)
            if not source.rstrip().endswith(";"):
                show(value)
        show_all()
    except BaseException as error:
        _say(error, name)
    sys.stdout, sys.stderr = STREAMS  # the engine, too, writes there
    sys.displayhook = sys.__displayhook__
    for stream in STREAMS:
        stream.flush()


def _say(error: BaseException, name: str) -> None:
    """Send an error: in one sentence, and its frames in cells."""
    trace = error.__traceback__
    inside = [frame for frame in traceback.extract_tb(trace) if frame.filename == name]
    line = inside[-1].lineno if inside else getattr(error, "lineno", None)
    while trace and not trace.tb_frame.f_code.co_filename.startswith("cell "):
        trace = trace.tb_next
    kind, words = type(error).__name__, sentence(error)
    frames = traceback.format_exception(error.with_traceback(trace))
    if isinstance(error, ImportError):  # Python's own words advise what is no use here
        frames[-1] = f"{kind}: {words}\n"
    text = "".join(frames)[-PIECE:]
    wish = "" if isinstance(error, AssertionError) else wanted(name, trace)
    tell("error", ename=kind, evalue=words, line=line, traceback=text, wanted=wish)


def wanted(name: str, trace: types.TracebackType | None) -> str:
    """What the assertion of a check wants, and what the cell above it gave instead.

    A word in the place of a number, or a list in that of a function, is refused by
    Python, in its own words, before an assertion can say so. Else it is "".
    """
    with suppress(Exception):
        *_, before, after = _kept.values()
        new = {
            n: value for n, value in after.items() if before.get(n, ...) is not value
        }
        line = trace.tb_lineno if trace else 0
        for node in ast.walk(ast.parse("".join(linecache.getlines(name)))):
            if not isinstance(node, ast.Assert) or node.msg is None:
                continue
            if node.lineno <= line <= (node.end_lineno or 0):
                used = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
                given = next(n for n in new if n in used and not callable(new[n]))
                wish = eval(compile(ast.Expression(node.msg), name, "eval"), _names)
                return f"{wish}; {given} is {new[given]!r:.40}"
    return ""


def sentence(error: BaseException) -> str:
    """What went wrong, in words; what is so only on a page is said as such."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        inside = error.name.startswith("pe_lib.")  # of its modules those with PyTorch
        package = "torch" if inside else error.name.partition(".")[0]
        if package in sys.modules:  # it is here without this part
            return NOT_HERE.format(error.name)
        words = NOT_FETCHED if package in FETCHED else NOT_HERE
        return words.format(NAMES.get(package, package))
    if isinstance(error, TypeError) and "bfloat16" in str(error):
        return NOT_HERE.format("ml_dtypes")
    if isinstance(error, SyntaxError):
        return str(error.msg)  # the line is said besides
    try:
        return str(error)[:PIECE]
    except Exception:
        return "it cannot be said"


def handle(text: str) -> None:
    """Do what the page asks: prepare, or run the cell at `index`."""
    request = json.loads(text)
    if request["do"] == "start":
        prepare()
        return
    packs = map(str, PACKS.glob("*.zip"))
    sys.path += [pack for pack in packs if pack not in sys.path]
    index = request["index"]
    again(index)
    run(request["source"], f"cell {index + 1}")
    _kept[index] = dict(_names)
