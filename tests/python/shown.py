"""What a reader sees: the tables of a terminal as text, and a page without its data and programs."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from lanetwin.cli import tables

if TYPE_CHECKING:
    import pytest

    from lanetwin.results import Results


def on_terminal(results: Results, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return every table that is printed of results on a terminal that is wide enough to cut nothing."""
    text = io.StringIO()
    console = Console(file=text, width=300)
    monkeypatch.setattr(tables, "out", lambda: console)
    tables.print_results(results)
    return text.getvalue()


def before_the_data(page: str) -> str:
    """Return the text of a report up to the results that it carries and its programs."""
    return page.split('type="application/json"', 1)[0].split("<script", 1)[0]
