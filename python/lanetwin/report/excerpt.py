"""The part of a run with hundreds of variants on a page: all in tables, the first ones in figures.

Of a long file that a workload names, a page has the beginning and the digest. The plan, in the results and
beside them, has the whole file, so that the run can be repeated.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

from lanetwin.summary import variants

if TYPE_CHECKING:
    from lanetwin.results import Results

MOST_DRAWN = 24
"""Maximum number of variants in figures: more cannot be distinguished, and each adds tens of kilobytes."""
MOST_EMBEDDED = 4 << 20
"""Maximum size of results in the page itself [characters]; larger ones are stored beside it."""

MOST_FILE = 32 << 10
"""Maximum size of a workload's file that is completely in the page [characters]."""
SHOWN = 2 << 10
"""Length of the beginning of a longer one [characters]."""


def briefly(results: Results) -> Results:
    """Return the results with only the beginning of each long file that workloads name."""
    found = cast("dict[str, Any]", dict(results))
    for place in ("plan", "scenario"):
        own: dict[str, Any] = found.get(place) or {}
        texts: dict[str, str] = own.get("files") or {}
        if any(len(text) > MOST_FILE for text in texts.values()):
            found[place] = {**own, "files": {name: beginning(text) for name, text in texts.items()}}
    return cast("Results", found)


def beginning(text: str) -> str:
    """Return the first lines of a long text, and its digest."""
    if len(text) <= MOST_FILE:
        return text
    whole = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(whole).hexdigest()
    shown = text[:SHOWN].rpartition("\n")[0] or text[:SHOWN]
    return f"{shown}\n… {len(whole)} B, SHA-256 {digest}: plan.yaml and results.json have all of it\n"


def drawn(results: Results) -> tuple[Results, int]:
    """Return the results of the drawn variants, including the baseline, and the number of the others."""
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
