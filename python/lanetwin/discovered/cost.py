"""The cost of a finding, by the closed form of a link: the throughput that both ends support less its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.errors import LanetwinError

if TYPE_CHECKING:
    from collections.abc import Mapping


def costs(finding: Mapping[str, Any]) -> float | None:
    """Return the payload throughput of one direction that a link loses [GB/s]; None if unknown."""
    lacks = finding["shortfall"]
    if not lacks:
        return None
    able, does = (_throughput(lacks[key], lacks["mps"]) for key in ("capable", "trained"))
    return None if able is None or does is None else able - does


def _throughput(end: Mapping[str, int], mps: int) -> float | None:
    """Return the throughput of a link in one direction, for writes of Maximum Payload Size [GB/s]."""
    arguments = {"gen": str(end["generation"]), "width": f"x{end['width']}", "mps": f"{mps}B"}
    try:
        rows = engine.calculate("link", arguments)["rows"]
    except LanetwinError:
        return None  # a generation or a width that the simulator does not have
    found = [row["value"] for row in rows if (row["name"], row["unit"]) == ("payload", "GB/s")]
    return float(found[0]) if found else None
