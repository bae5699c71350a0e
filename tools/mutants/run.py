"""Break the core on purpose, mutant by mutant, and see which ones no test notices.

    make mutants

Works in a copy. Prints the score and every survivor that tests/lib/mutants.txt does
not explain; the exit status is 1 if there is one. It takes about half an hour, on two
quiet cores.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "tests/lib/mutants.txt"
MUTMUT = [sys.executable, "-m", "mutmut"]


def copy_to(folder: Path) -> None:
    """What mutmut needs: the library, its tests, the settings beside this file."""
    for part in ("pe_lib", "tests/lib"):
        shutil.copytree(ROOT / part, folder / part)
    shutil.copy(ROOT / "tools/mutants/setup.cfg", folder)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = tests/lib\n")


def ask(folder: Path, *arguments: str) -> str:
    """What mutmut prints."""
    command = [*MUTMUT, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    ).stdout


def changed_lines(folder: Path, name: str) -> list[str]:
    """The lines that a mutant takes away and puts in, as a diff writes them."""
    lines = ask(folder, "show", name).splitlines()
    return [
        line[0] + " " + line[1:].strip()
        for line in lines
        if re.match(r"[-+](?![-+])", line)
    ]


def main() -> int:
    """Run all mutants; print what is new."""
    kept = KEPT.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_to(folder)
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        subprocess.run([*MUTMUT, "run"], cwd=folder, env=environment, check=False)
        results = ask(folder, "results", "--all", "true")
        every = re.findall(r"^\s*(\S+): (.+)$", results, re.MULTILINE)
        score = Counter(how for _, how in every)
        print(*(f"{count} {how}" for how, count in score.items()), sep=", ")
        new = 0
        for mutant, how in every:
            if how in ("killed", "caught by type check"):
                continue
            lines = changed_lines(folder, mutant)
            if "\n".join(lines) not in kept:
                new += 1
                print(f"\n{mutant}: {how}", *lines, sep="\n")
    return int(bool(new))


if __name__ == "__main__":
    sys.exit(main())
