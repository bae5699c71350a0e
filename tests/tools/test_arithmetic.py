"""Which kernels draw and compare, and who decides."""

import os

import pytest

from tools import arithmetic
from tools.arithmetic import COMPARED, DRAWN


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell where nobody chose, on a processor with AVX2."""
    for name in ("OMP_NUM_THREADS", *DRAWN):
        monkeypatch.setenv(name, "")  # so that it comes back afterwards
        monkeypatch.delenv(name)
    monkeypatch.setattr(arithmetic, "has_avx2", lambda: True)


def named() -> dict[str, str]:
    """What is set now."""
    return {name: os.environ[name] for name in DRAWN if name in os.environ}


@pytest.mark.parametrize("kernels", [DRAWN, COMPARED])
def test_a_process_gets_all_kernels_and_one_thread(kernels: dict[str, str]) -> None:
    """A second call, in what was started from it, changes nothing."""
    arithmetic.pin(kernels)
    assert named() == kernels and os.environ["OMP_NUM_THREADS"] == "1"
    arithmetic.pin(COMPARED)
    assert named() == kernels and arithmetic.is_pinned()


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("value", ["", "default"])
def test_who_names_one_chooses_all(name: str, value: str) -> None:
    """Then figures are not compared."""
    os.environ[name] = value
    arithmetic.pin(COMPARED)
    assert named() == {name: value} and not arithmetic.is_pinned()


def test_another_processor_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could not run these kernels."""
    monkeypatch.setattr(arithmetic, "has_avx2", lambda: False)
    arithmetic.pin(DRAWN)
    assert named() == {} and not arithmetic.is_pinned()


def test_figures_are_drawn_and_compared_by_different_kernels() -> None:
    """In both libraries of matrix products; else nothing would be noticed."""
    different = {name for name in DRAWN if DRAWN[name] != COMPARED[name]}
    assert different == {"MKL_CBWR", "OPENBLAS_CORETYPE"}
