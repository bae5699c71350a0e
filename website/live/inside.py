"""What runs inside the reader's browser: the cells of a page, as Jupyter runs them.

The page's worker calls :func:`handle_request` with a request in JSON, and reads events
from standard output, one JSON object a line:

    {"kind": "text", "stream": "stdout", "text": ...}    printed
    {"kind": "value", "text": ...}                       the last expression
    {"kind": "figure", "hash": ..., "svg": ...}          a drawing; no svg if expected
    {"kind": "html", "hash": ..., "html": ...}           a table or an explorer
    {"kind": "error", "name": ..., "message": ..., "trace": ..., "line": ...,
     "quoted": ...}         true if all that fails compares with a number as written
    {"kind": "cut", "what": ...}                         "text", "figure" or "html":
                                                         too much, the rest is dropped

Figures are what matplotlib's inline backend would make, byte for byte.
"""

import ast
import hashlib
import io
import json
import linecache
import os
import sys
import time
import traceback
import types
from typing import Any

MOST = 200_000
"""Characters that a cell may print; a page with more can no longer be read."""
MOST_DRAWN = 5_000_000
"""Characters of the figures and tables of a cell; the book's largest has 90,000."""
TOO_LONG = 300
PACKS = "/live/packs"
UNPACKED = {
    "/live/book.zip": "/live/lib",
    f"{PACKS}/models.zip": "/live/lib",
    "/live/drawing.zip": "/usr/local/lib/python315.zip/matplotlib/mpl-data",
}
NOT_HERE = "this cell needs {}, which does not run in a browser"
BFLOAT16 = object()
"""Stands for ml_dtypes.bfloat16, which NumPy does not know here."""

_send = os.write
_names: dict[str, Any] = {}
_kept: list[dict[str, Any]] = []
_expected: set[str] = set()


def tell(kind: str, **what: Any) -> None:
    """Send an event to the page."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Stream):
            stream.flush()
    _write(json.dumps({"kind": kind, **what}) + "\n")


def _write(line: str) -> None:
    data = line.encode("utf-8", "surrogatepass")
    while data:
        data = data[_send(1, data) :]


class Stream(io.TextIOBase):
    """Standard output or error of a cell."""

    left = MOST  # for both together

    def __init__(self, name: str) -> None:
        self.name = name
        self.waiting = ""

    def write(self, text: str) -> int:
        """Keep a little, send the rest on."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if Stream.left <= 0:
            return len(text)
        self.waiting += text[: Stream.left]
        Stream.left -= len(text)
        if len(self.waiting) > 4000 or Stream.left <= 0:
            self.flush()
        if Stream.left <= 0:
            _write(json.dumps({"kind": "cut", "what": "text"}) + "\n")
        return len(text)

    def flush(self) -> None:
        """Send what was kept."""
        if self.waiting:
            text, self.waiting = self.waiting, ""
            event = {"kind": "text", "stream": self.name, "text": text}
            _write(json.dumps(event) + "\n")

    def writable(self) -> bool:
        """It is."""
        return True


class Room:
    """What a cell may still draw."""

    left = MOST_DRAWN

    @staticmethod
    def tell(kind: str, found: str, content: str) -> None:
        """Send a figure or a table; the first that is too much is told, and no more."""
        if Room.left < 0:
            return
        Room.left -= len(content)
        if Room.left < 0:
            tell("cut", what=kind)
        else:
            tell(kind, hash=found, **{"svg" if kind == "figure" else kind: content})


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
    svg = file.getvalue().decode("utf-8")
    found = digest(svg)
    if found in _expected:
        tell("figure", hash=found)
        return
    from website.inline_svg import inline_svg

    if len(svg) > Room.left:
        Room.tell("figure", found, svg)
        return
    prefix = f"live-{found[:8]}"
    label = "The figure that this cell draws now"
    try:
        svg = inline_svg(svg, prefix=prefix, label=label)
    except ValueError:  # colours of the reader's own
        svg = inline_svg(svg, prefix=prefix, label=label, maps=False)
    Room.tell("figure", found, svg)


def digest(text: str) -> str:
    """What two texts have in common if they are the same."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def show_all() -> None:
    """Send every open figure and close it: what ``plt.show`` does in a notebook."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    from matplotlib._pylab_helpers import Gcf

    managers = Gcf.get_all_fig_managers()
    try:
        for manager in managers:
            show_figure(manager.canvas.figure)
    finally:
        if managers:
            sys.modules["matplotlib.pyplot"].close("all")


def show_value(value: Any) -> None:
    """Send what a notebook shows of the last expression of a cell."""
    if value is None:
        return
    if "matplotlib.figure" in sys.modules and isinstance(
        value, sys.modules["matplotlib.figure"].Figure
    ):
        show_figure(value)
    elif hasattr(value, "_repr_html_") and not isinstance(value, type):
        from pe_lib.explorers.drawing import compared

        html = str(value._repr_html_())
        found = digest(compared(html))
        if found in _expected:
            tell("html", hash=found, html=None)
        else:
            Room.tell("html", found, html)
    elif Stream.left > 0:
        text = repr(value)
        tell("value", text=text[: Stream.left])
        Stream.left -= len(text)
        if Stream.left <= 0:
            tell("cut", what="text")


def show_values(*values: Any) -> None:
    """IPython's ``display``."""
    for value in values:
        show_value(value)


def prepare() -> None:
    """Unpack what must lie in folders, and take the place of what is not here."""
    unpack()
    sys.path.insert(0, "/live/lib")
    os.chdir("/live/lib/book/beyond")  # whose kept files cells read
    os.access = is_there  # permissions are unknown here
    time.sleep = sleep  # type: ignore[assignment]
    os.environ["MPLBACKEND"] = "module://live_backend"
    sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
    sys.modules["ml_dtypes"] = Missing("ml_dtypes")
    matplotlib = types.ModuleType("live_backend")
    matplotlib.__getattr__ = _backend  # type: ignore[method-assign]
    sys.modules["live_backend"] = matplotlib
    display = types.ModuleType("IPython.display")
    display.display = show_values  # type: ignore[attr-defined]
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: None  # type: ignore[attr-defined]
    ipython.version_info = (9, 0, 0)  # type: ignore[attr-defined]
    ipython.display = display  # type: ignore[attr-defined]
    sys.modules |= {"IPython": ipython, "IPython.display": display}
    sys.meta_path.insert(0, Packs())
    forget()


def unpack() -> None:
    """Lay out what came and must lie in folders."""
    import zipfile

    for archive in [name for name in UNPACKED if os.path.exists(name)]:  # noqa: PTH110
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(UNPACKED.pop(archive))


def sleep(seconds: float) -> None:
    """``time.sleep``: the system's would last as long as Python has run."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def is_there(path: Any, *_: Any, **__: Any) -> bool:
    """Whether there is such a file."""
    return os.path.exists(path)  # noqa: PTH110 (pathlib may not be loaded yet)


def _backend(name: str) -> Any:
    """matplotlib's inline backend, when matplotlib asks for it."""
    from matplotlib.backend_bases import FigureManagerBase
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    class Manager(FigureManagerBase):
        @classmethod
        def pyplot_show(cls, **_options: Any) -> None:
            show_all()

    class Canvas(FigureCanvasAgg):
        manager_class = Manager

    made = {"FigureCanvas": Canvas, "FigureManager": Manager}
    sys.modules["live_backend"].__dict__.update(made)
    if name not in made:
        raise AttributeError(name)
    return made[name]


class Missing(types.ModuleType):
    """A package that cannot run here: importing it is possible, using it is not."""

    def __getattr__(self, name: str) -> Any:
        if name == "bfloat16":
            return BFLOAT16
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotHereError(NOT_HERE.format(self.__name__))


class NotHereError(ImportError):
    """Nothing is wrong with the cell."""


class Casts(ast.NodeTransformer):
    """Lets ``x.astype(ml_dtypes.bfloat16)`` do its rounding without that package."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Send the casts of a cell through `cast`."""
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "astype" and node.args:
            function = ast.parse(
                f"__import__('sys').modules[{__name__!r}].cast", mode="eval"
            ).body
            arguments = [called.value, *node.args]
            made = ast.Call(function, arguments, node.keywords)
            return ast.copy_location(made, node)
        return node


class GoOn(ast.NodeTransformer):
    """Lets a cell go on below an assertion that fails; the first is told at its end."""

    NOTE = "_note_failure_"

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Keep what it says; functions are left alone."""
        made = ast.parse(f"try: pass\nexcept AssertionError as _e_: {self.NOTE}(_e_)")
        made.body[0].body = [node]  # type: ignore[attr-defined]
        return made.body[0]

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """What it tries is for its own handlers to hear."""
        body, node.body = node.body, []
        self.generic_visit(node)
        node.body = body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """What calls it cannot go on without its result."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Its methods are functions."""
        return node


def cast(values: Any, dtype: Any, *rest: Any, **options: Any) -> Any:
    """``values.astype(dtype)``; what bfloat16 would hold comes as float32."""
    if dtype is BFLOAT16 or (isinstance(dtype, str) and dtype == "bfloat16"):
        return to_bfloat16(values)
    return values.astype(dtype, *rest, **options)


def to_bfloat16(values: Any) -> Any:
    """Round float32 to the 8 digits of bfloat16, ties to even; NaN stays NaN."""
    import numpy as np

    single = np.asarray(values).astype(np.float32)
    bits = single.view(np.uint32)
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    with np.errstate(over="ignore"):
        rounded = ((bits + half) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isnan(single), single, rounded)


class Packs:
    """Puts a package that came along on the path when it is first imported."""

    def find_spec(self, name: str, path: Any = None, _target: Any = None) -> None:
        """Find nothing, but make it findable."""
        archive = f"{PACKS}/{name}.zip"
        if path is None and archive not in sys.path and is_there(archive):
            sys.path.append(archive)


def forget() -> None:
    """Begin afresh."""
    global _names
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    _names = main.__dict__
    _kept.clear()
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def keep() -> None:
    """Remember the names after a cell."""
    _kept.append(dict(_names))


def again(number: int) -> None:
    """Give a cell that runs once more the names that the `number` cells above left.

    What is inside of arrays, lists and generators is as the last run left it, as in
    Jupyter; only a fresh Python knows nothing of what ran.
    """
    if number == 0:
        forget()
        return
    del _kept[number:]
    _names.clear()
    _names.update(_kept[-1])


def run(source: str, name: str, *, goes_on: bool = False) -> bool:
    """Run a cell, also on below an assertion that fails; whether it went well."""
    Stream.left, Room.left = MOST, MOST_DRAWN
    lines = source.splitlines(keepends=True)
    failed: list[tuple[BaseException, str, bool]] = []

    def note(error: AssertionError) -> None:
        quoted = _is_quoted(error, name, lines)
        if not failed or (failed[0][2] and not quoted):  # the first that says more
            # What its sides are now; later they may be something else.
            failed[:] = [(error, _expected_by(error, name, lines), quoted)]

    linecache.cache[name] = (len(source), None, lines, name)
    try:
        tree = Casts().visit(ast.parse(source, name))
        if goes_on:
            tree = GoOn().visit(tree)
            _names[GoOn.NOTE] = note
        ast.fix_missing_locations(tree)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, name, "exec", dont_inherit=True), _names)
        if last:
            value = eval(compile(last, name, "eval", dont_inherit=True), _names)
            if not source.rstrip().endswith(";"):
                show_value(value)
        show_all()
    except BaseException as error:
        quoted = isinstance(error, AssertionError) and _is_quoted(error, name, lines)
        if not failed or not isinstance(error, AssertionError):
            failed[:] = [(error, "", quoted)]
        return False
    finally:
        _names.pop(GoOn.NOTE, None)
        for first, expected, quoted in failed:
            _say(first, name, lines, expected, quoted=quoted)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    return not failed


def _say(
    error: BaseException, name: str, lines: list[str], expected: str, *, quoted: bool
) -> None:
    """Send an error: its frames in cells, and what an assertion expected."""
    trace = error.__traceback__
    inside = [frame for frame in traceback.extract_tb(trace) if frame.filename == name]
    message = str(error)
    at = inside[-1].lineno if inside else getattr(error, "lineno", None)
    if isinstance(error, AssertionError):
        message = expected or _expected_by(error, name, lines) or message
    error.__traceback__ = _in_cells(trace)
    text = "".join(traceback.format_exception(error))
    kind = type(error).__name__
    if "bfloat16" in message and isinstance(error, TypeError):
        error = NotHereError(NOT_HERE.format("ml_dtypes"))
        message = str(error)
    if isinstance(error, NotHereError):
        kind = "NotHere"
    message, text = message[:MOST], text[-20_000:]
    tell("error", name=kind, message=message, trace=text, line=at, quoted=quoted)


def _in_cells(trace: Any) -> Any:
    """The part of a traceback that begins in a cell."""
    while trace and not trace.tb_frame.f_code.co_filename.startswith("cell "):
        trace = trace.tb_next
    return trace


def _expected_by(error: AssertionError, name: str, lines: list[str]) -> str:
    """What the assertion of a cell says, and what its two sides are."""
    test, frame = _assertion(error, name, lines)
    if test is None:
        return ""
    message = f"expected {ast.unparse(test)}"
    if str(error):
        message = f"{error} ({message})"
    if isinstance(test, ast.Compare) and len(test.comparators) == 1:
        sides = []
        for side in (test.left, test.comparators[0]):
            if isinstance(side, ast.Constant):
                continue
            try:
                code = compile(ast.Expression(side), name, "eval")
                value = eval(code, frame.f_globals, frame.f_locals)
            except Exception:
                continue
            shown = " ".join(repr(value).split())
            if len(shown) < TOO_LONG:
                sides.append(f"{ast.unparse(side)} is {shown}")
        message = "; ".join([message, *sides])
    return message


def _assertion(error: BaseException, name: str, lines: list[str]) -> tuple[Any, Any]:
    """What an assertion of a cell tests, and the frame in which it stands."""
    trace, frame, at = _in_cells(error.__traceback__), None, 0
    while trace:
        if trace.tb_frame.f_code.co_filename == name:
            frame, at = trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    found = [
        node.test
        for node in ast.walk(ast.parse("".join(lines)))
        if isinstance(node, ast.Assert) and node.lineno <= at <= (node.end_lineno or 0)
    ]
    return (found[-1], frame) if frame is not None and found else (None, None)


def _is_quoted(error: BaseException, name: str, lines: list[str]) -> bool:
    """Whether what fails compares with a number as a sentence has it: == 29_503.

    So it says that for these values the number is another one, and not that the claim
    is false. ``x == 0`` and ``x == 1`` are no such numbers, nor is a bound.
    """
    test, _ = _assertion(error, name, lines)
    if test is None:
        return False
    sides = []
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.In)):
            sides += [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and "close" in ast.unparse(node.func):
            sides += node.args
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            sides += [node.right]  # abs(x - 0.58) < 0.005
    return any(map(_is_written, sides))


def _is_written(node: ast.expr) -> bool:
    """Whether it is a number, or some, as they are written in the cell."""
    if isinstance(node, ast.Constant):
        number = isinstance(node.value, (int, float, complex))
        return number and node.value not in (0, 1)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return bool(node.elts) and any(map(_is_written, node.elts))
    return isinstance(node, ast.UnaryOp) and _is_written(node.operand)


def handle_request(text: str) -> None:
    """Do what the page asks."""
    request = json.loads(text)
    if request["do"] == "prepare":
        prepare()
        tell("ready", python=sys.version.split()[0])
    elif request["do"] == "run":
        unpack()
        _expected.clear()
        _expected.update(request["expected"])
        if request["index"] < len(_kept):
            again(request["index"])
        went_well = run(
            request["source"],
            f"cell {request['index'] + 1}",
            goes_on=request.get("goes_on", False),
        )
        keep()
        tell("done", ok=went_well)
