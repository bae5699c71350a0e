"""The arithmetic in which figures are drawn, and the one in which they are compared.

Libraries choose their kernels by the processor, and kernels round differently. What is
stored is drawn with those for AVX2. The tests draw it again with older ones, so that
what shows the rounding is red at once, on every machine. Printed numbers and
assertions need neither: name one of these variables yourself, and none is set here.
"""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

DRAWN = {
    "ATEN_CPU_CAPABILITY": "avx2",  # PyTorch
    "MKL_CBWR": "AVX2",  # its matrix products
    "OPENBLAS_CORETYPE": "Haswell",  # those of NumPy and SciPy
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",  # NumPy
}
COMPARED = DRAWN | {"MKL_CBWR": "COMPATIBLE", "OPENBLAS_CORETYPE": "Nehalem"}


def pin(kernels: Mapping[str, str]) -> None:
    """For the processes started from here on: one thread, and these kernels."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if has_avx2() and not kernels.keys() & os.environ.keys():
        os.environ.update(kernels)


def is_pinned() -> bool:
    """Whether figures come out as stored: nobody chose other kernels."""
    chosen = {name: os.environ.get(name) for name in DRAWN}
    return has_avx2() and chosen in (DRAWN, COMPARED)


def has_avx2() -> bool:
    """Whether this is Linux on an x86-64 processor of 2013 or later."""
    about = Path("/proc/cpuinfo")
    here = (platform.system(), platform.machine()) == ("Linux", "x86_64")
    return here and " avx2 " in about.read_text(encoding="utf-8")
