"""The tables of docs/drives.md: every row of the sources of a shipped drive, beside what its scenario says.

They stand between the marks `<!-- generated: drives NAME -->` and `<!-- end -->`, one for each table
`validation/claims/drives-NAME.csv` of the claim `drives`.
"""

import re
from collections import Counter
from typing import Any

from published import CLAIMS, found, rows

HEAD = "| Row | Conditions | Published | Comes to | Error | Role | |\n|---|---|--:|--:|--:|---|---|\n"


def number(value: float) -> str:
    """Write a value with four digits at most, thousands apart."""
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2
    text = f"{value:,.{digits}f}".replace(",", " ")
    return text.rstrip("0").rstrip(".") if "." in text else text


def verdict(row: dict[str, str], error: float | None) -> str:
    """Say whether a row is met, missed or stands beside nothing; bounds are kept or not."""
    if error is None:
        return "not stated"
    if row["bound"] == "at-most":
        return "kept" if error <= float(row["bar_pct"]) else "**missed**"
    return "met" if abs(error) <= float(row["bar_pct"]) else "**missed**"


def judged(name: str, document: dict[str, Any]) -> list[tuple[dict[str, str], float | None, float | None]]:
    """Return the rows of a table, each with what the results say of it and how far that is off [%]."""
    beside = []
    for row in rows(CLAIMS / f"drives-{name}.csv"):
        value = None if row["how"] == "not-compared" else found(document, row)
        published = float(row["published"])
        beside.append((row, value, None if value is None else (value / published - 1.0) * 100.0))
    return beside


def table(name: str, document: dict[str, Any]) -> str:
    """Return the table of a drive, its counts in front and its sources and notes behind."""
    lines, notes, sources = [], [], []
    counts: Counter[tuple[str, str]] = Counter()
    for row, value, error in judged(name, document):
        if row["source"] not in sources:
            sources.append(row["source"])
        mark = f"[{sources.index(row['source']) + 1}]"
        found_to_be = verdict(row, error)
        counts[row["group"], found_to_be.strip("*")] += 1
        if row["note"]:
            notes.append(f"- {row['case']}: {row['note']}.")
        bound = "≤ " if row["bound"] == "at-most" else ""
        cells = [
            row["case"],
            row["conditions"],
            f"{bound}{number(float(row['published']))} {row['unit']} {mark}",
            "" if value is None else f"{number(value)} {row['unit']}",
            "" if error is None else f"{error:+.1f} %",
            row["group"] if error is not None else "",
            found_to_be,
        ]
        lines.append(f"| {' | '.join(cells)} |\n")
    parts = [head_of(counts, group) for group in ("predicted", "calibrated", "not stated")]
    listed = "\n".join(f"{at}. {source}" for at, source in enumerate(sources, 1))
    told = "\n".join(notes)
    counted = "; ".join(part for part in parts if part)
    return f"{counted}.\n\n{HEAD}{''.join(lines)}\n{told}\n\nSources:\n\n{listed}\n"


def head_of(counts: Counter[tuple[str, str]], group: str) -> str:
    """Say how many rows of a group came to what."""
    of = [(found_to_be, count) for (of, found_to_be), count in sorted(counts.items()) if of == group]
    if not of:
        return ""
    total = sum(count for _, count in of)
    if group == "not stated":
        return f"{total} beside nothing"
    return f"{total} {group}: " + ", ".join(f"{count} {found_to_be}" for found_to_be, count in of)


def rewritten(page: str, name: str, text: str) -> str:
    """Return the page with the table of a drive as it is now."""
    marked = re.compile(rf"(?<=<!-- generated: drives {name} -->\n).*?(?=<!-- end -->)", re.S)
    if not marked.search(page):
        raise ValueError(f"the page has no block `<!-- generated: drives {name} -->` … `<!-- end -->`")
    return marked.sub(lambda _: text, page, count=1)
