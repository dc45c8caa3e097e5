"""The CXL memories of a machine in its scenario, each alone and with DRAM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lanetwin.discovered.names import described, end

if TYPE_CHECKING:
    from collections.abc import Mapping

PART = "generic-cxl-expander-asic"
HOST = "cpu"
SLOWEST, NEWEST, WIDEST = 3, 6, 16
"""Generations and lanes of CXL links (CXL 3.1 §1.4.1: 8 GT/s is the minimum, degraded)."""
SMALLEST, LARGEST = 1 << 20, 1 << 30
"""A working set is half of a memory, within these [bytes]."""
MOST = 64
"""Maximum number of CXL ports of the host model."""


@dataclass
class Memories:
    """The parts of the scenario for CXL memories."""

    comments: list[str] = field(default_factory=list)
    components: dict[str, Any] = field(default_factory=dict)
    links: dict[str, Any] = field(default_factory=dict)
    trained: dict[str, Any] = field(default_factory=dict)
    workloads: dict[str, Any] = field(default_factory=dict)


def memories(found: Mapping[str, Any]) -> Memories:
    """Return the memories of known size, with loads on them alone and beside DRAM."""
    written = Memories()
    devices = {device["address"]: device for device in found["devices"]}
    sized = [(one, one["volatile_bytes"] + one["persistent_bytes"]) for one in found["memories"]]
    large = [(one, size) for one, size in sized if size >= 2 * SMALLEST]
    if len(large) > MOST:
        written.comments.append(f"# Left out: {len(large) - MOST} CXL memories; a host has {MOST} at most.")
    for nth, (memory, size) in enumerate(large[:MOST]):
        name, device = f"cxl{nth}", devices.get(memory["address"] or "")
        link = _link(device, devices)
        written.components[name] = {"part": PART, "capacity": f"{size >> 20}MiB"}
        written.links[f"slot_{name}"] = {"from": HOST, "to": name} | (link[0] if link else {})
        if link:
            written.trained |= {f"links.slot_{name}.{key}": value for key, value in link[1].items()}
            written.components[name] |= {f"port.{key}": value for key, value in link[0].items()}
        what = f"{device['address']} {described(device)}" if device else "CXL memory"
        written.comments.append(f"# {name}: {what} {memory['name']}")
        if device and not link:
            told = device["link"]
            said = (
                f"its link is at {end(told['trained'])}, which CXL is not" if told else "its link is not told"
            )
            written.comments.append(f"# {name}: {said}; taken as Gen5 x16.")
        written.workloads |= _workloads(name, size)
    if written.components:
        host = {"model": "memory-host", "ports": len(written.components)}
        written.components = {HOST: host} | written.components
    return written


def _link(
    device: Mapping[str, Any] | None, devices: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the possible and the present link of a memory; None if unknown, or if CXL does not allow it."""
    link = device["link"] if device else None
    if not device or not link:
        return None
    above = (devices.get(device["parent"] or "") or {}).get("link")
    ends = [one["capable"] for one in (link, above) if one]
    capable = {
        "gen": min([NEWEST, *(one["generation"] for one in ends)]),
        "width": min([WIDEST, *(one["width"] for one in ends)]),
    }
    trained = {"gen": link["trained"]["generation"], "width": link["trained"]["width"]}
    if min(capable["gen"], trained["gen"]) < SLOWEST or not trained["width"] or not capable["width"]:
        return None
    return _words(capable), _words(trained)


def _words(of: Mapping[str, int]) -> dict[str, Any]:
    return {"gen": min(of["gen"], NEWEST), "width": f"x{min(of['width'], WIDEST)}"}


def _workloads(name: str, size: int) -> dict[str, Any]:
    """Return a chase, which measures latency, and streams: in DRAM, in the memory, in both."""
    working_set = f"{min(max(1 << (size.bit_length() - 2), SMALLEST), LARGEST) >> 20}MiB"
    chase = {"pattern": "chase", "working-set": working_set, "placement": ["dram", name], "lines": 1500}
    both = {"weighted": {"dram": 2, name: 1}}
    stream = {
        "mix": ["all-reads", "2r1w"],
        "working-set": working_set,
        "placement": ["dram", name, both],
        "lines": 12000,
    }
    return {
        f"{name}_latency": {"memory": chase, "on": HOST},
        f"{name}_bandwidth": {"memory": stream, "on": HOST},
    }
