"""The folder of a study: the document in every form, and its results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lanetwin.study import html, markdown, pdf
from lanetwin.study.picking import digest_of

if TYPE_CHECKING:
    from lanetwin.study.evidence import Evidence
    from lanetwin.study.paper import Paper

MARK = "study.html"
"""The file that identifies the folder of a study."""


def name(paper: Paper, evidence: Evidence) -> str:
    """Return the folder's name: the study's name, digest, language, and marks if it is quick or partial."""
    digests = {key: results["digest"] for key, results in evidence.runs.items()}
    digests |= {key: results["digest"] for key, results in evidence.changed.items()}
    links = {key: digest_of(found) for key, found in {**evidence.cycles, **evidence.budgets}.items()}
    words = ["study", paper.name, *(["quick"] if paper.is_quick else []), digest_of([digests, links])]
    words += [paper.language] if paper.language != "en" else []
    words += [] if paper.is_complete else ["partial"]
    return "-".join(words)


def files(paper: Paper, evidence: Evidence, *, has_pdf: bool) -> dict[str, str | bytes]:
    """Return the files of the folder by their names.

    Raises `LanetwinError` if a requested PDF cannot be printed.
    """
    page = html.render(paper)
    text, drawings = markdown.render(paper)
    found: dict[str, str | bytes] = {MARK: page, "study.md": text, **drawings}
    if has_pdf:
        found["study.pdf"] = pdf.printed(page)
    for key, results in evidence.runs.items():
        found[f"results/{key}.json"] = json.dumps(results, ensure_ascii=False, indent=1) + "\n"
    for kind, documents in (
        ("cycles", evidence.cycles),
        ("budgets", evidence.budgets),
        ("eyes", evidence.eyes),
    ):
        for key, document in documents.items():
            found[f"{kind}/{key}.json"] = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    return found
