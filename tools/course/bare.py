"""Runs the chapters that need no PyTorch where there is none: ``make without-torch``.

    python tools/course/bare.py PYTHON [chapter ...]

PYTHON is that of an environment with requirements-numpy.txt alone. Every cell is run,
in the folder of its chapter, as one program.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kit
import manuscript


def main(python: str, names: list[str]) -> int:
    """How many chapters fail."""
    torch = subprocess.run([python, "-c", "import torch"], capture_output=True)
    if torch.returncode == 0:
        raise SystemExit(f"{python} has torch: nothing would be shown")
    pages = kit.chosen(manuscript.read().notebooks, names)
    failed = 0
    for page in [page for page in pages if not kit.needs_torch(page)]:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "chapter.py"
            program.write_text("\n\n".join(cell.source for cell in page.code_cells))
            done = subprocess.run(
                [str(Path(python).absolute()), "-W", "ignore", str(program)],
                cwd=page.path.parent,
                env=os.environ | {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
            )
        failed += done.returncode != 0
        said = "" if done.returncode == 0 else "\n" + done.stderr[-2000:]
        seconds = time.perf_counter() - start
        print(f"{kit.short(page)}: {seconds:.0f} s{said}", flush=True)
    print(f"{failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], sys.argv[2:])))
