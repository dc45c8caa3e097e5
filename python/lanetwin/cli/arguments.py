"""Arguments that several commands share."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lanetwin import kinds, store
from lanetwin.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = Path("runs")
"""Default folder of results."""

MOST_JOBS = 1024
"""Most points that are simulated at once: more would only use memory."""


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
        path, equals, new = value.partition("=")
        if not equals or not path.strip() or not new.strip():
            raise typer.BadParameter(f"{value!r} is not of the form path=value, such as links.slot.gen=4")
    return values


def a_scenario(path: Path | None) -> Path | None:
    """Refuse what is known to be something else than a scenario."""
    return path if path is None else kinds.require(path, "scenario")


def a_channel(path: Path | None) -> Path | None:
    """Refuse what is known to be something else than the description of a channel."""
    return path if path is None else kinds.require(path, "channel")


def a_result(path: Path) -> Path:
    """Refuse what is known to be something else than results; a measuring tool's file may stand for one."""
    return kinds.require(path, "results", "run")


def share_of(text: str) -> float:
    """Read a share, such as `0.02` or `2%`.

    >>> share_of("2%"), share_of("0.5")
    (0.02, 0.5)
    """
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise typer.BadParameter(f"{text!r} is no share: write a number such as 0.02, or 2%")
    return number / 100 if text.endswith("%") else number


def refuse_empty_paths(command: Any) -> None:
    """Let a command refuse '' as a path: it would be the current folder."""
    for below in getattr(command, "commands", {}).values():
        refuse_empty_paths(below)
    for param in command.params:
        if param.type.name == "path":
            param.type.convert = partial(_no_empty_path, param.type.convert)


def _no_empty_path(convert: Callable[..., Any], value: Any, param: Any, ctx: Any) -> Any:
    if value == "":
        raise typer.BadParameter("'' is no path: name a file or a folder ('.' is the current folder)")
    return convert(value, param, ctx)


def of_64_bits(seed: int | None) -> int | None:
    """Refuse a seed that is no number of 64 bits."""
    if seed is not None and seed >= 2**64:
        raise typer.BadParameter(f"a seed has 64 bits: at most {2**64 - 1}")
    return seed


def _page(path: Path | None) -> Path | None:
    """Refuse a page that could not be written, or would replace what is not lanetwin's, before the work."""
    if path is not None:
        store.claim_page(path)
    return path


ScenarioPath = Annotated[
    Path,
    typer.Argument(metavar="SCENARIO", help="Scenario file (YAML).", callback=a_scenario, show_default=False),
]
ChannelPath = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Description of the channel (YAML).", callback=a_channel, show_default=False
    ),
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
ChannelSets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="PATH=VALUE",
        help="Change the description, e.g. chain.board.length=6in. May be repeated.",
        callback=_with_equals,
        show_default=False,
    ),
]
SimulationSeed = Annotated[
    int,
    typer.Option("--seed", min=0, callback=of_64_bits, help="Where the randomness of a simulation begins."),
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
    int | None,
    typer.Option("--jobs", "-t", min=1, max=MOST_JOBS, help="So many at once. Default: one per core."),
]
CacheFile = Annotated[Path, typer.Option("--cache", help="File that keeps the results of points.")]
Outside = Annotated[
    bool,
    typer.Option("--outside", help="Read files out of the scenario's folder, too, if it names them."),
]
OwnCore = Annotated[
    int | None,
    typer.Option(
        "--core",
        metavar="N",
        min=0,
        help="Core of the door alone; programs belong on others, where exec runs its own.",
        show_default=False,
    ),
]
StayAwake = Annotated[
    bool,
    typer.Option(
        "--awake/--no-awake", help="Keep idle cores from sleeping while the drive is used (needs root)."
    ),
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
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        "-r",
        help="Write an HTML report here. Default: none.",
        callback=_page,
        show_default=False,
    ),
]
