r"""The trained models that chapters open, made with other seeds, rates and widths.

The head that names the word before (:mod:`~pe_lib.experiments.one_head`), the two
layers that repeat a passage (:mod:`~pe_lib.experiments.surgery`) and the rotary
readers (:mod:`~pe_lib.experiments.stretched`) have one rate and one width each. A
doubter changes them: here both are factors, and the seeds begin where they like.
"""

from collections.abc import Sequence

import numpy as np

from pe_lib._arguments import as_choice, as_integer
from pe_lib.experiments import induction, one_head, stretched, surgery
from pe_lib.experiments.induction import Settings, TwoLayers
from pe_lib.experiments.training import Score

BASE, READERS_RATE = 10_000, 0.02
"""Of the rotary readers: the base that rules are tried on, and its chosen rate."""
MODELS = ("one_back", "dial", "dial from 0", "readers")
FORM = ("turns", "fastest", "slow hands", "angle", "whole turns")
"""What is asked of a head of two layers, beside its answers; see :func:`form_of`."""


def measure(
    schemes: Sequence[str],
    *,
    model: str,
    seeds: int,
    test_lengths: Sequence[int],
    first_seed: int = 0,
    rate: float = 1,
    width: int = 1,
) -> list[Score]:
    """Train models of some seeds at so many times their rate and width, and test.

    Parameters
    ----------
    schemes : sequence of str
        As the chapter's own rows call them: of "one_back" one_head.HEADS, or "turns",
        the share of the squares of W that its turning part has; of "dial" and "dial
        from 0" surgery.HEADS, "30 T(k) + k" for the share that name the word k after
        the match, or FORM; of "readers" a task and a rule, as in "lag/ntk".
    model : str
        Of MODELS. The texts of "dial" begin at positions 0 to 500 in training.
    seeds, first_seed : int
        How many, and the first.
    test_lengths : sequence of int
    rate, width : float, int
        Factors.

    Raises ValueError for an unknown model.

    >>> rows = measure(["turns"], model="one_back", seeds=1, test_lengths=(24,))
    >>> 0.5 < rows[0].accuracy < 0.7
    True
    """
    as_choice("model", model, MODELS)
    first = as_integer("first_seed", first_seed, at_least=0)
    numbers = range(first, first + as_integer("seeds", seeds, at_least=1))
    width = as_integer("width", width, at_least=1)
    shares: dict[tuple[str, int, int], float] = {}
    if model == "readers":
        shares = _readers(schemes, numbers, test_lengths, rate, width)
    for seed in numbers:
        if model == "one_back":
            shares |= _one_back(schemes, seed, test_lengths, rate, width)
        elif model != "readers":
            settings = Settings(
                last_start=0 if model == "dial from 0" else Settings.last_start,
                rate=rate * Settings.rate,
                width=width * Settings.width,
            )
            shares |= _two_layers(schemes, seed, test_lengths, settings)
    return [
        Score(model, scheme, seed, n, shares[scheme, seed, n])
        for scheme in schemes
        for seed in numbers
        for n in test_lengths
    ]


def _one_back(
    schemes: Sequence[str], seed: int, lengths: Sequence[int], rate: float, width: int
) -> dict[tuple[str, int, int], float]:
    heads = [scheme for scheme in schemes if scheme != "turns"]
    models = {
        kind: one_head.trained(
            kind, seed, rate=rate * one_head.RATE, width=width * one_head.WIDTH
        )
        for kind in ("added", "rotary")
        if kind == "added" or kind in schemes
    }
    rows = one_head.scores_of(models, seed, heads, lengths)
    W = one_head.head_matrix(models["added"])
    turns = float((one_head.turning_part(W) ** 2).sum() / (W**2).sum())
    found = {(row.scheme, seed, row.length): row.accuracy for row in rows}
    return found | {("turns", seed, n): turns for n in lengths}


def _two_layers(
    schemes: Sequence[str], seed: int, lengths: Sequence[int], settings: Settings
) -> dict[tuple[str, int, int], float]:
    model = induction.made_of(surgery.course(seed, settings)[-1], settings)
    done = surgery.surgeries(model)
    form = form_of(model, seed) if {*schemes} & {*FORM} else {}
    found: dict[tuple[str, int, int], float] = {}
    for n in lengths:
        texts = surgery.test_texts(n, seed)
        for scheme in schemes:
            if scheme in FORM:
                share = form[scheme]
            else:
                head, _, after = scheme.partition(" + ")
                share = surgery.share_named(
                    model, texts, done[head], after=int(after or 1)
                )
            found[scheme, seed, n] = share
    return found


def form_of(model: TwoLayers, seed: int) -> dict[str, float]:
    """What the first head of a trained model looks like, by the names of FORM.

    "turns": the share of its squares in the turning part. "fastest": whether the
    fastest hand is the loudest. "slow hands": how loud the loudest but for the three
    fastest is, beside the fastest (at most 1). "angle": whether the fastest turns by
    0.8 to 1. "whole turns": the share of its misses, at 64 and 128 words, that lie
    within a tenth of a turn of whole turns of the fastest hand beyond one back.
    """
    W = induction.head_matrix(model)
    sizes, phases = surgery.hands_of(W)
    misses = surgery._misses(model, seed)
    turns = (np.arange(len(misses)) - 1) / (2 * np.pi)
    near = np.abs(turns - turns.round()) < 0.1
    return {
        "turns": float(2 * (sizes**2).sum() / (W**2).sum()),
        "fastest": float(sizes.argmax() == 0),
        "slow hands": float(min(1, sizes[3:].max() / sizes[0])),
        "angle": float(0.8 < phases[0] < 1),
        "whole turns": float(misses[near].sum() / max(1, misses.sum())),
    }


def _readers(
    schemes: Sequence[str],
    seeds: range,
    lengths: Sequence[int],
    rate: float,
    width: int,
) -> dict[tuple[str, int, int], float]:
    rows = stretched.measure(
        schemes,
        base=BASE,
        rate=rate * READERS_RATE,
        seeds=len(seeds),
        first_seed=seeds[0],
        test_lengths=lengths,
        width=width * stretched.WIDTH,
    )
    return {(row.scheme, row.seed, row.length): row.accuracy for row in rows}
