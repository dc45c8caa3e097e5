"""A study as Markdown, for repositories and wikis; its figures are stored beside it as drawings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lanetwin.language import joined, tr, written_in
from lanetwin.numbers import spelt
from lanetwin.report import page
from lanetwin.report.translation import units_spelt
from lanetwin.study.html import slug
from lanetwin.study.paper import MANY_CITES, Absent, Heading, Items, Paragraph, Plot, Table, called

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lanetwin.study.paper import Cite, Content, Entry, Paper

_CODE = re.compile(r"(`[^`<>\n]+`)")


def render(paper: Paper) -> tuple[str, dict[str, str]]:
    """Return the text, and the drawings by their file names."""
    drawings: dict[str, str] = {}
    with written_in(paper.language):
        lines = [f"# {_plain(paper.title)}", "", f"_{_plain(paper.question)}_", ""]
        if not paper.is_complete:
            lines += [f"**{tr('Partial result.')}** {tr('Stopped before everything was computed.')}", ""]
        kind = tr("quick study") if paper.is_quick else tr("study")
        lines += [f"{kind} `{paper.name}`, lanetwin {paper.version}", ""]
        for nth, chapter in enumerate(paper.chapters, 1):
            lines += [f"## {nth} {_plain(chapter.title)}", ""]
            for one in chapter.content:
                lines += [*_content(one, drawings), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n", drawings


def _content(one: Content, drawings: dict[str, str]) -> Iterator[str]:
    if isinstance(one, Paragraph):
        yield one.text.rstrip()
    elif isinstance(one, Heading):
        yield f"### {_plain(one.text)}"
    elif isinstance(one, Items):
        for item in one.items:
            verdict = f"**{item.word}**: " if item.verdict else ""
            notes = [tr("{said}.", said=_plain(note)) for note in item.notes]
            yield f"- {verdict}{joined(_plain(item.text), *notes)}"
    elif isinstance(one, Table):
        yield from _table(one)
    elif isinstance(one, Plot):
        yield from _plot(one, drawings)
    elif isinstance(one, Absent):
        yield _caption(one.is_figure, one.number, one.title)
        yield ""
        why = (
            tr("{what}: {said}", what=f"**{one.reason}**", said=_plain(one.why))
            if one.why
            else f"**{one.reason}**"
        )
        yield f"> {why}"


def _caption(is_figure: bool, number: str, title: str) -> str:
    return f"**{called(number, is_figure=is_figure)}** {_plain(title)}"


def _table(table: Table) -> Iterator[str]:
    yield _caption(False, table.number, table.title)
    yield ""
    yield _row([_cell(entry) for entry in table.head])
    yield _row(["---:" if entry.is_number else "---" for entry in table.head])
    for row in table.rows:
        yield _row([_cell(entry) for entry in row])
    for note in table.notes:
        yield ""
        yield _plain(note)
    yield from _cites(table.cites)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(entry: Entry) -> str:
    words = [_plain(entry.text), *(_plain(note) for note in entry.notes)]
    words += [_plain(entry.word)] if entry.verdict and entry.word else []
    return "; ".join(word for word in words if word).replace("|", "\\|")


def _plot(plot: Plot, drawings: dict[str, str]) -> Iterator[str]:
    name = f"figure-{slug(plot.number)}.svg"
    drawings[name] = standalone(units_spelt(str(plot.drawing.wide)))
    yield f"![{_plain(plot.description)}]({name})"
    yield ""
    yield _caption(True, plot.number, plot.title)
    for note in plot.notes:
        yield ""
        yield _plain(note)
    yield from _cites(plot.cites)


def _cites(cites: Sequence[Cite]) -> Iterator[str]:
    if len(cites) > MANY_CITES:
        runs = [f"{_plain(cite.what)} `{cite.digest}`" for cite in cites]
        yield ""
        yield " · ".join([*runs, tr("commands in “{chapter}”", chapter=tr("Reproduce it"))])
        return
    for cite in cites:
        words = [_plain(cite.what), f"`{cite.digest}`" if cite.digest else ""]
        words += [f"`{cite.short}`" if cite.command else ""]
        yield ""
        yield " · ".join(word for word in words if word)


def standalone(drawing: str) -> str:
    """Return a drawing of a page as a separate file, with the page's colours.

    >>> "xmlns" in standalone('<svg viewBox="0 0 1 1"></svg>')
    True
    """
    colours = f"<style>{page.style()}</style>"
    named = drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return named.replace(">", f">{colours}", 1) + "\n"


def _plain(text: str) -> str:
    r"""Return a text in which nothing but code is Markdown or HTML, on one line.

    >>> _plain("a *b*\n`make c_d` <e>")
    'a \\*b\\* `make c_d` \\<e\\>'
    """
    parts = _CODE.split(" ".join(spelt(text).split()))
    return "".join(part if nth % 2 else _escaped(part) for nth, part in enumerate(parts))


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)
