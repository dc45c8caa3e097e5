"""Tables of training and stability cycles."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from lanetwin.cli.console import out, printable
from lanetwin.cli.tables import plain_table
from lanetwin.numbers import fixed, significant
from lanetwin.report import cycles as cycles_report
from lanetwin.report import link as link_report

VERDICTS = {"pass": "green", "fail": "red", "NOT PERFORMED": "yellow", "stopped": "yellow"}
"""Colours of verdicts on tests."""
STEPS = 40
"""Printed steps of a training; --all also prints the others."""
MOST_IN_WORDS = 3
"""Number of links side by side that leaves room for words."""


def print_cycles(found: dict[str, Any]) -> None:
    """Print the results of cycles: links side by side, then each link, then the conclusion."""
    console = out()
    if found["plan"] is not None:
        _print_plan(found)
        return
    if not found["series"]:
        return  # refused: the findings say why
    console.print(_side_by_side(found))
    _print_answers(found)
    for series in found["series"]:
        console.print()
        console.print(_rows(series))
        for sentence in cycles_report.remarks(series):
            console.print(Text(printable(sentence), "dim"), soft_wrap=True)
        if series["lanes"]:
            console.print()
            console.print(_lanes(series))
    console.print()
    for sentence in cycles_report.proves(found):
        console.print(Text(sentence), soft_wrap=True)


def _print_answers(found: dict[str, Any]) -> None:
    """Print the answers of each variant's receivers; unknown for real links and dumps."""
    for answers in found.get("answers", []):
        said = f"{answers['variant']}: {link_report.answer_sentence(answers)}."
        out().print(Text(printable(said)), soft_wrap=True)


def _side_by_side(found: dict[str, Any]) -> Any:
    """Tabulate the links side by side, with a row for each test."""
    columns = [("test", False), *((series["name"], True) for series in found["series"])]
    table = plain_table("Link stability: passed of performed cycles", columns)
    # the title explains the numbers; words would leave no room for many links
    short = len(found["series"]) > MOST_IN_WORDS
    for title, cells in cycles_report.comparison(found):
        said = [
            cell["text"].replace(" pass", "").replace(" cycles", "") if short else cell["text"]
            for cell in cells
        ]
        styles = [VERDICTS.get(cell["verdict"], "") for cell in cells]
        texts = [Text(printable(text), style) for text, style in zip(said, styles, strict=True)]
        table.add_row(Text(title), *texts)
    return table


def _rows(series: dict[str, Any]) -> Any:
    names = ["passed", "failures", "rate at 95 % ≤", "link median", "link max", "cycle mean"]
    columns = [("test", False), *((name, True) for name in names), ("verdict", False), ("codes", False)]
    link = series["link"]
    state = f"{cycles_report.rate(link['speed'])} x{link['width']}" if link else ""
    count = link["retimers"] if link else 0
    retimers = f", {count} retimer{'s' * (count > 1)}" if count else ""
    table = plain_table(f"{series['name']}: {series['host']}, {state}{retimers}", columns)
    for test in series["tests"]:
        codes = ", ".join(f"{code} {number}" for code, number in test["codes"].items())
        table.add_row(
            Text(test["title"]),
            str(test["passed"]),
            str(test["failed"]),
            cycles_report.bound(test),
            cycles_report.duration(test["link_time"]["median_s"]),
            cycles_report.duration(test["link_time"]["max_s"]),
            cycles_report.duration(test["time"]["mean_s"]),
            Text(test["verdict"], VERDICTS.get(test["verdict"], "")),
            Text(printable(codes or "")),
        )
    return table


def _lanes(series: dict[str, Any]) -> Any:
    columns = [
        ("lane", True),
        ("receiver", False),
        ("left [UI]", True),
        ("right [UI]", True),
        ("down [mV]", True),
    ]
    table = plain_table(f"{series['name']}: margins of the lanes", [*columns, ("up [mV]", True), ("", False)])
    for cells in cycles_report.lanes(series):
        table.add_row(*cells)
    return table


def _print_plan(found: dict[str, Any]) -> None:
    console = out()
    columns = [
        ("test", False),
        ("function", False),
        ("register", False),
        ("offset", True),
        ("before", True),
        ("write", True),
    ]
    table = plain_table(f"{found['name']}: what each cycle would write (nothing was written)", columns)
    digits = {"byte": 2, "word": 4, "dword": 8}
    for test, writes in found["plan"]:
        for at, write in enumerate(writes):
            width = digits[write["width"]]
            table.add_row(
                Text("" if at else test),
                Text(write["address"]),
                Text(write["register"]),
                f"{write['offset']:03x}",
                f"{write['before']:0{width}x}",
                f"{write['value']:0{width}x}",
            )
        if not writes:
            table.add_row(Text(test), Text("–"), Text("nothing: it cannot be performed here"), "", "", "")
    console.print(table)


def print_training(found: dict[str, Any], *, every_step: bool) -> None:
    """Print how links trained, their states, and the eyes on which this is based."""
    console = out()
    table = plain_table(
        "Training from power on",
        [
            ("variant", False),
            ("link", False),
            ("after", True),
            ("retimers", True),
            ("equalisation", False),
            ("codes", False),
        ],
    )
    for variant in found["variants"]:
        full = variant["up"] and variant["generation"] == variant["best_generation"]
        state = "does not come up"
        if variant["up"]:
            state = f"{cycles_report.rate(variant['generation'])} x{variant['width']}"
        after = variant["up_after_s"]
        table.add_row(
            Text(printable(variant["variant"])),
            Text(state, "green" if full else "red"),
            "–" if after is None else cycles_report.duration(after),
            str(variant["retimers"]),
            Text("; ".join(cycles_report.equalised(one) for one in variant["equalisation"])),
            Text(", ".join(variant["codes"])),
        )
    console.print(table)
    _print_answers(found)
    for variant in found["variants"]:
        steps = [step for step in variant["steps"] if every_step or step["end"] == "port"]
        shown_steps = steps if every_step else steps[:STEPS]
        columns = [("at [ms]", True), ("end", False), ("state", False), ("rate", True)]
        trace = plain_table(f"{variant['variant']}: states", columns)
        for step in shown_steps:
            at = fixed(step["at_s"] * 1e3, 4)
            trace.add_row(at, Text(step["end"]), Text(step["state"]), cycles_report.rate(step["generation"]))
        console.print()
        console.print(trace)
        if len(steps) > len(shown_steps):
            more = len(steps) - len(shown_steps)
            console.print(Text(f"{more} more steps: --all", "dim"))
    margins = plain_table(
        "Eyes that it rests on",
        [
            ("variant", False),
            ("rate", False),
            ("segment", False),
            ("height [mV]", True),
            ("mask [mV]", True),
            ("BER", True),
        ],
    )
    for margin in found["margins"]:
        margins.add_row(
            Text(printable(margin["variant"])),
            Text(margin["rate"]),
            Text(printable(f"{margin['segment'] + 1}: {margin['between'][0]} → {margin['between'][1]}")),
            significant(margin["height_v"] * 1e3, 3),
            significant(margin["mask_height_v"] * 1e3, 3),
            link_report.ratio(margin["ber"]),
        )
    console.print()
    console.print(margins)
