"""``otter run`` for several notebooks: otter is imported once, not once a notebook.

    python many.py ARCHIVE SECONDS FOLDER...

Each FOLDER holds one notebook and gets ``results.json``, as from ``otter run``, and
``log.txt``. Every notebook has a process of its own, which is ended after SECONDS.
"""

import os
import signal
import sys
import time
from pathlib import Path

from otter.run import main as otter_run


def grade(archive: str, folder: Path) -> None:
    """What ``otter run`` does; it ends this process."""
    os.setsid()  # so that its kernel can be ended with it
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        status = 1
        try:
            (notebook,) = folder.glob("*.ipynb")
            out = str(folder)
            otter_run(str(notebook), autograder=archive, output_dir=out, no_logo=True)
            status = 0
        except BaseException as problem:
            print(f"{type(problem).__name__}: {problem}", flush=True)
        os._exit(status)


def wait(child: int, seconds: float) -> bool:
    """Whether it ended by itself; if not, it is ended here, its kernel too."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main(archive: str, seconds: float, folders: list[Path]) -> None:
    """One after the other."""
    for folder in folders:
        child = os.fork()
        if not child:
            grade(archive, folder)
        if not wait(child, seconds):
            with (folder / "log.txt").open("a", encoding="utf-8") as log:
                log.write(f"\nstopped: the limit of {seconds:.0f} seconds\n")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
