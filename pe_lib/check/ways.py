"""One way to call a module: what forward is given, in which order of axes."""

from dataclasses import dataclass

from torch import Tensor

FEW = 11  # positions: unlike any batch
AXES = "batch", "rows", "columns", "length", "heads", "dim"
SYNONYMS = {
    "d_model": "dim",
    "channels": "dim",
    "head_dim": "dim",
    "seq": "length",
    "sequence": "length",
    "height": "rows",
    "width": "columns",
}


@dataclass(frozen=True)
class Layout:
    """The order of the axes of x."""

    axes: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Layout":
        """The axes of a text such as "batch length dim" or "[batch, heads, ...]"."""
        words = text.replace(",", " ").strip("[]() ").split()
        names = tuple(SYNONYMS.get(word, word) for word in words)
        along = {*names} - {"batch", "heads", "dim"}
        once = len({*names}) == len(names)
        if not once or along not in ({"length"}, {"rows", "columns"}):
            raise ValueError(
                f"axes must be names from {', '.join(AXES)}, each once, with length or "
                f"rows and columns, got {text!r}"
            )
        return cls(names)

    def lay(self, x: Tensor, heads: int, columns: int) -> Tensor:
        """Vectors [batch, length, dim] as the module takes them."""
        named = ["batch", "rows", "columns"] if columns else ["batch", "length"]
        x = x.reshape(len(x), -1, columns, x.shape[-1]) if columns else x
        if "heads" in self.axes:
            x = x.unsqueeze(-2).expand(*x.shape[:-1], heads, x.shape[-1])
            named.append("heads")
        named.append("dim")
        if "dim" not in self.axes:  # of tokens by their number
            x, named = x[..., 0].long(), named[:-1]
        if "batch" not in self.axes:
            x, named = x[0], named[1:]
        return x.permute([named.index(name) for name in self.axes]).clone()

    def back(self, y: Tensor) -> Tensor:
        """What came back as [batch, length, dim]; of several heads the last."""
        there = [name for name in AXES if name in self.axes]
        y = y.permute([self.axes.index(name) for name in there])
        y = y[..., -1, :] if "heads" in there else y
        y = y if "batch" in there else y[None]
        return y.flatten(1, 2) if "rows" in there else y

    def __str__(self) -> str:
        return f"[{', '.join(self.axes)}]"


@dataclass(frozen=True)
class Way:
    """One way to call forward."""

    layout: Layout = Layout(())
    form: str = "x"  # what it is given
    length: int = FEW
    fixed: bool = False  # it takes this length alone
    columns: int = 0  # of a grid
    batched: bool = False  # the argument for positions is [batch, length]

    def __str__(self) -> str:
        shown = self.form == "x" and self.layout.axes
        return f"x is {self.layout}" if shown else f"it takes {self.form}"
