"""Run pe_lib's checker over the encodings that people can install.

    OMP_NUM_THREADS=1 PYTHONPATH=.venv/peers .venv/bin/python benchmarks/conformance.py

after `make bench`, which installs the peers. It prints a table and keeps it in
conformance.txt. The code of the peers is unmodified; where a forward does not take x,
a wrapper hands over what it takes. These are snapshots of bare modules, no judgement
of the packages: within its own model a module may never meet what is found here.
"""

import datetime
import importlib
import importlib.util
import os
import platform
import runpy
import textwrap
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from tables import keep, peer
from torch import Tensor, nn

from pe_lib.check.biases import BIAS_CHECKS
from pe_lib.check.conformance import CHECKS, names_of_checks
from pe_lib.check.report import Report
from pe_lib.check.turning import ROTARY_CHECKS
from pe_lib.nn import SinusoidalPositionalEncoding, check_encoding

D_MODEL = 64
WIDTH = 72
HUB = "transformers.models.{0}.modeling_{0}"
X_TRANSFORMERS = "x_transformers.x_transformers"

Build = Callable[[int], nn.Module]


class FromEmbeddings(nn.Module):
    """For a forward that takes inputs_embeds as a keyword."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor, *, past_key_values_length: int = 0) -> Any:
        """The inner module's codes."""
        return self.inner(
            inputs_embeds=x, past_key_values_length=past_key_values_length
        )


class FromIds(FromEmbeddings):
    """For a forward that takes token ids; 5 is no padding."""

    def forward(self, x: Tensor, *, past_key_values_length: int = 0) -> Any:
        """The inner module's codes."""
        ids = torch.full(x.shape[:2], 5, device=x.device)
        return self.inner(ids, past_key_values_length=past_key_values_length)


class FromShape(FromEmbeddings):
    """For a forward that takes the shape of the token ids."""

    def forward(self, x: Tensor, *, past_key_values_length: int = 0) -> Any:
        """The inner module's codes."""
        return self.inner(x.shape[:2], past_key_values_length=past_key_values_length)


def as_it_is(path: str) -> Callable[[], Build]:
    """A class that is called with one number, and that number is the width."""
    return lambda: peer(path)


def labml_nn() -> Build:
    """Take dropout 0, and the default of 5000 positions."""
    module = peer("labml_nn.transformers.positional_encoding.PositionalEncoding")
    return lambda d_model: module(d_model, 0.0)


def x_transformers_learned() -> Build:
    """Take 1024 positions."""
    module = peer(f"{X_TRANSFORMERS}.AbsolutePositionalEmbedding")
    return lambda d_model: module(d_model, 1024)


def m2m100() -> Build:
    """Take 1024 positions, and padding at 1 as the model does."""
    table = peer(f"{HUB.format('m2m_100')}.M2M100SinusoidalPositionalEmbedding")
    return lambda d_model: FromEmbeddings(table(1024, d_model, 1))


def fsmt() -> Build:
    """The same; the model fills the table after building it."""
    table = peer(f"{HUB.format('fsmt')}.SinusoidalPositionalEmbedding")

    def build(d_model: int) -> nn.Module:
        inner = table(1026, d_model, 1)
        inner.make_weight(1026, d_model, 1)
        return FromIds(inner)

    return build


def pegasus() -> Build:
    """Take 1024 positions; the model fills the table after building it."""
    table = peer(f"{HUB.format('pegasus')}.PegasusSinusoidalPositionalEmbedding")

    def build(d_model: int) -> nn.Module:
        inner = table(1024, d_model)
        with torch.no_grad():
            inner.weight.copy_(inner.create_weight())
        return FromShape(inner)

    return build


def speecht5() -> Build:
    """Take dropout 0, and the default of 5000 positions."""
    table = peer(f"{HUB.format('speecht5')}.SpeechT5ScaledPositionalEncoding")
    return lambda d_model: table(0.0, d_model)


def llama(kind: str, **settings: float) -> Callable[[], Build]:
    """Llama's rotary tables with a rule for longer texts, trained on 2048 positions."""

    def load() -> Build:
        rotary = peer(f"{HUB.format('llama')}.LlamaRotaryEmbedding")
        config = peer("transformers.LlamaConfig")
        rule = {"rope_type": kind, "rope_theta": 10_000.0, **settings}

        def build(head_dim: int) -> nn.Module:
            made: nn.Module = rotary(
                config(
                    hidden_size=2 * head_dim,
                    num_attention_heads=2,
                    head_dim=head_dim,
                    max_position_embeddings=2048,
                    rope_parameters=rule,
                )
            )
            return made

        return build

    return load


def rotary_embedding_torch() -> Build:
    """Hand over queries and keys one after the other."""
    rotary = peer("rotary_embedding_torch.RotaryEmbedding")

    class Both(nn.Module):
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.inner = rotary(dim)

        def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
            """Both, turned."""
            turn = self.inner.rotate_queries_or_keys
            return turn(q), turn(k)

    return Both


def x_transformers_rotary() -> Build:
    """Hand over the frequencies, as its attention does."""
    rotary = peer(f"{X_TRANSFORMERS}.RotaryEmbedding")
    turn = peer(f"{X_TRANSFORMERS}.apply_rotary_pos_emb")

    class Both(nn.Module):
        def __init__(self, dim: int) -> None:
            super().__init__()
            self.inner = rotary(dim)

        def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
            """Both, turned."""
            angles, scale = self.inner.forward_from_seq_len(q.shape[-2])
            return turn(q, angles, scale), turn(k, angles, scale)

    return Both


def torchtune() -> Build:
    """Load the file of the class alone.

    torchtune 0.6.1 imports `datasets`, and a module that torchao has no longer; this
    file imports torch.
    """
    package = importlib.util.find_spec("torchtune")
    if package is None or package.origin is None:
        raise ImportError("no module named torchtune")
    path = Path(package.origin).parent / "modules/position_embeddings.py"
    made: Build = runpy.run_path(str(path))["RotaryPositionalEmbeddings"]
    return made


def diffusers() -> Build:
    """Take 1024 positions."""
    table = peer("diffusers.models.embeddings.SinusoidalPositionalEmbedding")
    return lambda d_model: table(d_model, 1024)


def diffusers_times() -> Build:
    """Take the settings of DDPM: sines first, the authors' spacing."""
    times = peer("diffusers.models.embeddings.Timesteps")
    return lambda d_model: times(d_model, False, 1.0)


def x_transformers_alibi() -> Build:
    """Take as many heads as are asked for."""
    bias = peer(f"{X_TRANSFORMERS}.AlibiPositionalBias")
    return lambda heads: bias(heads, heads)


def x_transformers_t5() -> Build:
    """Take its defaults, under a causal mask."""
    bias = peer(f"{X_TRANSFORMERS}.RelativePositionBias")
    return lambda heads: bias(1.0, causal=True, heads=heads)


LOOKED_UP = "2026-11-22"
# What each project's own issues say about a cross; where nothing stands, nothing.
KNOWN = {
    "labml-nn": [
        "widths: no issue found here; the same line is reported to others, for "
        "instance codertimo/BERT-pytorch#78.",
    ],
    "positional-encodings": [
        "half: since tatp22/multidim-positional-encoding#40 (merged, 2024) the option "
        "dtype_override gives the encoding a dtype of its own.",
        "history: the cache came with #19 (merged, 2022); no issue on its dtype found.",
    ],
    "transformers m2m100": [
        "meta: huggingface/transformers#18259 (merged, 2022) made the weights a buffer "
        "for loading with little memory.",
    ],
    "transformers fsmt": [
        "state_dict: no issue found; that the table grows in forward is discussed for "
        "its dtype in huggingface/transformers#13665 (merged, 2021).",
    ],
    "transformers llama": [
        "half: huggingface/transformers#25681 (closed) reports tables of a cast model; "
        "since #29285 (merged, 2024) angles are float32 for x in 16 bits. The cross is "
        "about the module's own .bfloat16().",
    ],
    "rotary-embedding-torch": [
        "half: no issue on angles found; lucidrains/rotary-embedding-torch#9 (merged, "
        "2023) is about the dtype that comes back.",
    ],
    "x-transformers rotary": [
        "half: no issue found. The same slip is reported to others, for instance "
        "huggingface/transformers#29496 (closed) and EleutherAI/gpt-neox#1003 (closed)."
    ],
    "torchtune rotary": [
        "the file of the class, loaded alone: the package wants `datasets`, and a "
        "module that torchao 0.18 has no longer.",
    ],
    "diffusers times": [
        "The spacing is that of the program of DDPM; hojonathanho/diffusion#15 (open) "
        "asks about it. No issue on its accuracy far out found; it is used to 1,000.",
    ],
}

PEERS: dict[str, Callable[[], Build]] = {
    "pe_lib": lambda: SinusoidalPositionalEncoding,
    "labml-nn": labml_nn,
    "positional-encodings": as_it_is(
        "positional_encodings.torch_encodings.PositionalEncoding1D"
    ),
    "x-transformers": as_it_is(f"{X_TRANSFORMERS}.ScaledSinusoidalEmbedding"),
    "x-transformers learned": x_transformers_learned,
    "transformers m2m100": m2m100,
    "transformers fsmt": fsmt,
    "transformers pegasus": pegasus,
    "transformers speecht5": speecht5,
    "transformers llama": llama("default"),
    "transformers llama dynamic": llama("dynamic", factor=4.0),
    "transformers llama yarn": llama("yarn", factor=4.0),
    "labml-nn rotary": as_it_is(
        "labml_nn.transformers.rope.RotaryPositionalEmbeddings"
    ),
    "rotary-embedding-torch": rotary_embedding_torch,
    "x-transformers rotary": x_transformers_rotary,
    "torchtune rotary": torchtune,
    "diffusers sinusoid": diffusers,
    "diffusers times": diffusers_times,
    "x-transformers ALiBi": x_transformers_alibi,
    "x-transformers T5": x_transformers_t5,
}


def table(reports: dict[str, Report], checks: dict[str, tuple[str, ...]]) -> list[str]:
    """One line a check, one column a module: x where something is wrong.

    A dash is a check that does not apply, a blank one of a different kind of module.
    """
    letters = {name: chr(ord("A") + i) for i, name in enumerate(reports)}
    lines = [f"  {letter}  {name}" for name, letter in letters.items()]
    lines += ["", "  " + " ".join(letters.values())]
    for check in dict.fromkeys([*CHECKS, *ROTARY_CHECKS, *BIAS_CHECKS]):
        marks = [
            _mark(check, report, check in checks[name])
            for name, report in reports.items()
        ]
        lines.append("  " + " ".join(marks) + f"  {check}")
    return lines


def _mark(check: str, report: Report, checked: bool) -> str:
    severities = {f.severity for f in report.findings if f.check == check}
    return (
        "x" if "wrong" in severities else "." if severities else "-" if checked else " "
    )


def details(name: str, report: Report) -> list[str]:
    """What the module is, and what was found wrong."""
    names = ("axes", "convention", "pairing", "frequencies", "slopes", "buckets")
    lines = [f"It {report.kind}."] if report.kind else []
    lines += [
        f.what for f in report.findings if f.check in names and f.severity == "fact"
    ]
    lines += [f"x {found.check}: {found.what}" for found in report.wrong]
    lines += [f"known: {line}" for line in KNOWN.get(name, [])]
    shape = textwrap.TextWrapper(WIDTH, initial_indent="  ", subsequent_indent="    ")
    return ["", name, *map(shape.fill, lines)]


def results() -> list[str]:
    """Check everything."""
    reports, checks, missing, seconds = {}, {}, [], {}
    torch.zeros(1, device="meta").add(1)  # torch imports more when this comes first
    for name, load in PEERS.items():
        try:
            build = load()
        except ImportError as error:
            missing.append(f"{name}: not installed, so not checked ({error})")
            continue
        begin = time.process_time()
        reports[name] = check_encoding(build, d_model=D_MODEL)
        seconds[name] = time.process_time() - begin
        checks[name] = names_of_checks(build, d_model=D_MODEL)
    packages = sorted({name.split()[0] for name in reports} - {"pe_lib"})
    return [
        f"{datetime.date.today()}, Python {platform.python_version()}, "
        f"torch {torch.__version__}, d_model = {D_MODEL}",
        *(f"{name} {version(name)}" for name in packages),
        *missing,
        "",
        "Where the checker finds something to fix (x) and where it does not (.);",
        "a dash is a question that was asked and does not apply; a blank was not asked",
        *table(reports, checks),
        f"(a report took {min(seconds.values()):.1f} to "
        f"{max(seconds.values()):.1f} s of processor time)",
        "",
        "meta: the bare module is built on meta, given memory, and the checkpoint.",
        "transformers' own from_pretrained fills tables again, and hides that case.",
        f"known: what the project's own issues say, looked up on {LOOKED_UP}.",
        "timm is missing: it needs torchvision, and its rotary modules are for images.",
        *(line for name, report in reports.items() for line in details(name, report)),
    ]


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"  # nothing is fetched
    torch.set_num_threads(1)
    keep(__file__, results())
