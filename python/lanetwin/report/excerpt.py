"""What a page shows of a run with hundreds of variants: all in tables, the first of them in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lanetwin.summary import variants

if TYPE_CHECKING:
    from lanetwin.results import Results

MOST_DRAWN = 24
"""Figures show at most so many variants: more cannot be told apart, and each adds tens of kilobytes."""
MOST_EMBEDDED = 4 << 20
"""Results up to this size [characters] are in the page itself; larger ones lie beside it."""


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
