"""The results of stability cycles, in words and as a section of a report: table, bound, limits."""

from __future__ import annotations

import math
from typing import Any

from lanetwin import engine
from lanetwin.language import HTML_NAMES, current
from lanetwin.numbers import fixed, significant
from lanetwin.report import page
from lanetwin.sentences import naming, texts_under

RATES = {1: "2.5 GT/s", 2: "5 GT/s", 3: "8 GT/s", 4: "16 GT/s", 5: "32 GT/s", 6: "64 GT/s", 7: "128 GT/s"}
CHIPS = {"pass": "better", "fail": "worse", "NOT PERFORMED": "inconclusive", "stopped": "inconclusive"}
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def rate(generation: int) -> str:
    """Name the rate of a generation."""
    return RATES.get(generation, "–")


def duration(seconds: float) -> str:
    """Write a time with a fitting unit."""
    for scale, unit in SCALES:
        if seconds >= scale:
            return f"{significant(seconds / scale, 3)} {unit}"
    return "–"


def bound(test: dict[str, Any]) -> str:
    """Write the upper bound of the failure rate after a test."""
    return "–" if test["bound"] is None else f"{test['bound']:.1e}"


def equalised(one: dict[str, Any]) -> str:
    """Describe the result of equalisation at a rate."""
    if one["complete"] and all(one["phases"]):
        return f"{rate(one['generation'])}: complete"
    passed = [str(at + 1) for at, good in enumerate(one["phases"]) if good]
    return f"{rate(one['generation'])}: {'phases ' + ', '.join(passed) if passed else 'none'}"


def cell(test: dict[str, Any] | None) -> dict[str, str]:
    """Write a test as a cell of the comparison: passed and performed cycles."""
    if test is None:
        return {"text": "–", "verdict": ""}
    performed = test["passed"] + test["failed"]
    if not performed:
        return {"text": test["verdict"], "verdict": test["verdict"]}
    return {"text": f"{test['passed']} pass / {performed} cycles", "verdict": test["verdict"]}


def comparison(found: dict[str, Any]) -> list[tuple[str, list[dict[str, str]]]]:
    """Tabulate the links side by side: a row for each test, a cell for each link."""
    titles: list[str] = []
    for series in found["series"]:
        titles += [test["title"] for test in series["tests"] if test["title"] not in titles]
    by_title = [{test["title"]: test for test in series["tests"]} for series in found["series"]]
    return [(title, [cell(tests.get(title)) for tests in by_title]) for title in titles]


def remarks(series: dict[str, Any]) -> list[str]:
    """Describe a series in words: reasons, first failures, ends, errors at both ends."""
    said = []
    for test in series["tests"]:
        if test["not_performed"]:
            said.append(f"{test['title']}: NOT PERFORMED: {test['reason']}")
        if test["failures"]:
            first = test["failures"][0]
            codes = ", ".join(first["codes"])
            said.append(f"{test['title']}: cycle {first['cycle']} {codes}: {first['said']}")
        if test["stopped"]:
            said.append(f"{test['title']}: stopped: {test['stopped']}")
        for end, tally in zip(("port", "device"), test["errors"], strict=True):
            seen = ", ".join(f"{name} in {cycles} cycles" for name, cycles in tally["cycles"].items())
            counted = (tally["counted"] or {}).get("correctable", 0)
            if seen or counted:
                said.append(
                    f"{test['title']}: errors at the {end}: {seen or 'none shown'}; {counted} counted"
                )
    if series["no_lanes"]:
        said.append(f"margins of the lanes: NOT PERFORMED: {series['no_lanes']}")
    said += [
        f"{left['saved']['name']} of {left['saved']['address']} was not put back: {left['now']}"
        for left in series["not_restored"]
    ]
    return said


def spread(found: dict[str, Any]) -> list[str]:
    """Describe the random variation of simulated cycles, and which times are copies of one time."""
    drawn, fixed_times = (_one_time(found, host) for host in ("simulated", "fake"))
    said = []
    if drawn:
        said.append(
            "Simulated cycles differ in how the adaptation of each receiver ends, drawn anew at each "
            "training (its spread is assumed), not in temperature or in the time that a device takes to be "
            f"ready. Every cycle therefore took the same time in: {drawn}."
        )
    if fixed_times:
        said.append(
            "Cycles of a device out of a dump do not differ: it has no channel whose adaptation would be "
            f"drawn. Every cycle therefore took the same time in: {fixed_times}."
        )
    return said


def _one_time(found: dict[str, Any], host: str) -> str:
    """Name the tests on such a host whose cycles all took the same time."""
    series = (one["tests"] for one in found["series"] if one["host"].split(",")[0] == host)
    return ", ".join(dict.fromkeys(test["title"] for tests in series for test in tests if _is_one_time(test)))


def _is_one_time(test: dict[str, Any]) -> bool:
    """Whether all cycles took the same time."""
    times = test["link_time"]
    return test["passed"] > 1 and math.isclose(times["mean_s"], times["max_s"], rel_tol=1e-9)


def lanes(series: dict[str, Any]) -> list[list[str]]:
    """Write the margins of lanes as rows: lane, receiver, left, right, down, up, and whether at least."""
    names = {1: "port", 6: "device"}
    rows = []
    for one in series["lanes"]:
        who = names.get(one["receiver"], f"retimer, receiver {one['receiver']}")
        volts = one["voltage_v"]
        cells = [fixed(side, 3) for side in one["timing_ui"]]
        cells += ["–", "–"] if volts is None else [fixed(side * 1e3, 0) for side in volts]
        rows.append([str(one["lane"]), who, *cells, "at least" if one["at_limit"] else ""])
    return rows


def proves(found: dict[str, Any]) -> list[str]:
    """Describe what series of these lengths can prove, and what they cannot."""
    said = []
    for power in found["power"]:
        odds = dict(power["pass_all"])
        count = power["cycles"]
        three, four, six = (_share(odds[sigmas]) for sigmas in (3.0, 4.0, 6.0))
        said.append(
            f"{count} of {count} cycles prove a failure rate of at most {power['bound']:.1e} for each cycle "
            f"(95 %). They do not tell 4 sigma of margin from 6: a link with 4 passes them all with "
            f"probability {four}, one with 6 with {six}, one with 3 with {three}."
        )
    said += spread(found)
    if found["power"]:
        said.append(
            "What separates links is the bit error ratio in L0: look at the errors while the link is watched "
            "(--dwell-ms) and at lane margins as well."
        )
    return said


def _share(probability: float) -> str:
    return (
        f"{probability:.1e}" if probability < 0.005 else fixed(probability, 2 if probability < 0.995 else 4)
    )


def section(found: dict[str, Any]) -> dict[str, Any]:
    """Return the contents of the section of a report."""
    return {
        "found": found,
        "rows": comparison(found),
        "chips": CHIPS,
        "remarks": [(series["name"], remarks(series)) for series in found["series"]],
        "proves": proves(found),
        "lanes": lanes,
        "rate": rate,
        "bound": bound,
        "duration": duration,
    }


def render(found: dict[str, Any]) -> str:
    """Return the report on a link without a channel, as one self-contained HTML document."""
    template = page.environment().get_template("cycles.html.j2")
    with naming(texts_under(found, "name", "host", "reason", "said", "place")):
        rendered = template.render(
            html_language=HTML_NAMES[current()],
            cycles=section(found),
            version=engine.version(),
            style=page.style(),
            fixed=fixed,
        )
        return page.in_language(rendered)
