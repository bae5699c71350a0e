"""The checks of how a rotary module may be called: where, with what, for a gradient."""

import torch

from pe_lib.check.probe import noise
from pe_lib.check.report import Finding, Findings, first_line
from pe_lib.check.tensors import close, name_of
from pe_lib.check.turner import Turner

WORDS = 6  # that are decoded one by one


def positions(turner: Turner) -> Findings:
    """Where it takes positions, does each vector turn to its own?"""
    if not turner.takes_positions:
        yield Finding.fact(
            "No argument for positions.", "Packed and left-padded batches need one."
        )
        return
    rows = noise(turner.count, turner.d_model)
    order = torch.arange(turner.count).flip(0)
    for part, name in enumerate(turner.parts):
        usual = turner.turn(rows, part=part)
        try:
            turned = turner.turn(rows.flip(0), part=part, at=order)
        except Exception as error:
            if turner.probe.takes_positions or turner.call.where:
                raise
            yield Finding.fact(
                f"{turner.probe.positions} is refused: {first_line(error)}",
                "Either it takes something else, or packed batches cannot be had.",
            )
            return
        if not close(turned.flip(0), usual):
            yield Finding.wrong(
                f"At positions {turner.count - 1}, ..., 1, 0 the {name} are not turned "
                "as usual, in that order.",
                "Packed and left-padded sequences are turned to other positions.",
                "Compute the angles from the positions, in whatever order they come.",
            )
            return
        both = torch.stack([order, order.flip(0)])
        try:
            second = turner.turn(rows.expand(2, -1, -1), part=part, at=both)[1]
        except Exception:  # one row of positions for all
            continue
        if turner.call.where != 1 and not close(second, usual):
            yield Finding.wrong(
                f"Positions [batch, length]: the {name} of the second sequence are not "
                "turned to its own.",
                "Packed and left-padded batches differ from sequence to sequence.",
                "Index the angles by all positions, not by those of row 0.",
            )
            return
    yield Finding.fact(
        "Positions are right, whatever their order.",
        "Packed and left-padded batches are possible.",
    )


def cache(turner: Turner) -> Findings:
    """Word by word, as with a cache: the same as all at once?"""
    name = turner.probe.offset
    if not (name or turner.takes_positions):
        yield Finding.fact(
            "No argument for the first position.",
            "Decoding word by word with a cache needs one.",
        )
        return
    rows, words = noise(turner.count, turner.d_model), min(WORDS, turner.count)
    for part, of in enumerate(turner.parts):
        usual, module = turner.turn(rows, part=part), turner.make()
        for step in (1, 2):
            try:
                steps = [
                    turner.turn(rows[t : t + step], module, part=part, start=t)
                    for t in range(0, words, step)
                ]
            except Exception as error:
                yield Finding.fact(
                    f"Word by word it refuses: {first_line(error)}",
                    "An error that says so; a key-value cache cannot be had.",
                )
                return
            turned = torch.cat(steps)[:words]
            bad = (turned - usual[:words]).abs().amax(1) > 1e-3
            if not bad.any():
                continue
            at = int(torch.nonzero(bad)[0])
            how = f"{name} = {at // step * step}" if name else f"position {at}"
            yield Finding.wrong(
                f"{'One word' if step == 1 else 'Two words'} at a time, with {how}, "
                f"the {of} are not turned as in the whole text: position {at} is off "
                f"by {float((turned - usual[:words])[at].abs().max()):.2g}.",
                "A model that decodes with a cache scores other offsets than it was "
                "trained with, and no error says so.",
                "Count the positions of queries and keys from the length of the cache.",
            )
            return
    yield Finding.fact(
        "Word by word it turns as all at once.", "A key-value cache needs it."
    )


def dtype(turner: Turner) -> Findings:
    """Does what it turns keep its dtype?"""
    if turner.call.tables is not None:
        return
    lost = []
    for kind in (torch.float64, torch.bfloat16, torch.float16):
        rows, module = noise(turner.count, turner.d_model).to(kind), turner.make()
        for part, name in enumerate(turner.parts):
            try:
                found = turner.turn(rows, module.to(kind), part=part).dtype
            except RuntimeError:  # it refuses a mixture: an error that says so
                continue
            if found != kind:
                lost.append(f"{name} of {name_of(kind)} become {name_of(found)}")
    if lost:
        yield Finding.wrong(
            f"After .to(dtype) {', '.join(lost)}.",
            "Attention refuses a mixture of dtypes, or works in the wider one.",
            "Turn in float32, and return .to(x.dtype).",
        )
    else:
        yield Finding.fact("It keeps the dtype of x.", "As it should.")


def gradient(turner: Turner) -> Findings:
    """Is the gradient turned back?"""
    if turner.call.tables is not None:
        return
    rows = noise(turner.count, turner.d_model)
    weights, along = (noise(*rows.shape, seed=seed) for seed in (2, 3))
    for part, name in enumerate(turner.parts):
        x = rows.clone().requires_grad_()
        output = turner.call(turner.make(), x, part=part)
        found = None
        if output.requires_grad:
            (found,) = torch.autograd.grad((output * weights).sum(), x)
        # A turn is linear: the gradient times v is the weights times v, turned.
        wanted = float((turner.turn(along, part=part) * weights).sum())
        if found is None or abs(float((found * along).sum()) - wanted) > 1e-2 * abs(
            wanted
        ):
            yield Finding.wrong(
                f"The gradient does not reach the {name} as it should.",
                "The projections below are not trained, and no error says so.",
                "Keep torch.no_grad and detach to cosines and sines, away from x.",
            )
            return
    yield Finding.fact("The gradient is turned back.", "As it should.")


def training(turner: Turner) -> Findings:
    """In training mode: the same turns?"""
    usual = turner.codes(turner.make())
    module = turner.make().train()
    trained = [turner.codes(module) for _ in range(3)]
    off = max(float((codes - usual).abs().max()) for codes in trained)
    if off > 1e-3:
        yield Finding.wrong(
            f"In training mode vectors are turned otherwise, off by {off:.2g}.",
            "The model learns with different angles from those that it is used with.",
            ""
            if close(trained[1], trained[0])
            else "No dropout on cosines, sines or angles.",
        )
    else:
        yield Finding.fact("Training mode changes nothing.", "It has no dropout.")
