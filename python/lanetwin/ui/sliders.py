"""The sliders of a scenario: widths, generations, depths, latencies, weights, each with its path."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.report.figures.topology import MOST_ALIKE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WIDTHS = ("x1", "x2", "x4", "x8", "x16")
GENERATIONS = (1, 2, 3, 4, 5, 6)
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
WEIGHTS = (1, 2, 3, 4, 6, 8, 12, 16)
LATENCIES = ("0ns", "2ns", "5ns", "10ns", "20ns", "30ns", "40ns", "60ns", "80ns", "120ns")
"""Latencies of one pass through a retimer."""
SIZES = ("64B", "128B", "256B", "512B", "1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "64KiB", "128KiB", "1MiB")
COUNTED = {"dma": ("outstanding",), "block": ("depth",), "memory": ("threads",)}
"""The keys of a load for the requests in flight."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A value of the scenario, and its possible values, in order."""

    label: str
    path: str
    values: tuple[str, ...]
    at: int
    """Index of the present value."""

    def told(self) -> dict[str, Any]:
        """Return it in the form for the page."""
        return asdict(self)


def sliders(plan: Mapping[str, Any]) -> list[Slider]:
    """Return the sliders for the baseline of a plan: first those of links, then those of loads."""
    return [*_links(plan.get("links") or {}), *_loads(plan.get("workloads") or {})]


def _together(links: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield links with their names; more than a few equal numbered ones as one, in the form of paths.

    >>> bays = {f"bay{n}": {"from": "sw", "to": f"ssd{n}", "width": "x4"} for n in range(1, 6)}
    >>> [name for name, _ in _together({"up": {"from": "host", "to": "sw"}, **bays})]
    ['up', 'bay1..5']
    >>> [name for name, _ in _together(bays | {"bay3": {"from": "sw", "to": "ssd3", "width": "x2"}})]
    ['bay1', 'bay2', 'bay3', 'bay4', 'bay5']
    """
    runs: list[list[str]] = []
    for name, link in links.items():
        last = runs[-1][-1] if runs else ""
        if last and name == _next(last) and _kind(link) == _kind(links[last]):
            runs[-1].append(name)
        else:
            runs.append([name])
    for run in runs:
        if len(run) > MOST_ALIKE:
            first, last = run[0], run[-1]
            yield f"{first}..{last[len(last.rstrip('0123456789')) :]}", links[first]
        else:
            yield from ((name, links[name]) for name in run)


def _next(name: str) -> str:
    """Return the name with the next number; empty for a name without a number."""
    stem = name.rstrip("0123456789")
    return f"{stem}{int(name[len(stem) :]) + 1}" if stem != name else ""


def _kind(link: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in link.items() if key != "to"}
    return own | {"from": str(link.get("from", "")).partition(".")[0]}


def _links(links: Mapping[str, Any]) -> Iterator[Slider]:
    for name, link in _together(links):
        path = f"links.{name}"
        if "width" in link:
            yield _one(f"{name}: width", f"{path}.width", WIDTHS, link["width"])
        if "gen" in link:
            yield _one(f"{name}: generation", f"{path}.gen", GENERATIONS, link["gen"])
        retimer = _retimer(link.get("via") or [])
        if retimer:
            yield _one(f"{name}: latency of the retimer", f"{path}.via", LATENCIES, retimer)
        if link.get("weight", 1) != 1:
            yield _one(f"{name}: weight", f"{path}.weight", WEIGHTS, link["weight"])


def _retimer(via: list[Any]) -> str:
    """Return the latency of a link's only retimer, in ns; empty if there is not exactly one."""
    if len(via) != 1:
        return ""
    own = via[0] if isinstance(via[0], dict) else {}
    if "latency" in own:
        return str(own["latency"])
    if not isinstance(via[0], str):
        return ""
    parameters = engine.part(via[0]).get("parameters") or []
    known = {one["parameter"]: one["value"] for one in parameters}
    return str(known.get("latency", ""))


def _loads(workloads: Mapping[str, Any]) -> Iterator[Slider]:
    for name, workload in workloads.items():
        for kind, keys in COUNTED.items():
            load = workload.get(kind)
            if not isinstance(load, dict):
                continue
            for key in keys:
                if isinstance(load.get(key), int):
                    yield _one(f"{name}: {key}", f"workloads.{name}.{kind}.{key}", COUNTS, load[key])
            if kind != "memory" and isinstance(load.get("size"), str):
                yield _one(f"{name}: size", f"workloads.{name}.{kind}.size", SIZES, load["size"])
            weights = _weights(load.get("placement"))
            path = f"workloads.{name}.{kind}.placement.weighted"
            for node, weight in weights.items():
                yield _one(f"{name}: weight of {node}", f"{path}.{node}", WEIGHTS, weight)


def _weights(placement: Any) -> dict[str, Any]:
    own = placement.get("weighted") if isinstance(placement, dict) else None
    return own if isinstance(own, dict) else {}


def _one(label: str, path: str, values: tuple[Any, ...], now: Any) -> Slider:
    """Return a slider whose values include the present one."""
    shown, own = [str(value) for value in values], str(now).replace(" ", "")
    if own not in shown:
        shown = sorted([*shown, own], key=_magnitude)
    return Slider(label, path, tuple(shown), shown.index(own))


def _magnitude(text: str) -> float:
    """Order values by their size.

    >>> sorted(["1KiB", "64B", "x4", "2ns"], key=_magnitude)
    ['2ns', 'x4', '64B', '1KiB']
    """
    found = re.fullmatch(r"x?([\d.]+)\s*([A-Za-zµ/]*)", text)
    if found is None:
        return float("inf")
    scales = {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "KB": 1e3, "MB": 1e6, "us": 1e3, "ms": 1e6}
    return float(found[1]) * scales.get(found[2], 1.0)
