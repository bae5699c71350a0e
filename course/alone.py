"""A command that sees one folder: the rest of the disk and the network are not there.

    subprocess.run([*alone(folder), "python", "submission.py"])

It sees the system and the Python that runs this, to read; what lies in the folder, to
read, but for notebooks, in which a grader keeps hidden tests; and what is shared, to
write. What it writes elsewhere is gone when it ends. The kit's nbgrader runs students'
code so. It takes bubblewrap, a small program for Linux (``apt install
bubblewrap``); where there is none, a line says what a submission could do.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/alternatives", "/etc/fonts", "/etc/hosts", "/etc/ld.so.cache"),
)
PACKAGES = ("site-packages", "dist-packages")
NOT_ALONE = """\
WARNING: bubblewrap does not run here, so that each submission runs as you. It could
read and delete your files, read hidden tests, and change marks, its own and others'.
Install bubblewrap (Linux), or grade in the container of the Dockerfile beside this.
It says: {reason}
"""


def alone(folder: Path, *shared: Path) -> list[str]:
    """What to write before a command; nothing where bubblewrap does not run."""
    folder = folder.resolve()
    before = ["bwrap", "--unshare-all", "--hostname", "localhost"]
    before += ["--die-with-parent", "--new-session", "--clearenv"]
    before += ["--setenv", "HOME", "/tmp", "--setenv", "PATH", os.environ["PATH"]]
    before += ["--setenv", "LANG", "C.UTF-8"]
    before += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    python = [path for path in sys.path if Path(path).name in PACKAGES]
    for place in (*SYSTEM, sys.base_prefix, sys.prefix, *python):
        before += ["--ro-bind-try", place, place]
    before += ["--tmpfs", str(folder)]
    for path in sorted(folder.iterdir()):
        if path.suffix != ".ipynb":
            before += ["--ro-bind", str(path), str(path)]
    for path in shared:
        before += ["--bind", str(path), str(path)]
    return [*before, "--chdir", str(folder), "--"] if runs() else []


@cache
def runs() -> bool:
    """Whether bubblewrap is there, and may do what it does."""
    try:
        try_it = ["bwrap", "--unshare-all", "--ro-bind", "/", "/"]
        try_it += ["--proc", "/proc", "--dev", "/dev", "true"]
        subprocess.run(try_it, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", error)
        print(NOT_ALONE.format(reason=reason), file=sys.stderr)
        return False
    return True
