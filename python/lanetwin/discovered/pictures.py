"""The tree of a machine: in the terminal, for Graphviz, for Mermaid; each link as trained and as capable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin.discovered.names import described, end
from lanetwin.sentences import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Device = dict[str, Any]


def tree(found: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the lines of the tree, each with a flag for a link below the capability of both ends."""
    marked = short(found)
    return [(text_of(device, found, stem), device["address"] in marked) for device, stem in walk(found)]


def short(found: Mapping[str, Any]) -> set[str]:
    """Return the addresses of devices whose link is below the capability of both ends."""
    return {finding["address"] for finding in found["findings"] if finding["shortfall"]}


def walk(found: Mapping[str, Any]) -> list[tuple[Device, str]]:
    """Return every function in the order of the tree, with the branches in front of it."""
    devices: Sequence[Device] = found["devices"]
    known = {device["address"] for device in devices}
    roots = [device for device in devices if device["parent"] not in known]
    below: dict[str, list[Device]] = {}
    for device in devices:
        below.setdefault(device["parent"], []).append(device)
    # a stack, not a recursion: a chain of bridges may be as deep as there are buses
    waiting = [(root, "") for root in reversed(roots)]
    walked: list[tuple[Device, str]] = []
    while waiting:
        device, stem = waiting.pop()
        walked.append((device, stem))
        children = below.pop(device["address"], [])
        onward = stem.replace("├─ ", "│  ").replace("└─ ", "   ")
        branches = ["├─ "] * (len(children) - 1) + ["└─ "]
        waiting += reversed(
            [(child, onward + branch) for child, branch in zip(children, branches, strict=False)]
        )
    return walked


def text_of(device: Device, found: Mapping[str, Any], stem: str = "") -> str:
    """Write a function as a line: address, name, further properties, its link."""
    at = device["address"]
    more = [f"{one['name']} {one['model']}".rstrip() for one in found["drives"] if one["address"] == at]
    more += [
        f"{one['name']} {gib(one['volatile_bytes'] + one['persistent_bytes'])}"
        for one in found["memories"]
        if one["address"] == at
    ]
    more += [f"{told('part')} {device['part']}"] if device["part"] else []
    said = f" ({', '.join(more)})" if more else ""
    return f"{stem}{at} {described(device)}{said}{link_of(device)}"


def gib(count: int) -> str:
    """Write a size of memory.

    >>> gib(256 << 20), gib(64 << 30)
    ('0.25 GiB', '64 GiB')
    """
    return f"{count / 2**30:.4g} GiB"


def link_of(device: Mapping[str, Any]) -> str:
    """Write the link of a device, as trained, and as capable if that is more."""
    link = device["link"]
    if device["kind"] in ("root-port", "downstream-port"):
        return ""
    if not link:
        rate = device["link_mb_s"]
        return f", {rate / 1000:.3g} GB/s" if rate else ""
    trained, capable = end(link["trained"]), end(link["capable"])
    return f", {trained}" if trained == capable else f", {trained} ({told(f'can do {capable}')})"


def _edges(found: Mapping[str, Any]) -> Iterator[tuple[Device, Device | None]]:
    devices = {device["address"]: device for device in found["devices"]}
    for device in found["devices"]:
        yield device, devices.get(device["parent"])


def dot(found: Mapping[str, Any]) -> str:
    """Write it for Graphviz."""
    marked = short(found)
    lines = ["graph machine {", "  rankdir=LR;", "  node [shape=box];"]
    for device, above in _edges(found):
        name = described(device).replace("\\", "").replace('"', "'")
        lines.append(f'  "{device["address"]}" [label="{device["address"]}\\n{name}"];')
        if above:
            colour = ', color="red"' if device["address"] in marked else ""
            label = link_of(device).removeprefix(", ")
            lines.append(f'  "{above["address"]}" -- "{device["address"]}" [label="{label}"{colour}];')
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(found: Mapping[str, Any]) -> str:
    """Write it for Mermaid."""
    names = {device["address"]: f"f{nth}" for nth, device in enumerate(found["devices"])}
    lines = ["graph LR"]
    for device, above in _edges(found):
        text = "".join(
            sign for sign in described(device) if sign.isprintable() and sign not in '"[]{}<>|`&#;\\'
        )
        lines.append(f'  {names[device["address"]]}["{device["address"]}<br/>{text}"]')
        if above:
            label = link_of(device).removeprefix(", ")
            arrow = f' -- "{label}" --- ' if label else " --- "
            lines.append(f"  {names[above['address']]}{arrow}{names[device['address']]}")
    return "\n".join(lines) + "\n"
