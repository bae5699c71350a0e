"""Modules put together at random from forms, faults, exceptions and odd answers.

``generate(seed)`` gives (build, width); the same seed gives the same module. Run as a
program, it checks five hundred of them and says what stood out::

    OMP_NUM_THREADS=1 .venv/bin/python tests/lib/check_generated.py 500
"""

import collections
import json
import sys
import time
import warnings

import numpy as np
import torch
from torch import nn


class WithoutWordsError(Exception):
    """An error that cannot even be printed."""

    def __str__(self):
        raise RuntimeError("no words")


ERRORS = (
    ValueError("no"), KeyError("é"), RuntimeError(), SystemExit(3),
    RecursionError("deep"), StopIteration(), AssertionError("a\nb"),
    NotImplementedError("later"),
    MemoryError("much"), WithoutWordsError(), OSError(2, "nowhere"),
    UnicodeError("\ud800"), ZeroDivisionError("1/0"),
)  # fmt: skip


def code_of(rng, width):
    """Functions from positions (float64 [n]) to codes [n, width], or others."""
    speeds = torch.tensor(rng.uniform(0.001, 2, width))
    weights = torch.tensor(rng.standard_normal((40, width)))
    return {
        "waves": lambda t: torch.sin(t[:, None] * speeds),
        "count": lambda t: t[:, None].expand(-1, width),
        "constant": lambda t: torch.ones(len(t), width),
        "zeros": lambda t: torch.zeros(len(t), width),
        "rows": lambda t: weights[t.long()],
        "rows again": lambda t: weights[t.long() % 40],
        "random": lambda t: torch.rand(len(t), width),
        "nan": lambda t: torch.full((len(t), width), torch.nan),
        "nan later": lambda t: torch.where(t > 30, torch.nan, t)[:, None] * speeds,
        "infinite": lambda t: 1 / t[:, None] * speeds,
        "huge": lambda t: 1e38 * t[:, None] * speeds,
        "tiny": lambda t: 1e-42 * t[:, None] * speeds,
        "whole numbers": lambda t: t[:, None].expand(-1, width).long(),
        "truths": lambda t: t[:, None].expand(-1, width) > 3,
        "complex": lambda t: torch.exp(1j * t[:, None] * speeds),
        "half": lambda t: torch.sin(t[:, None] * speeds).half(),
        "double": lambda t: torch.sin(t[:, None] * speeds),
        "too narrow": lambda t: torch.sin(t[:, None] * speeds[:-1]),
        "too long": lambda t: torch.sin(torch.arange(len(t) + 1)[:, None] * speeds),
        "in a list": lambda t: torch.tensor(torch.sin(t[:, None] * speeds).tolist()),
        "from numpy": lambda t: torch.from_numpy(np.sin(t.numpy()))[:, None] * speeds,
    }  # fmt: skip


def answer_of(width):
    """Functions from x and codes to what comes back."""
    return {
        "adds": lambda x, c: x + c.to(x),
        "adds as it is": lambda x, c: x + c,
        "in place": lambda x, c: x.add_(c.to(x)),
        "returns": lambda x, c: c.to(x),
        "returns for a batch": lambda x, c: c.to(x).expand_as(x),
        "length first": lambda x, c: x + c[: len(x), None].to(x),
        "scales": lambda x, c: 3 * x + c.to(x),
        "multiplies": lambda x, c: x * c.to(x),
        "mixes": lambda x, c: (x @ torch.ones(width, width).to(x)) + c.to(x),
        "turns": lambda x, c: torch.cat([-x[..., 1::2], x[..., 0::2]], -1) * c.to(x),
        "a pair": lambda x, c: (x, c.to(x)),
        "cosine and sine": lambda x, c: (c.cos(), c.sin()),  # noqa: ARG005
        "a list of it": lambda x, c: [x + c.to(x)],
        "a dict": lambda x, c: {"x": x + c.to(x)},
        "an empty tuple": lambda x, c: (),  # noqa: ARG005
        "a named tuple": lambda x, c: torch.max(x + c.to(x), -1),
        "nothing": lambda x, c: None,  # noqa: ARG005
        "a number": lambda x, c: 3.0,  # noqa: ARG005
        "a word": lambda x, c: "word",  # noqa: ARG005
        "a mean": lambda x, c: (x + c.to(x)).mean(),
        "no rows": lambda x, c: (x + c.to(x))[:0],
        "sparse": lambda x, c: (x + c.to(x)).to_sparse(),
        "nested": lambda x, c: torch.nested.nested_tensor(list(x + c.to(x))),
        "detached": lambda x, c: x.detach() + c.to(x),
        "a parameter": lambda x, c: nn.Parameter(x + c.to(x)),
        "all pairs": lambda x, c: -torch.cdist(*[c[:, :1].double()] * 2),  # noqa: ARG005
        "numpy": lambda x, c: (x + c.to(x)).numpy(),
        "only five": lambda x, c: x + c.to(x) if x.shape[-2] == 5 else x[..., :1],
        "only batches of two": lambda x, c: x.view(2, *x.shape[1:]) + c.to(x),
    }  # fmt: skip


WAYS = {
    "x": lambda m, x: m.answer(x, x.shape[-2]),
    "x, positions": lambda m, x, positions=None: m.answer(x, x.shape[-2], positions),
    "x, pos": lambda m, x, pos: m.answer(x, x.shape[-2], pos),
    "x, offset": lambda m, x, offset=0: m.answer(x, x.shape[-2], first=offset),
    "x, start": lambda m, x, start=None: m.answer(x, x.shape[-2], first=start or 0),
    "x, mask": lambda m, x, mask: m.answer(x * mask, x.shape[-2]),
    "anything": lambda m, *args, **kw: m.answer(args[0], args[0].shape[-2]),  # noqa: ARG005
    "nothing": lambda m: m.answer(torch.zeros(2, 5, 4), 5),
    "q, k": lambda m, q, k: (m.answer(q, q.shape[-2]), m.answer(k, k.shape[-2])),
    "q, k, v": lambda m, q, k, v: m.answer(q + k + v, q.shape[-2]),
    "a length": lambda m, n: m.answer(torch.zeros(int(n), m.width), int(n)),
    "two lengths": lambda m, n, k: m.answer(torch.zeros(n, k), n),
    "ids": lambda m, ids: m.answer(torch.zeros(*ids.shape, m.width), ids.shape[-1]),
    "positions": lambda m, t: m.answer(torch.zeros(len(t), m.width), len(t), t),
}  # fmt: skip


def _raise(error):
    raise error


def _nothing(module):  # noqa: ARG001
    return None


ODDITIES = {
    "none": _nothing,
    "also none": _nothing,
    "cannot be copied": lambda m: setattr(m, "held", iter([1])),
    "a lock": lambda m: setattr(m, "held", __import__("threading").Lock()),
    "holds itself": lambda m: m.__dict__.update(held=[m]),
    "a lazy layer": lambda m: setattr(m, "lazy", nn.LazyLinear(3)),
    "a parameter on meta": lambda m: setattr(
        m, "far", nn.Parameter(torch.zeros(3, device="meta"))
    ),
    "a complex parameter": lambda m: setattr(
        m, "held", nn.Parameter(torch.zeros(3, dtype=torch.complex64))
    ),
    "a whole parameter": lambda m: setattr(
        m, "held", nn.Parameter(torch.zeros(3, dtype=torch.long), requires_grad=False)
    ),
    "a sparse buffer": lambda m: m.register_buffer("s", torch.eye(3).to_sparse()),
    "an empty buffer": lambda m: m.register_buffer("s", None),
    "a truth in a buffer": lambda m: m.register_buffer("s", torch.tensor([True])),
    "an extra state": lambda m: setattr(
        type(m),
        "get_extra_state",
        lambda self: {"a": 1},  # noqa: ARG005
    ),
    "no state": lambda m: setattr(
        type(m), "state_dict", lambda *_, **__: _raise(KeyError("state"))
    ),
    "loads nothing": lambda m: setattr(
        type(m), "load_state_dict", lambda *_, **__: _raise(TypeError("load"))
    ),
    "eval forgets": lambda m: setattr(type(m), "eval", _nothing),
    "train forgets": lambda m: setattr(type(m), "train", lambda *_: None),
    "cannot move": lambda m: setattr(type(m), "_apply", lambda *_: _raise(OSError())),
    "moves nowhere": lambda m: setattr(type(m), "_apply", lambda m, *_: m),
    "a hook": lambda m: m.register_forward_hook(lambda *_: _raise(KeyError("hook"))),
    "a hook that answers": lambda m: m.register_forward_hook(lambda *_: 0),
    "loud": lambda m: m.register_forward_hook(
        lambda *_: print("loud") or warnings.warn("loud", stacklevel=1)
    ),
    "double by default": lambda m: torch.set_default_dtype(torch.float64),  # noqa: ARG005
    "seeds": lambda m: torch.manual_seed(1),  # noqa: ARG005
    "a tensor of inference": lambda m: m.register_buffer("s", _inference()),
    "a gradient in a buffer": lambda m: m.register_buffer(
        "s", torch.ones(3, requires_grad=True) * 2
    ),
    "a recursive list": lambda m: setattr(m, "held", _recursive()),
    "a strange attribute": lambda m: setattr(m, "held", {1: {2: {3: torch.ones(1)}}}),
    "a subclass of numbers": lambda m: setattr(m, "held", np.arange(3)),
    "weights": lambda m: setattr(m, "weight", nn.Parameter(torch.zeros(50, m.width))),
    "no tensors": lambda m: setattr(m, "parameters", lambda *_: iter([])),
}


def _inference():
    with torch.inference_mode():
        return torch.ones(3)


def _recursive():
    held = []
    held.append(held)
    return held


class Module(nn.Module):
    """One put together from these; `when` says where its error comes."""

    def __init__(self, width, code, answer, limit):
        super().__init__()
        self.width, self.code, self.what, self.limit = width, code, answer, limit
        self.calls, self.error, self.when = 0, None, ""

    def answer(self, x, length, positions=None, first=0):
        self.calls += 1
        if self.error is not None and self._is_time(x, length):
            raise self.error
        if self.limit and length > self.limit:
            raise IndexError(f"{length} > {self.limit}")
        if positions is None:
            positions = torch.arange(length) + first
        return self.what(x, self.code(positions.reshape(-1).double()))

    def _is_time(self, x, length):
        return {
            "forward": True,
            "second call": self.calls > 1,
            "training": self.training,
            "long": length > 20,
            "short": length < 3,
            "large batch": len(x) > 2,
            "sixteen bits": x.dtype == torch.bfloat16,
            "numbers": bool(x.any()),
            "gradients": torch.is_grad_enabled(),
            "inference": torch.is_inference_mode_enabled(),
        }[self.when]


TIMES = (
    "build", "forward", "second call", "training", "long", "short", "large batch",
    "sixteen bits", "numbers", "gradients", "inference",
)  # fmt: skip


def generate(seed):
    """A function that builds a module, and a width; the names of its parts beside."""
    rng = np.random.default_rng(seed)
    width = int(rng.choice([1, 2, 3, 4, 5, 6, 8, 12, 16]))
    code = str(rng.choice(list(code_of(rng, width))))
    answers = list(answer_of(width))
    answer = str(rng.choice(answers[: 11 if rng.random() < 0.6 else None]))
    way = str(rng.choice(list(WAYS), p=[0.48, *[0.04] * 13]))
    odd = str(rng.choice(list(ODDITIES)))
    error = ERRORS[int(rng.integers(len(ERRORS)))] if rng.random() < 0.25 else None
    when = str(rng.choice(TIMES))
    limit = int(rng.choice([0, 0, 7, 40, 300]))

    def build(d_model):
        if error is not None and when == "build" and rng.random() < 0.7:
            raise error
        kind = type("Generated", (Module,), {"forward": WAYS[way]})
        codes = code_of(np.random.default_rng([seed, d_model]), d_model)
        module = kind(d_model, codes[code], answer_of(d_model)[answer], limit)
        ODDITIES[odd](module)
        if when != "build":
            module.error, module.when = error, when
        return module

    parts = code, answer, way, odd, f"{type(error).__name__} {when}" if error else ""
    return build, width, parts


def _run(count):  # pragma: no cover
    """Check so many; what stood out."""
    from pe_lib.check import check_encoding

    torch.set_num_threads(1)
    tally, slowest = collections.Counter(), (0.0, "")
    for seed in range(count):
        build, width, parts = generate(seed)
        begin = time.process_time()
        try:
            report = check_encoding(build, d_model=width)
            json.dumps(report.as_dict()), report.as_text()
        except BaseException as error:
            tally["CRASHED"] += 1
            print("CRASHED", seed, parts, type(error).__name__)
            continue
        slowest = max(slowest, (time.process_time() - begin, str(parts)))
        tally["not run" if not report.ran else "ok" if report.ok else "wrong"] += 1
        for found in report.findings:
            if "--verbose" in sys.argv and found.what.startswith("Not told: "):
                print(seed, width, parts, found.check, found.what)
    print(dict(tally), f"slowest {slowest[0]:.1f} s: {slowest[1]}")
    return tally["CRASHED"]


if __name__ == "__main__":  # pragma: no cover
    sys.exit(bool(_run(int(sys.argv[1]))))
