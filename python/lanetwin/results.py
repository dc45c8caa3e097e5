"""The results document of a run, a measurement or a comparison, as the engine writes it.

The engine owns the document (schema ``lanetwin-results/1``). Its types are generated: `lanetwin.schema`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NotRequired, cast, get_origin, get_type_hints

from lanetwin.errors import Diagnostic, LanetwinError
from lanetwin.files import read_text
from lanetwin.schema import (
    Abscissa,
    ActionOutcome,
    Assumption,
    Attachment,
    Better,
    Bottleneck,
    ComponentMetric,
    Cost,
    Crossings,
    CxlUse,
    IometerMetric,
    LinkOutage,
    LoggedError,
    LogValue,
    Outcome,
    Part,
    Relative,
    Results,
    Round,
    Row,
    Scenario,
    Stage,
    Steadiness,
    SteadyState,
    SwitchTransit,
    Temperatures,
    Utilisation,
    Verdict,
    Waterfall,
)

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "lanetwin-results/1"
"""The only schema this version reads."""

__all__ = [
    "SCHEMA",
    "Abscissa",
    "ActionOutcome",
    "Assumption",
    "Attachment",
    "Better",
    "Bottleneck",
    "ComponentMetric",
    "Cost",
    "Crossings",
    "CxlUse",
    "IometerMetric",
    "LinkOutage",
    "LogValue",
    "LoggedError",
    "Outcome",
    "Part",
    "Relative",
    "Results",
    "Round",
    "Row",
    "Scenario",
    "Stage",
    "Steadiness",
    "SteadyState",
    "SwitchTransit",
    "Temperatures",
    "Utilisation",
    "Verdict",
    "Waterfall",
    "load",
    "parse",
]


MAY_LACK = frozenset({"about", "options", "cost"})
"""Fields that measurements, imports and earlier versions do not always write."""
ALWAYS = (
    frozenset(
        name
        for name, holds in get_type_hints(Results, include_extras=True).items()
        if get_origin(holds) is not NotRequired
    )
    - MAY_LACK
)
"""Fields of every results document; others are optional."""


def require_all(results: Results, file: str) -> None:
    """Refuse a document without a required field. Raises `LanetwinError` (RS005).

    Measurements of programs have no question.
    """
    results.setdefault("about", "")
    missing = sorted(ALWAYS - results.keys())
    if missing:
        message = f"the document is damaged: there is no `{missing[0]}`"
        remedy = "the file was edited by hand; run the scenario again"
        raise LanetwinError("", [Diagnostic("RS005", "error", message, remedy, file=file, path=missing[0])])


def parse(text: str, origin: str) -> Results:
    """Read a results document; `origin` names it in errors.

    Raises `LanetwinError` if the text is not a results document of the schema that this version reads.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise LanetwinError(f"{origin} is not JSON: {error}") from error
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        found = f"its schema is {schema!r}" if schema else "it names no schema"
        raise LanetwinError(f"{origin} is not a results document this version reads: {found}, not {SCHEMA!r}")
    return _without_gaps(cast("Results", document))


def _without_gaps(results: Results) -> Results:
    """Replace the missing interval of a single repeat by its value."""
    for row in results.get("rows", []):
        if row.get("low") is None or row.get("high") is None:
            row["low"] = row["high"] = row["value"]
    for verdict in results.get("verdicts", []):
        if verdict.get("low") is None or verdict.get("high") is None:
            verdict["low"] = verdict["high"] = verdict["change"]
    return results


def load(path: Path) -> Results:
    """Read a results document from a file, or from the folder a run wrote.

    Raises `LanetwinError` if it cannot be read or is not a results document.
    """
    file = path / "results.json" if path.is_dir() else path
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise LanetwinError(f"cannot read the results {file}: {error}") from error
    return parse(text, str(file))
