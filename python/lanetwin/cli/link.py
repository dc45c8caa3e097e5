"""The physical layer: ``lanetwin link``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from lanetwin import engine, store
from lanetwin.cli import cycles
from lanetwin.cli.arguments import AsJson, ChannelPath, ChannelSets, ChannelVariants, Quiet, Report
from lanetwin.cli.console import Exit, as_written, emit, emit_json, err, out, printable
from lanetwin.cli.diagnostics import print_diagnostics
from lanetwin.cli.interrupt import interruptible
from lanetwin.cli.languages import in_languages
from lanetwin.cli.progress import shown
from lanetwin.cli.rendering import say_where
from lanetwin.cli.tables import plain_table
from lanetwin.errors import Diagnostic
from lanetwin.numbers import fixed, significant
from lanetwin.report import link as link_report
from lanetwin.sentences import naming, told

if TYPE_CHECKING:
    from collections.abc import Callable

LINK = typer.Typer(
    name="link",
    no_args_is_help=True,
    help="A link: loss budget, eye, places for retimers, Touchstone files, training, stability cycles.",
)
Strict = Annotated[bool, typer.Option("--strict", help="Exit with status 3 if a segment fails.")]
VERDICTS = {"fits": "green", "tight": "yellow", "exceeds": "red"}
"""Colours of verdicts on a budget."""


def register(app: typer.Typer) -> None:
    """Add the group."""
    cycles.register(LINK)
    app.add_typer(LINK)


@LINK.callback()
def link() -> None:
    """Answer questions about the channel of a link."""


@LINK.command("new")
def new(
    out_file: Annotated[
        Path, typer.Option("--out", "-o", help="File to write; '-' for standard output.")
    ] = Path("link.yaml"),
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite the file if there is one.")] = False,
) -> None:
    """Start the description of a channel from a commented template.

    [dim]Example:[/]
      lanetwin link new -o drive.yaml
    """
    text = engine.link_templates()[0]["text"]
    if out_file == Path("-"):
        emit(text)
        return
    store.claim_file(out_file, force=force)
    store.write_file(out_file, text)
    emit(str(out_file))
    err().print(f"Next: lanetwin link budget {out_file}", style="dim", soft_wrap=True)


@LINK.command("schema")
def schema() -> None:
    """Print the JSON Schema of a channel's description, for editors that check while you type.

    [dim]Example:[/]
      lanetwin link schema > link.schema.json
    """
    emit(engine.link_schema())


@LINK.command("elements")
@in_languages
def elements(
    gen: Annotated[
        str, typer.Option("--gen", "-g", help="Generation or rate that losses are told for.")
    ] = "5",
    library: Annotated[
        Path | None,
        typer.Option(
            "--library", "-l", help="A library file of your own, beside what is shipped.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what a channel can be made of: boards, packages, connectors, cables, kits, retimers, redrivers.

    JSON has every number with its source.

    [dim]Examples:[/]
      lanetwin link elements
      lanetwin link elements --gen 4 --library mine.yaml
    """
    found = engine.link_elements(gen, str(library) if library else None)
    _show(found, _print_elements, as_json=as_json)


@LINK.command("budget")
@in_languages
def budget(
    file: ChannelPath,
    sets: ChannelSets = None,
    variants: ChannelVariants = None,
    report: Report = None,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Set the loss of every element beside the loss budget: what is left, and what the answer rests on.

    [dim]Examples:[/]
      lanetwin link budget drive.yaml
      lanetwin link budget drive.yaml --set chain.board.length=6in --strict
    """
    found = engine.link_budget(str(file), sets or [], variants or [])
    if report:
        _write(report, link_report.render(found, None))
    _show(found, _print_budget, as_json=as_json)
    _warn(found)
    if strict and any(variant["verdict"] == "exceeds" for variant in found["variants"]):
        raise typer.Exit(Exit.GATE)


@LINK.command("eye")
@in_languages
def eye(
    file: ChannelPath,
    sets: ChannelSets = None,
    variants: ChannelVariants = None,
    report: Report = None,
    strict: Strict = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compute the eye at every receiver, with the best equalisation, and hold it against the mask.

    Height and width are those at the bit error ratio of the mask. Ctrl-C keeps what is finished.

    [dim]Examples:[/]
      lanetwin link eye drive.yaml --report drive.html
      lanetwin link eye drive.yaml --strict --json
    """
    with interruptible(), shown(file.name, quiet=quiet) as progress:
        found = engine.link_eye(str(file), sets or [], progress, variants=variants or [])
    if report:
        _write(report, link_report.render(engine.link_budget(str(file), sets or [], variants or []), found))
    _show(found, _print_eyes, as_json=as_json)
    _warn(found)
    if not found["complete"]:
        raise typer.Exit(Exit.INTERRUPTED)
    if strict and not all(variant["passes"] for variant in found["variants"]):
        raise typer.Exit(Exit.GATE)


@LINK.command("place")
@in_languages
def place(
    file: ChannelPath,
    retimers: Annotated[
        int, typer.Option("--retimers", "-n", min=1, max=2, help="At most so many are put in.")
    ] = 1,
    part: Annotated[str, typer.Option("--part", "-p", help="The retimer, of the library.")] = "generic-gen5",
    after: Annotated[
        list[str] | None,
        typer.Option(
            "--after",
            "-a",
            help="Element behind which one may stand. May be repeated; any if left out.",
            show_default=False,
        ),
    ] = None,
    sets: ChannelSets = None,
    variants: ChannelVariants = None,
    as_json: AsJson = False,
) -> None:
    """Find where one or two retimers leave the largest margin to the loss budget.

    [dim]Example:[/]
      lanetwin link place drive.yaml --retimers 2 --after slot --after card
    """
    found = engine.link_place(
        str(file), sets=sets or [], variants=variants or [], retimers=retimers, part=part, after=after or []
    )
    _show(found, _print_places, as_json=as_json)
    _warn(found)


@LINK.command("touchstone")
@in_languages
def touchstone(
    file: Annotated[Path, typer.Argument(metavar="FILE.sNp", help="Touchstone file.", show_default=False)],
    gen: Annotated[
        str, typer.Option("--gen", "-g", help="Generation or rate that it is to be used at.")
    ] = "5",
    ports: Annotated[
        str | None,
        typer.Option(
            "--ports",
            help="Pairing, from 1: P near, N near, P far, N far for each lane, e.g. 1,3,2,4. Default: found.",
            show_default=False,
        ),
    ] = None,
    rewrite: Annotated[
        Path | None,
        typer.Option(
            "--rewrite",
            metavar="OUT.sNp",
            help="Write it in a form that every tool reads.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Overwrite what --rewrite names, if there is anything.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at a Touchstone file: ports, pairing, range, passivity, reciprocity, causality, loss.

    Ends with status 1 if its data cannot be used at the rate.

    [dim]Example:[/]
      lanetwin link touchstone backplane.s4p --gen 4
    """
    try:
        pairing = [int(port) for port in ports.split(",")] if ports else []
        if any(port < 1 for port in pairing):
            raise ValueError
    except ValueError:
        raise typer.BadParameter(f"{ports!r} is no list of port numbers, such as 1,3,2,4") from None
    if rewrite:
        store.claim_file(rewrite, force=force, option="--rewrite")
    found = engine.link_touchstone(str(file), gen, pairing)
    if rewrite:
        _write(rewrite, engine.link_rewritten(str(file)), "--rewrite")
    _show(found, _print_file, as_json=as_json)
    print_diagnostics([Diagnostic.from_dict(fields) for fields in found["diagnostics"]])
    if not found["usable"]:
        raise typer.Exit(Exit.ERROR)


def _show(found: dict[str, Any], printing: Callable[[dict[str, Any]], None], *, as_json: bool) -> None:
    """Print an answer: as JSON, or as tables in which names, notes and sources stay as they are."""
    if as_json:
        emit_json(found)
        return
    with naming(link_report.names_of(found)):
        printing(found)


def _write(path: Path, text: str, option: str = "--report") -> None:
    store.write_file(path, text, f"name another file with {option}")
    say_where(path)


def _warn(found: dict[str, Any]) -> None:
    warnings = [Diagnostic.from_dict(fields) for fields in found["warnings"]]
    if warnings:
        print_diagnostics(warnings)


def _segment(segment: dict[str, Any], total: int) -> str:
    number = f"{segment['segment'] + 1}: " if total > 1 else ""
    return f"{number}{segment['from']} → {segment['to']}"


def _print_elements(found: dict[str, Any]) -> None:
    nyquist = significant(found["nyquist_hz"] / 1e9, 3)
    columns = [("element", False), ("loss", True), ("of one", False), ("confidence", False)]
    columns.append(("is", False))
    table = plain_table(f"Elements: loss at {nyquist} GHz [dB], nominal", columns)
    for one in found["elements"]:
        name = f"{one['element']}: {one['name']}"
        cells = [Text(cell) for cell in (one["of"] or "", one["confidence"])]
        table.add_row(Text(printable(name)), fixed(one["loss_db"], 2), *cells, as_written(one["about"]))
    out().print(table)


def _print_budget(found: dict[str, Any]) -> None:
    console = out()
    for variant in found["variants"]:
        nyquist = significant(variant["nyquist_hz"] / 1e9, 3)
        title = f"{variant['name']}: {variant['rate']}, loss at {nyquist} GHz [dB], {variant['corner']}"
        table = plain_table(title, [("segment", False), ("element", False), ("loss", True)])
        for segment in variant["segments"]:
            name = _segment(segment, len(variant["segments"]))
            for at, (element, loss) in enumerate(segment["losses"]):
                table.add_row(Text(printable("" if at else name)), Text(printable(element)), fixed(loss, 2))
        console.print(table)
        console.print(_margins(variant))
        split = _split(variant)
        if split.row_count:
            console.print(split)
        console.print()
    _print_numbers(found)


def _margins(variant: dict[str, Any]) -> Any:
    names = ["loss", "low … high", "with reflections", "budget", "margin", "to keep"]
    table = plain_table("", [("segment", False), *((name, True) for name in names), ("verdict", False)])
    for segment in variant["segments"]:
        table.add_row(
            Text(printable(_segment(segment, len(variant["segments"])))),
            fixed(segment["loss_db"], 2),
            f"{fixed(segment['low_db'], 1)} … {fixed(segment['high_db'], 1)}",
            fixed(segment["through_db"], 2),
            fixed(segment["budget_db"], 2),
            fixed(segment["margin_db"], 2),
            fixed(segment["reserve_db"], 2),
            Text(segment["verdict"], VERDICTS[segment["verdict"]]),
        )
    return table


def _split(variant: dict[str, Any]) -> Any:
    """Compare the shares of the standard's split with the losses of their elements."""
    table = plain_table("", [("share", False), ("takes", True), ("may take", True), ("", False)])
    for segment in variant["segments"]:
        for share in segment["shares"]:
            budget_db = share["budget_db"]
            over = budget_db is not None and share["loss_db"] > budget_db
            table.add_row(
                Text(printable(share["share"])),
                fixed(share["loss_db"], 2),
                "–" if budget_db is None else fixed(budget_db, 2),
                Text("over its share", "yellow") if over else Text(""),
            )
    return table


def _print_numbers(found: dict[str, Any]) -> None:
    table = plain_table(
        "Numbers it rests on",
        [("element", False), ("number", False), ("value", True), ("confidence", False), ("source", False)],
    )
    budgets: dict[tuple[str, str], dict[str, Any]] = {}
    for variant in found["variants"]:
        for place_, number in variant["budget"].items():
            budgets[f"budget {variant['rate']}", place_] = number
    for used in found["numbers"]:
        budgets[used["entry"], used["place"]] = used["number"]
    for (entry, place_), number in budgets.items():
        head = (Text(printable(entry)), as_written(place_), as_written(number["value"]))
        table.add_row(*head, Text(number["confidence"]), as_written(number["source"]))
    out().print(table)


def _print_eyes(found: dict[str, Any]) -> None:
    console = out()
    names = ["loss [dB]", "EH [mV]", "EW [UI]", "BER", "FFE", "CTLE [dB]", "DFE [mV]"]
    columns = [
        ("variant", False),
        ("segment", False),
        *((name, True) for name in names),
        ("mask", False),
        ("operates", False),
    ]
    table = plain_table(
        "Eyes at the receivers: height (EH) and width (EW) at the bit error ratio of the mask", columns
    )
    for variant in found["variants"]:
        for at, segment in enumerate(variant["segments"]):
            passes = segment["passes"]
            table.add_row(
                Text(printable("" if at else variant["name"])),
                Text(printable(_segment(segment, len(variant["segments"])))),
                fixed(segment["loss_db"], 1),
                fixed(segment["height_v"] * 1e3, 1),
                fixed(segment["width_ui"], 3),
                link_report.ratio(segment["ber"]),
                segment["preset"],
                fixed(segment["ctle_db"], 0),
                ", ".join(fixed(tap * 1e3, 1) for tap in segment["dfe_v"]),
                Text("meets" if passes else "misses", "green" if passes else "red"),
                Text("yes" if segment["operates"] else "no", "green" if segment["operates"] else "red"),
            )
    console.print(table)
    for sentence in link_report.segment_sentences(found):
        console.print(Text(printable(sentence)), soft_wrap=True)
    for stress in found["stress"]:
        console.print(Text(link_report.stress_sentence(found, stress), "dim"), soft_wrap=True)


def _print_places(found: dict[str, Any]) -> None:
    console = out()
    for variant in found["variants"]:
        table = plain_table(
            f"{variant['name']}: {found['part']} at {variant['rate']}, margin to the budget [dB]",
            [("behind", False), ("least", True), ("of each segment", False), ("verdict", False)],
        )
        for way in variant["placements"]:
            table.add_row(
                Text(printable(", ".join(way["after"]) or "none put in")),
                fixed(way["least_margin_db"], 2),
                ", ".join(fixed(margin, 2) for margin in way["margins_db"]),
                Text(way["verdict"], VERDICTS[way["verdict"]]),
            )
        console.print(table)
        console.print()


def _print_file(found: dict[str, Any]) -> None:
    console = out()
    quality = found["quality"]
    references = sorted({significant(ohm, 4) for ohm in found["reference_ohm"]})
    reach = f"{significant(found['first_hz'] / 1e6)} MHz to {significant(found['last_hz'] / 1e9)} GHz"
    facts = [
        ("ports", str(found["ports"])),
        ("data", f"{found['points']} frequencies, {reach}"),
        ("reference", f"{', '.join(references)} Ω"),
    ]
    for name in ("passivity", "reciprocity", "causality"):
        measure = quality[name]
        facts += [(name, f"{fixed(measure['percent'], 2)} %, {measure['grade']}")]
    for key, value in facts:
        line = Text(f"{told(key)}: ", "dim")
        line.append(printable(told(value)), "not dim")
        console.print(line)
    if found["lanes"]:
        frequencies = sorted({place_ for lane in found["lanes"] for place_, _ in lane["losses_db"]})
        columns = [("lane", True), ("ports", False)]
        columns += [(f"{significant(place_, 2)} GHz [dB]", True) for place_ in frequencies]
        table = plain_table("", columns)
        for at, lane in enumerate(found["lanes"]):
            losses = dict(lane["losses_db"])
            cells = [fixed(losses[place_], 2) if place_ in losses else "–" for place_ in frequencies]
            ports = " ".join(str(port) for port in lane["ports"])
            table.add_row(str(at + 1), Text(ports), *cells)
        console.print(table)
