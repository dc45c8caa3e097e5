"""A study as a document: chapters of text, numbered tables and figures, for any writer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lanetwin.language import tr

if TYPE_CHECKING:
    from lanetwin.report.blocks import Figure


LONGEST_COMMAND = 110
"""Maximum length of a command below a table [characters]."""
MANY_CITES = 2
"""Number of runs above which only digests are shown below a table; the last chapter has the commands."""
LONG_TEXT = 40
"""Length of a cell above which a table of text becomes a list on small screens [characters]."""


def called(number: str, *, is_figure: bool = False) -> str:
    """Name a table or a figure by its number.

    >>> called("3 (continued)"), called("4a", is_figure=True)
    ('Table 3 (continued)', 'Figure 4a')
    """
    name = tr("Figure {number}", number=number) if is_figure else tr("Table {number}", number=number)
    return name.replace("(continued)", tr("(continued)"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell: a value, its small print, and a verdict."""

    text: str
    notes: tuple[str, ...] = ()
    is_number: bool = False
    verdict: str = ""
    """better, worse, equivalent, inconclusive, or empty."""
    word: str = ""
    """The verdict in the language of the study."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text in Markdown; of a user, so never HTML."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading within a chapter."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list, each item with a verdict or without."""

    items: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A numbered table."""

    number: str
    title: str
    head: tuple[Entry, ...]
    rows: tuple[tuple[Entry, ...], ...]
    notes: tuple[str, ...] = ()
    cites: tuple[Cite, ...] = ()

    @property
    def is_prose(self) -> bool:
        """Whether it has text rather than numbers, which a phone shows as a list, a block for each row."""
        numbers = sum(cell.is_number for cell in self.head)
        has_long = any(len(cell.text) > LONG_TEXT for row in self.rows for cell in row)
        return 2 * numbers <= len(self.head) and (has_long or (not numbers and len(self.head) > 4))


@dataclass(frozen=True, slots=True)
class Plot:
    """A numbered figure."""

    number: str
    title: str
    drawing: Figure
    description: str
    notes: tuple[str, ...] = ()
    cites: tuple[Cite, ...] = ()


@dataclass(frozen=True, slots=True)
class Absent:
    """A numbered table or figure without contents."""

    number: str
    title: str
    is_figure: bool
    why: str
    reason: str
    """The reason: not modelled yet, a photograph, left out."""


@dataclass(frozen=True, slots=True)
class Cite:
    """The origin of a table or figure."""

    what: str
    digest: str
    command: str

    @property
    def short(self) -> str:
        """The command, with a count in place of many changes; the last chapter has it in full."""
        if len(self.command) <= LONGEST_COMMAND:
            return self.command
        words, changes = self.command.partition(" --set ")[0], self.command.count(" --set ")
        return f"{words} --set … ({changes})" if changes else words


Content = Paragraph | Heading | Items | Table | Plot | Absent


@dataclass(slots=True)
class Chapter:
    """A chapter."""

    key: str
    title: str
    content: list[Content] = field(default_factory=list)


@dataclass(slots=True)
class Paper:
    """The whole document."""

    name: str
    language: str
    title: str
    question: str
    after: str
    version: str
    is_quick: bool
    is_complete: bool
    answer: tuple[Entry, ...]
    """The short conclusion for the first screen."""
    chapters: list[Chapter]
    command: str

    @property
    def tables(self) -> list[Table | Absent]:
        """The numbered tables in their order."""
        everything = [one for chapter in self.chapters for one in chapter.content]
        return [
            one
            for one in everything
            if isinstance(one, Table) or (isinstance(one, Absent) and not one.is_figure)
        ]

    @property
    def figures(self) -> list[Plot | Absent]:
        """The numbered figures in their order."""
        everything = [one for chapter in self.chapters for one in chapter.content]
        return [
            one for one in everything if isinstance(one, Plot) or (isinstance(one, Absent) and one.is_figure)
        ]
