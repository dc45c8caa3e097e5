"""The page: the contents of the report, in order, as one HTML document that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from lanetwin import outages, yaml_out
from lanetwin.comparison import errors, mean_error, question
from lanetwin.fit import told
from lanetwin.formats.csv import rows_csv
from lanetwin.glance import glances
from lanetwin.iometer import iometer_bars, iometer_tables
from lanetwin.language import HTML_NAMES, current
from lanetwin.numbers import change, fixed, share, significant
from lanetwin.report import blocks, excerpt, result_table, tiles
from lanetwin.report.figures import levels, percentiles, topology
from lanetwin.report.translation import translated, units_spelt
from lanetwin.sentences import names_of, naming, word
from lanetwin.steadiness import MEASUREMENT, measurements
from lanetwin.summary import answers, limits, stopped, unique, variants
from lanetwin.transits import latencies, passages

if TYPE_CHECKING:
    from lanetwin.results import Results

CONTENTS = "<!-- contents -->"
"""The place of the contents list in the page."""
_CODE = re.compile("`([^`<>\n]+)`")
_LIST = re.compile(r'<ul class="plain-list">.*?</ul>', re.DOTALL)
LARGEST_INLINE = 100_000
"""Maximum size of data that can be saved from the page itself [bytes]; larger ones are beside it."""


@cache
def environment() -> Environment:
    """Return the template environment of pages: all text of users is escaped."""
    environment = Environment(
        loader=PackageLoader("lanetwin.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["grouped"] = lambda value: fixed(value, 0)
    environment.filters["significant"] = significant
    environment.filters["told"] = told
    environment.filters["change"] = change
    environment.filters["share"] = share
    environment.filters["word"] = word
    environment.filters["code"] = code
    return environment


def render(results: Results) -> str:
    """Return the report of a run as one self-contained HTML document, in the current language.

    Everything that comes from the user's files is escaped; nothing is fetched when the page is opened.
    """
    with naming(names_of(results)):
        page = _rendered(results)
        return _code_in_lists(in_language(page.replace(CONTENTS, contents(page), 1)))


def code(text: str) -> Markup:
    """Write a text with parts between grave accents as code; everything else is escaped.

    >>> code("`ber: 0` is <free>")
    Markup('<code>ber: 0</code> is &lt;free&gt;')
    """
    return Markup(_CODE.sub("<code>\\1</code>", str(escape(text))))  # noqa: S704 - escaped before


def _code_in_lists(page: str) -> str:
    """Do the same in the lists of a page, whose sentences have been translated before."""
    return _LIST.sub(lambda found: _CODE.sub("<code>\\1</code>", found[0]), page)


def in_language(page: str) -> str:
    """Return a page in the current language, with uniform spelling of units."""
    return units_spelt(page if current() == "en" else translated(page))


def _rendered(results: Results) -> str:
    easel = blocks.Easel()
    seen = glances(results)
    whole, results = results, excerpt.briefly(results)
    drawn, undrawn = excerpt.drawn(results)
    link_figures, link_details = blocks.link_use(drawn, easel)
    switch_figures, switch_details = blocks.in_switches(drawn, easel)
    steady_figures, steady_details = blocks.steady(drawn, easel)
    workloads = unique(row["workload"] for row in results["rows"])
    machines = topology.topologies(drawn)
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            html_language=HTML_NAMES[current()],
            results=results,
            question=question(results),
            undrawn=undrawn,
            style=style(),
            script=script(),
            policy=policy(),
            tiles=tiles.tiles(results, seen),
            overview=tiles.overview(results, seen),
            topologies=blocks.drawings(easel, topology.draw, machines),
            machines_are_small=all(topology.is_small(one) for one in machines),
            levels=blocks.drawings(easel, levels.draw, levels.levels(drawn, seen)),
            distributions=blocks.drawings(
                easel, percentiles.draw, percentiles.distributions(drawn, glances(drawn))
            ),
            calibrated=sum(one["kind"] == "calibrated" for one in results["assumptions"]),
            stopped=stopped(results),
            answers=answers(results),
            limits=limits(results),
            measurements=measurements(results),
            measurement_columns=MEASUREMENT,
            variants=variants(results),
            workloads=workloads,
            errors=errors(results),
            mean_error=mean_error(errors(results)),
            tables=result_table.result_tables(results),
            matrices=blocks.matrices(results),
            speeds=blocks.speeds(drawn, easel),
            temperatures=blocks.temperatures(results),
            devices=blocks.devices(results),
            components=blocks.components(results),
            iometer=iometer_tables(results),
            iometer_bars=iometer_bars(iometer_tables(results)),
            steady_figures=steady_figures,
            steady_details=steady_details,
            commands=blocks.commands(results),
            comebacks=blocks.comebacks(results),
            less=[one for one in outages.found(results) if not one["whole"]],
            plots=blocks.plots(drawn, easel),
            told_in_words=blocks.told_in_words(drawn),
            waterfalls=blocks.waterfalls(drawn, easel),
            switch_figures=switch_figures,
            switch_details=switch_details,
            latencies=latencies(results),
            passages=passages(results),
            link_figures=link_figures,
            link_details=link_details,
            cxl=blocks.cxl_use(results),
            plan=yaml_out.dump(results["plan"]),
            command=command(results),
            data=_json_for_script(results),
            json_link=_json_link(whole),
            csv_link=_csv_link(results),
        )
    )


def contents(page: str) -> str:
    """Return links to the sections of a page; text of users is escaped and cannot be a section."""
    found = re.findall(r'<section id="([a-z-]+)">\s*<h2>([^<]*)<', page)
    return "\n".join(f'<a href="#{section}">{name}</a>' for section, name in found)


def command(results: Results) -> str:
    """Return the command line that reproduces this result."""
    options = results.get("options") or {}
    if "imported" in options:
        return shlex.join(["lanetwin", "import", *options["imported"]])
    if "error_of" in options or not results["scenario"]["path"]:
        return "lanetwin compare BASELINE OTHER"
    words = ["lanetwin", "run", results["scenario"]["path"]]
    for setting in options.get("sets") or []:
        words += ["--set", str(setting)]
    words += ["--seed", str(results["seed"])]
    if options.get("granularity") not in (None, "train"):
        words += ["--granularity", str(options["granularity"])]
    return shlex.join(words)


def style() -> Markup:
    """Return the style sheet of all pages."""
    # Ours, and no text of a user is in it.
    return Markup(files("lanetwin.report").joinpath("template/style.css").read_text(encoding="utf-8"))  # noqa: S704


@cache
def script() -> Markup:
    """Return the script of all pages of results; they are complete without it."""
    # Ours, and no text of a user is in it.
    return Markup(files("lanetwin.report").joinpath("template/page.js").read_text(encoding="utf-8"))  # noqa: S704


def policy() -> str:
    """Return the content security policy of a page: only its own contents, and only our script."""
    digest = base64.b64encode(hashlib.sha256(str(script()).encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _json_for_script(results: Results) -> Markup:
    """Write the results so that no text in them can end their element; null if they are too large."""
    text = json.dumps(results, ensure_ascii=False, separators=(",", ":"))
    if len(text) > excerpt.MOST_EMBEDDED:
        return Markup("null")
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704


def _json_link(results: Results) -> str:
    data = json.dumps(results, ensure_ascii=False, separators=(",", ":")).encode()
    if len(data) > LARGEST_INLINE:
        return "results.json"
    return f"data:application/json;base64,{base64.b64encode(data).decode()}"


def _csv_link(results: Results) -> str:
    data = rows_csv(results["rows"])
    if len(data) > LARGEST_INLINE:
        return "rows.csv"
    return f"data:text/csv;charset=utf-8,{quote(data)}"
