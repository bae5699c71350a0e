"""What experiments refuse before anything is trained; a row is a call and its error."""

from functools import partial

import numpy as np
import pytest
import torch

from pe_lib.experiments import induction, one_head, smollm
from pe_lib.experiments.attention import Intervention
from pe_lib.experiments.compare import paired
from pe_lib.experiments.model import NOWHERE, Positions, Transformer
from pe_lib.experiments.rotations import rotation_part
from pe_lib.experiments.schemes import Scheme
from pe_lib.experiments.training import train
from tests.experiments.helpers import generator, tiny_smollm

ONE = {"task": "copy", "schemes": ["none"], "steps": 1}
NINE = {"steps": 1, "train_lengths": (9, 9), "test_lengths": (9,)}
TOKENS = torch.arange(4)[None]
CODES = Positions(codes=torch.zeros(1, 1, 4, 48))
PLAIN = {"tokens": 9, "answers": 9, "width": 48, "heads": 1, "head_dim": 48}
ONLY = Intervention(between_codes=np.eye(48))


def run(change, given=CODES, **more):
    """A small model with a change."""
    return Transformer([generator()], **PLAIN | more)(TOKENS[None], given, change)


def encoded(encode, learned):
    return train("copy", {"mine": Scheme(encode, learned=learned)}, **NINE)


VALUE_ERRORS = [
    *(
        (partial(train, **ONE | change), told)
        for change, told in (
            ({"task": "sort"}, "task must be 'copy' or .*got 'sort'"),
            ({"schemes": ["none", "rope"]}, "schemes must be 'none' or .*got 'rope'"),
            ({"layers": 0}, "layers must be at least 1"),
            ({"token_std": 0.0}, "token_std must be"),
            ({"test_starts": (-5,)}, "test_starts must be at least 0"),
            ({"train_starts": -3}, "train_starts must be at least 0"),
            ({"examples": 8}, r"train_lengths must be one length .*got \(8, 24\)"),
            ({"task": "order", "by_query": True}, "by_query must be False .*'order'"),
        )
    ),
    *(
        (partial(encoded, encode, learned), f"encoding must .*{told}")
        for learned in (False, True)
        for encode, told in (
            (lambda n, _: np.zeros((n, 8)), r"\(9, 32\), got \(9, 8\)"),
            (lambda n, _: np.full((n, 32), np.nan), "finite"),
        )
    ),
    (partial(Scheme, bias="T5"), r"bias must be .*'alibi' or 't5', got 'T5'"),
    *((partial(paired, np.zeros(n), np.zeros(9)), "ten seeds") for n in (9, 10)),
    *(
        (partial(rotation_part, np.zeros(shape)), r"W must be square.*got")
        for shape in ((3, 3), (2, 4), (4,))
    ),
    *(
        (partial(induction.passages, n, 1, generator()), f"24 and 128, got {n}")
        for n in (23, 129)
    ),
    *(
        (partial(measure, [name], seeds=1, test_lengths=(32,)), "schemes must be .*got")
        for measure, name in ((one_head.measure, "none"), (induction.measure, "T"))
    ),
    (partial(one_head.trained, "alibi", 0), "encoding must be 'added' or 'rotary'"),
    # each kind of model names the kinds of change that it takes
    (
        partial(smollm.forward, tiny_smollm(), TOKENS, intervention=ONLY),
        "must be of listen, .*shift.* got between_codes",
    ),
    (partial(run, Intervention(shift={(0, 0): 1})), "of .*between_codes.* got shift"),
    (partial(run, ONLY, NOWHERE), "be of listen, change for .*between"),
    (partial(run, ONLY, heads=2), "be of listen, change for .*between"),
    (partial(run, ONLY, norm="rms"), "be of listen, change for .*between"),
]


@pytest.mark.parametrize(("call", "message"), VALUE_ERRORS)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_taken_beside_it():
    assert run(ONLY) is not None
    for learned in (False, True):
        with pytest.raises(TypeError, match=r"encoding must .*got dtype bool"):
            encoded(lambda n, _: np.zeros((n, 32), bool), learned)
