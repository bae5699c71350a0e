"""A report in SARIF 2.1.0, which code hosts show beside the source."""

import functools
import inspect
from pathlib import Path
from typing import Any

from pe_lib import __version__
from pe_lib.check.report import Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_sarif(report: Report, build: Any) -> dict[str, Any]:
    """What is wrong, at the line where the class begins that `build` makes it from."""
    while isinstance(build, functools.partial):
        build = build.func
    place = {}
    try:
        path = Path(inspect.getsourcefile(build) or "")
        region = {"startLine": max(inspect.getsourcelines(build)[1], 1)}
        inside = path.is_relative_to(Path.cwd())
        uri = path.relative_to(Path.cwd()).as_posix() if inside else path.as_uri()
        at = {"artifactLocation": {"uri": uri}, "region": region}
        place = {"locations": [{"physicalLocation": at}]}
    except (TypeError, OSError):  # no source
        pass
    results = [
        {
            "ruleId": found.check,
            "level": "warning" if found.later else "error",
            "message": {"text": f"{found.what} {found.why} {found.fix}".strip()},
            **place,
        }
        for found in report.wrong
    ]
    tool = {"driver": {"name": "pe_lib", "version": __version__}}
    runs = [{"tool": tool, "results": results}]
    return {"version": "2.1.0", "$schema": SCHEMA, "runs": runs}
