"""Views: reports of runs, comparisons, parts with their sources, studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin import engine, report
from lanetwin.comparison import compare_files
from lanetwin.errors import LanetwinError
from lanetwin.files import read_text
from lanetwin.fit import brief
from lanetwin.glance import all_lines
from lanetwin.numbers import change, spelt
from lanetwin.report.page import policy
from lanetwin.study import parse, shipped
from lanetwin.summary import spread, variants
from lanetwin.ui.folder import REPORT, SWEPT

if TYPE_CHECKING:
    from pathlib import Path

REPORT_POLICY = "sandbox allow-scripts allow-downloads; "
"""Additional policy of a report, which comes from a file and does not belong to the session."""
STORED_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
"""Policy of a page that was not rendered here: display only."""


def page(folder: Path) -> tuple[str, str]:
    """Return a report with its policy: that of a run rendered again, that of a sweep as stored.

    Raises `LanetwinError`.
    """
    if not (folder / "results.json").exists() and any((folder / marker).exists() for marker in SWEPT):
        return _stored(folder / REPORT), STORED_POLICY
    return report.render(engine.load_file(folder)), REPORT_POLICY + policy()


def _stored(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise LanetwinError(f"cannot read {file.name}: {error}") from error


def compared(a: Path, b: Path) -> dict[str, Any]:
    """Compare two runs, the first being the baseline. Raises `LanetwinError`."""
    results = compare_files(a, b)
    names = variants(results)
    lines = []
    for line in all_lines(results):
        values = {name: brief(row["value"], row["unit"], row["metric"]) for name, row in line.values.items()}
        verdicts = {
            name: {"change": change(one["change"]), "verdict": one["verdict"], "interval": spread(one)}
            for name, one in line.verdicts.items()
        }
        own = {"workload": line.workload, "case": line.case, "metric": line.metric}
        lines.append({**own, "values": values, "verdicts": verdicts})
    return {"variants": names, "lines": lines}


def parts() -> list[dict[str, Any]]:
    """Return the catalogue, a line for each part."""
    return engine.parts()


def part(name: str) -> dict[str, Any]:
    """Return a part with the source of every number, with values spelt as in reports.

    Raises `LanetwinError`.
    """
    found = engine.part(name)
    for one in found.get("parameters", []):
        one["value"] = spelt(str(one["value"]))
    return found


def studies() -> list[dict[str, str]]:
    """Return the studies that come with lanetwin, each with its question and its command."""
    found = []
    for name in shipped.names():
        path, _ = shipped.find(name)
        question = parse.load(path, outside=True).about.told("en")
        found.append({"name": name, "question": question, "command": f"lanetwin study {name} --quick"})
    return found
