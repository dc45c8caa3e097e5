"""What a page shows of a run with hundreds of variants: all in tables, the first of them in figures.

Of a long file that a workload names, a page has the beginning; its digest says which it was. The plan
has all of it, in the results and beside them, so that either can be run again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

from lanetwin.summary import variants

if TYPE_CHECKING:
    from lanetwin.results import Results

MOST_DRAWN = 24
"""Figures show at most so many variants: more cannot be told apart, and each adds tens of kilobytes."""
MOST_EMBEDDED = 4 << 20
"""Results up to this size [characters] are in the page itself; larger ones lie beside it."""

MOST_FILE = 32 << 10
"""Files up to this size [characters] that a workload names are in the page whole."""
SHOWN = 2 << 10
"""So much of a longer one is shown [characters]."""


def briefly(results: Results) -> Results:
    """Return the results with the beginning alone of each long file that workloads name."""
    found = cast("dict[str, Any]", dict(results))
    for place in ("plan", "scenario"):
        own: dict[str, Any] = found.get(place) or {}
        texts: dict[str, str] = own.get("files") or {}
        if any(len(text) > MOST_FILE for text in texts.values()):
            found[place] = {**own, "files": {name: beginning(text) for name, text in texts.items()}}
    return cast("Results", found)


def beginning(text: str) -> str:
    """Return the first lines of a text that is long, and which text it is."""
    if len(text) <= MOST_FILE:
        return text
    whole = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(whole).hexdigest()
    shown = text[:SHOWN].rpartition("\n")[0] or text[:SHOWN]
    return f"{shown}\n… {len(whole)} B, SHA-256 {digest}: plan.yaml and results.json have all of it\n"


def drawn(results: Results) -> tuple[Results, int]:
    """Return the results of the variants that are drawn, with the baseline, and how many are left out."""
    names = variants(results)
    if len(names) <= MOST_DRAWN:
        return results, 0
    kept = frozenset(names[:MOST_DRAWN])

    def is_kept(item: Any) -> bool:
        return not isinstance(item, dict) or item.get("variant") is None or item["variant"] in kept

    everything = cast("dict[str, Any]", results)
    found = {
        key: [item for item in value if is_kept(item)] if isinstance(value, list) else value
        for key, value in everything.items()
    }
    return cast("Results", found), len(names) - len(kept)
