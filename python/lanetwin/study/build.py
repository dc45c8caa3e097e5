"""From a study and its evidence to a document, with chapters in a fixed order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lanetwin import engine
from lanetwin.language import apart, joined, tr, unbroken, written_in
from lanetwin.numbers import change, share, significant
from lanetwin.report.blocks import Easel
from lanetwin.study import appendix, plots, reckoning, tables
from lanetwin.study.conclusion import judged
from lanetwin.study.document import (
    Budget,
    Drawn,
    Grid,
    Listing,
    Missing,
    Packet,
    Prose,
    Reckoned,
    Sheet,
    Stability,
)
from lanetwin.study.filled import filled
from lanetwin.study.paper import Chapter, Entry, Heading, Items, Paper, Paragraph, Table
from lanetwin.study.parse_blocks import NUMBERED_HERE, is_figure
from lanetwin.study.picking import Place
from lanetwin.study.tables import Compared, Desk

if TYPE_CHECKING:
    from lanetwin.study.conclusion import Judged
    from lanetwin.study.document import Block, Study
    from lanetwin.study.evidence import Evidence
    from lanetwin.study.paper import Content


def paper(study: Study, evidence: Evidence, *, language: str, command: str) -> Paper:
    """Return the document.

    Raises `LanetwinError` if the study uses data that its runs do not have.
    """
    with written_in(language):
        return _Author(Desk(study, evidence, language)).written(command)


class _Author:
    """Writes one document, chapter by chapter, and numbers the generated tables."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.easel = Easel()
        self.compared: list[Compared] = []
        self.added = appendix.Numbers()

    def written(self, command: str) -> Paper:
        """Return the document, with chapters in order, so that numbers rise."""
        desk, study, evidence = self.desk, self.desk.study, self.desk.evidence
        told, added = desk.language, self.added
        chapters = [
            Chapter("question", tr("Question"), self.question()),
            Chapter("configuration", tr("Configuration"), self.blocks(study.configuration)),
            Chapter("topology", tr("Topology"), self.blocks(study.topology)),
            Chapter("method", tr("Method"), [*self.blocks(study.method), *appendix.method(desk, added)]),
            Chapter("results", tr("Results"), self.blocks(study.results)),
            Chapter("published", tr("Published beside predicted"), self.published()),
            Chapter(
                "time",
                tr("Where the time goes"),
                [*self.blocks(study.time), *appendix.limits(desk, added)],
            ),
            Chapter("sensitivity", tr("Sensitivity"), appendix.sensitivity(desk, added)),
            Chapter("threats", tr("Threats to validity"), appendix.threats(desk, added)),
        ]
        found = judged(desk, self.compared)
        chapters += [
            Chapter("conclusion", tr("Conclusion"), self.conclusion(found)),
            Chapter("reproduce", tr("Reproduce it"), appendix.reproduction(desk, command)),
        ]
        return Paper(
            name=study.name,
            language=told,
            title=study.title.told(told),
            question=study.about.told(told),
            after=study.after.told(told),
            version=engine.version(),
            is_quick=evidence.is_quick,
            is_complete=evidence.is_complete,
            answer=tuple(one.entry for one in found),
            chapters=[chapter for chapter in chapters if chapter.content],
            command=command,
        )

    def blocks(self, found: tuple[Block, ...]) -> list[Content]:
        """Return the content of a chapter."""
        content: list[Content] = []
        for block in found:
            if isinstance(block, Prose) and block.title:
                content.append(Heading(block.title.told(self.desk.language)))
            place = Place(self.desk.study.file, block.node, block.path)
            content.append(filled(self.block(block), self.desk.evidence, place))
        return content

    def block(self, block: Block) -> Content:
        """Return one block as content."""
        desk = self.desk
        if block.number == NUMBERED_HERE:
            block = replace(block, number=self.added.next(is_figure=is_figure(block)))
        if isinstance(block, Prose):
            return Paragraph(unbroken(block.text.told(desk.language)))
        if isinstance(block, Missing):
            return tables.missing(block, desk)
        if isinstance(block, Listing):
            return tables.listing(block, desk)
        if isinstance(block, Sheet):
            return tables.sheet(block, desk)
        if isinstance(block, Stability):
            return tables.stability(block, desk)
        if isinstance(block, Budget):
            return tables.budget(block, desk)
        if isinstance(block, Reckoned):
            return reckoning.table(block, desk)
        if isinstance(block, Grid):
            table, compared = tables.grid(block, desk)
            self.compared += compared
            return table
        if isinstance(block, Drawn):
            return plots.plot(block, desk, self.easel)
        if isinstance(block, Packet):
            return plots.packet(block, desk, self.easel)
        raise TypeError(type(block))

    def question(self) -> list[Content]:
        """Return the question, and the document that the study follows."""
        study, told = self.desk.study, self.desk.language
        content: list[Content] = [Paragraph(unbroken((study.abstract or study.about).told(told)))]
        if study.after:
            text = tr(
                "This study follows {document}; tables and figures have the numbers that they have there.",
                document=apart(study.after.told(told)),
            )
            content.append(Paragraph(joined(text, appendix.numbering())))
        return content

    def published(self) -> list[Content]:
        """Return every published value beside its prediction, with the error."""
        if not self.compared:
            return []
        # a quick study has no results for the others, which are in their tables
        found = [one for one in self.compared if one.predicted is not None or not self.desk.evidence.is_quick]
        left_out = len(self.compared) - len(found)
        more = tr("{count} more published values are of runs that a quick study leaves out.", count=left_out)
        head = [
            tr("table"),
            tr("case"),
            tr("published"),
            tr("here"),
            tr("error"),
            tr("the published value was"),
        ]
        rows = [
            (
                Entry(one.table.replace("(continued)", tr("(continued)"))),
                Entry(one.case),
                Entry(f"{tables.plain_number(one.published)} {one.unit}", is_number=True),
                Entry(_here(one), is_number=True),
                Entry(tables.NOT_COMPUTED if one.error is None else change(one.error), is_number=True),
                Entry(tables.role_word(one.role)),
            )
            for one in found
        ]
        names = tuple(Entry(name, is_number=2 <= nth <= 4) for nth, name in enumerate(head))
        if not rows:
            return [Paragraph(self.mean_errors())]
        title = tr("Published values and what comes out here")
        table = Table(self.added.next(), title, names, tuple(rows), (more,) if left_out else ())
        return [Paragraph(self.mean_errors()), table]

    def mean_errors(self) -> str:
        """Describe the errors of predictions against published values, without calibrated ones."""
        errors = [
            abs(one.error) for one in self.compared if one.role == "predicted" and one.error is not None
        ]
        given = sum(one.role != "predicted" for one in self.compared)
        if not errors:
            return tr("No published value is predicted here.")
        text = tr(
            "Mean absolute error of {count} predicted values: {mean}; the largest is {most}.",
            count=len(errors),
            mean=share(sum(errors) / len(errors)),
            most=share(max(errors)),
        )
        if given:
            counts_for_nothing = tr(
                "{count} values were given to the model or calibrated it, and count for nothing.", count=given
            )
            text = joined(text, counts_for_nothing)
        return text

    def conclusion(self, found: list[Judged]) -> list[Content]:
        """Return the statements with their verdicts, and the author's closing words."""
        content: list[Content] = []
        if found:
            held = sum(one.outcome == "better" for one in found)
            text = tr(
                "{held} of {all} statements hold. "
                "Each is judged by the program from the results above; none is written by hand.",
                held=held,
                all=len(found),
            )
            content += [Paragraph(text), Items(tuple(one.entry for one in found))]
        closing = self.desk.study.closing
        if closing:
            content.append(Paragraph(unbroken(closing.told(self.desk.language))))
        return content


def _here(one: Compared) -> str:
    return tables.NOT_COMPUTED if one.predicted is None else f"{significant(one.predicted)} {one.unit}"
