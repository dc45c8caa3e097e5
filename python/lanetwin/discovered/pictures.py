"""The tree of a machine: in the terminal, for Graphviz, for Mermaid; each link as trained, of capable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin.discovered.names import described, end

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Device = dict[str, Any]


def tree(found: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the lines of the tree, each with whether its link is below what both ends can do."""
    devices: Sequence[Device] = found["devices"]
    marked = {finding["address"] for finding in found["findings"] if finding["shortfall"]}
    known = {device["address"] for device in devices}
    roots = [device for device in devices if device["parent"] not in known]
    below: dict[str, list[Device]] = {}
    for device in devices:
        below.setdefault(device["parent"], []).append(device)
    lines: list[tuple[str, bool]] = []
    for root in roots:
        lines += _lines(root, below, marked, "")
    return lines


def _lines(
    device: Device, below: Mapping[str, Sequence[Device]], marked: set[str], indent: str
) -> Iterator[tuple[str, bool]]:
    text = f"{device['address']} {described(device)}{link_of(device)}"
    yield indent + text, device["address"] in marked
    children = below.get(device["address"], [])
    stem = indent.replace("├─ ", "│  ").replace("└─ ", "   ")
    for nth, child in enumerate(children):
        branch = "└─ " if nth + 1 == len(children) else "├─ "
        yield from _lines(child, below, marked, stem + branch)


def link_of(device: Mapping[str, Any]) -> str:
    """Write the link of a device, as trained, and as capable where that is more."""
    link = device["link"]
    if not link or device["kind"] in ("root-port", "downstream-port"):
        return ""
    trained, capable = end(link["trained"]), end(link["capable"])
    return f", {trained}" if trained == capable else f", {trained} (can do {capable})"


def _edges(found: Mapping[str, Any]) -> Iterator[tuple[Device, Device | None]]:
    devices = {device["address"]: device for device in found["devices"]}
    for device in found["devices"]:
        yield device, devices.get(device["parent"])


def dot(found: Mapping[str, Any]) -> str:
    """Write it for Graphviz."""
    marked = {finding["address"] for finding in found["findings"] if finding["shortfall"]}
    lines = ["graph machine {", "  rankdir=LR;", "  node [shape=box];"]
    for device, above in _edges(found):
        text = (
            f"{device['address']}\n{described(device)}".replace("\\", "")
            .replace('"', "'")
            .replace("\n", "\\n")
        )
        lines.append(f'  "{device["address"]}" [label="{text}"];')
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
        text = "".join(sign for sign in described(device) if sign not in '"[]{}<>|`')
        lines.append(f'  {names[device["address"]]}["{device["address"]}<br/>{text}"]')
        if above:
            label = link_of(device).removeprefix(", ")
            arrow = f' -- "{label}" --- ' if label else " --- "
            lines.append(f"  {names[above['address']]}{arrow}{names[device['address']]}")
    return "\n".join(lines) + "\n"
