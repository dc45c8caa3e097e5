"""Arguments that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lanetwin.beginning import tool_of
from lanetwin.errors import LanetwinError
from lanetwin.formats import FORMATS

RUNS = Path("runs")
"""Default folder of results."""


class Granularity(StrEnum):
    """The granularity of scheduling; results do not depend on it."""

    TRAIN = "train"
    TLP = "tlp"


class Gate(StrEnum):
    """Verdicts on which a comparison can fail."""

    WORSE = "worse"
    BETTER = "better"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"


def _of_formats(names: list[str] | None) -> list[str] | None:
    """Refuse a format that does not exist, or that cannot be written here."""
    for name in names or []:
        if name not in FORMATS:
            raise typer.BadParameter(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
        FORMATS[name].require()
    return names


def _with_equals(values: list[str] | None) -> list[str] | None:
    for value in values or []:
        path, equals, _ = value.partition("=")
        if not equals or not path.strip():
            raise typer.BadParameter(f"{value!r} is not of the form path=value, such as links.slot.gen=4")
    return values


def no_jobs(path: Path | None) -> Path | None:
    """Refuse a job file in place of a scenario: it does not describe a machine."""
    if path is not None and (tool := tool_of(path)) is not None and path.exists():
        raise LanetwinError(
            f"{path} is a file of {tool} and says nothing of a machine; "
            f"`lanetwin new --from {path}` writes a scenario around it"
        )
    return path


ScenarioPath = Annotated[
    Path,
    typer.Argument(metavar="SCENARIO", help="Scenario file (YAML).", callback=no_jobs, show_default=False),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="PATH=VALUE",
        help="Change the scenario, e.g. links.slot.gen=4. May be repeated.",
        callback=_with_equals,
        show_default=False,
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        "-v",
        metavar="PATH=VALUES",
        help="x4,x8 or 1..256*2 or 50ns..200ns+50ns. May be repeated.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-t", min=1, help="So many at once. Default: one per core.")
]
CacheFile = Annotated[Path, typer.Option("--cache", help="File that keeps the results of points.")]
Outside = Annotated[
    bool,
    typer.Option("--outside", help="Read files out of the scenario's folder, too, if it names them."),
]
ChannelVariants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant", help="Variant of the channel. May be repeated; all if left out.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", "-j", help="Print JSON instead of tables.")]
FailOn = Annotated[
    list[Gate] | None,
    typer.Option(
        "--fail-on", help="Exit with status 3 if any verdict is this. May be repeated.", show_default=False
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Print every table instead of the answer alone.")]
Force = Annotated[
    bool, typer.Option("--force", "-f", help="Overwrite what --out names, if there is anything.")
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        callback=_of_formats,
        help="Write the rows in this format, too, beside CSV. May be repeated.",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no word on where the files are.")]
