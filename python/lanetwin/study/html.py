"""A study as one HTML document that loads nothing; texts of its author are Markdown, never HTML."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markupsafe import Markup

from lanetwin.language import FULL_STOPS, HTML_NAMES, tr, written_in
from lanetwin.report import page
from lanetwin.report.translation import units_spelt
from lanetwin.study.paper import MANY_CITES, called

if TYPE_CHECKING:
    from lanetwin.study.paper import Paper


@cache
def _markdown() -> MarkdownIt:
    """Return the reader of Markdown: no HTML, no pictures, tables allowed."""
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    return reader.disable(["image", "html_block", "html_inline"])


def markdown(text: str) -> Markup:
    r"""Return Markdown as HTML, in which no part of the text can become a tag.

    >>> str(markdown("*a* <script>"))
    '<p><em>a</em> &lt;script&gt;</p>\n'
    """
    return Markup(_markdown().render(text))  # noqa: S704 - made by the reader, which escapes


def slug(number: str) -> str:
    """Return a number as part of an anchor."""
    return re.sub(r"[^A-Za-z0-9]+", "-", number).strip("-").lower() or "x"


def render(paper: Paper) -> str:
    """Return the page."""
    environment = page.environment().overlay()
    environment.filters["markdown"] = markdown
    environment.filters["slug"] = slug
    environment.filters["gap"] = lambda text: "" if text.endswith(FULL_STOPS) else " "
    with written_in(paper.language):
        rendered = environment.get_template("study.html.j2").render(
            paper=paper,
            tr=tr,
            called=called,
            many_cites=MANY_CITES,
            html_language=HTML_NAMES[paper.language],
            style=page.style(),
            script=page.script(),
            policy=page.policy(),
        )
    return units_spelt(rendered)
