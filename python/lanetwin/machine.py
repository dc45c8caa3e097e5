"""The machine of a plan as a graph: components and links, one for each group of variants."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lanetwin.binding import busy
from lanetwin.summary import variants

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lanetwin.results import Results


_SMALL = re.compile(r"0\.000\d*[1-9]\d*|\d(\.\d+)?e-\d+")
"""Numbers that are easier to read with an exponent."""
_Links = dict[str, list[tuple[str, tuple[str, str, str]]]]
"""The neighbours of each component, and its links to them."""


@dataclass(frozen=True, slots=True)
class Node:
    """A component."""

    name: str
    part: str
    """Its part or model."""


@dataclass(slots=True)
class Edge:
    """A link, from the side of the host to that of the device."""

    name: str
    start: str
    end: str
    speed: str
    """Generation and width ("Gen5 x4")."""
    via: list[str]
    """Devices in the link: retimers, redrivers."""
    down: float | None = None
    """The share of the time in which it sends away from the host, in its busiest case; None if unknown."""
    up: float | None = None
    """The same towards the host."""

    @property
    def use(self) -> float:
        """The busier direction."""
        return max(self.down or 0.0, self.up or 0.0)


@dataclass(slots=True)
class Machine:
    """The machine of variants with the same structure."""

    variants: list[str]
    nodes: list[Node]
    edges: list[Edge]
    changes: dict[str, list[str]] = field(default_factory=dict)
    """Changes of each variant that the picture does not show, as `path = value`."""


def machines(results: Results) -> list[Machine]:
    """Return the machines, variants whose components and links are the same together."""
    plan = results["plan"] or {}
    named = plan.get("variants") if isinstance(plan.get("variants"), dict) else {}
    found: dict[tuple[object, ...], Machine] = {}
    for variant in variants(results):
        changed = (named or {}).get(variant)
        own = _changed(plan, changed if isinstance(changed, dict) else {})
        nodes = [Node(name, _part(of)) for name, of in own["machine"].items()]
        edges = [edge for name, of in own["links"].items() if (edge := _edge(name, of)) is not None]
        nodes = [node for node in nodes if any(node.name in (e.start, e.end) for e in edges)] or nodes
        key = (tuple(nodes), tuple((e.name, e.start, e.end, len(e.via)) for e in edges))
        if key not in found:
            found[key] = Machine([], nodes, edges)
            _measure(results, variant, edges)
        found[key].variants.append(variant)
        found[key].changes[variant] = [_told(path, value) for path, value in (changed or {}).items()]
    return [machine for machine in found.values() if machine.nodes]


def opened(machine: Machine, name: str, part: dict[str, Any], results: Results) -> Machine:
    """Return a machine with the contents of an assembly in place of its box.

    Args:
        machine: As it is outside.
        name: The component to open.
        part: The catalogue's entry of its part: components, links and ports.
        results: The run, for the use of the links inside.

    """
    inside = {one["component"]: f"{name}.{one['component']}" for one in part["components"]}
    door = inside[part["ports"][0]["about"].partition(".")[0]]
    nodes = [node for node in machine.nodes if node.name != name]
    nodes += [Node(inside[one["component"]], one["model"]) for one in part["components"]]
    outer = [
        replace(
            edge,
            start=door if edge.start == name else edge.start,
            end=door if edge.end == name else edge.end,
        )
        for edge in machine.edges
    ]
    inner = []
    for one in part["links"]:
        speed = " ".join(
            word for word in (f"Gen{one['gen']}" if "gen" in one else "", one.get("width", "")) if word
        )
        start, end = (inside[one[side].partition(".")[0]] for side in ("from", "to"))
        inner.append(Edge(f"{name}.{one['link']}", start, end, speed, []))
    _measure(results, machine.variants[0], inner)
    edges = [*outer, *_through_ports(inner)]
    taken = {node.name for node in machine.nodes} | {edge.name for edge in machine.edges}

    def short(full: str) -> str:
        inner_name = full.removeprefix(f"{name}.")
        return full if inner_name in taken else inner_name

    return Machine(
        machine.variants,
        [Node(short(node.name), node.part) for node in nodes],
        [replace(one, name=short(one.name), start=short(one.start), end=short(one.end)) for one in edges],
        machine.changes,
    )


def _through_ports(edges: list[Edge]) -> list[Edge]:
    """Return links inside a device; those to a disk end at the root port that the disk is linked to."""
    ports = {edge.end: edge.start for edge in edges if edge.speed}
    return [
        edge if edge.speed or edge.end not in ports else replace(edge, end=ports[edge.end]) for edge in edges
    ]


def _changed(plan: dict[str, Any], changes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return components and links with the changes of a variant; a change that cannot be made is left out."""
    own = {
        room: copy.deepcopy(plan[room]) if isinstance(plan.get(room), dict) else {}
        for room in ("machine", "links")
    }
    for path, value in changes.items():
        room, _, rest = path.partition(".")
        name, _, parameter = rest.partition(".")
        of = own.get(room)
        if of is None or not name:
            continue
        if parameter and isinstance(of.get(name), dict):
            of[name][parameter] = value
        elif not parameter and value is None:
            of.pop(name, None)
        elif not parameter:
            of[name] = value
    return own


def _part(of: Any) -> str:
    known = of if isinstance(of, dict) else {}
    return str(known.get("part") or known.get("model") or "")


def _edge(name: str, of: Any) -> Edge | None:
    if not isinstance(of, dict) or "from" not in of or "to" not in of:
        return None
    start, end = (str(of[side]).split(".")[0] for side in ("from", "to"))
    generation = f"Gen{of['gen']}" if of.get("gen") else ""
    speed = " ".join(word for word in (generation, str(of.get("width") or "")) if word)
    via = of.get("via") or []
    return Edge(name, start, end, speed, [_part(one) or str(one) for one in via if one] if via else [])


def _told(path: str, value: Any) -> str:
    if value is None:
        return f"without {path}"
    if isinstance(value, dict):
        return f"with {path}: {_part(value)}".rstrip(": ")
    if isinstance(value, list):
        return f"{path} = {', '.join(_part(one) or _plain(one) for one in value)}"
    return f"{path} = {_plain(value)}"


def _plain(value: Any) -> str:
    """Write a value of a plan without its brackets.

    >>> _plain({"at": "1ms", "for": "2ms"}), _plain("x4"), _plain("0.00000012")
    ('at 1ms for 2ms', 'x4', '1.2e-7')
    >>> _plain({"do": "sanitize", "at": "3ms", "on": ""})
    'do sanitize at 3ms'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | float) and _SMALL.fullmatch(str(value)):
        return f"{float(value):g}".replace("e-0", "e-")
    if isinstance(value, dict):
        return " ".join(f"{key} {of}" for key, of in value.items() if of != "")
    return str(value)


def _measure(results: Results, variant: str, edges: list[Edge]) -> None:
    """Set each link's use in a variant, for the busiest case of each direction."""
    shares: dict[str, dict[str, float]] = {}
    for one in results["utilisation"]:
        if one["variant"] == variant:
            ends = shares.setdefault(one["link"], {})
            ends[one["direction"]] = max(ends.get(one["direction"], 0.0), busy(one))
    for of in results.get("cxl", []):
        if of["variant"] == variant:
            ends = shares.setdefault(of["link"], {})
            ends[of["direction"]] = max(ends.get(of["direction"], 0.0), 1.0 - of["idle"])
    for edge in edges:
        for direction, share in shares.get(edge.name, {}).items():
            sender = direction.split(" → ")[0]
            if edge.start in (sender, sender.split(".")[0]):
                edge.down = max(edge.down or 0.0, share)
            else:
                edge.up = max(edge.up or 0.0, share)


def layers(machine: Machine) -> list[list[str]]:
    """Return components by their distance from the hosts, to which no link leads.

    >>> layers(Machine([], [Node("h", ""), Node("d", "")], [Edge("l", "h", "d", "", [])]))
    [['h'], ['d']]
    """
    names = [node.name for node in machine.nodes]
    depth = dict.fromkeys(names, 0)
    for _ in names:  # no path is longer than there are components
        for edge in machine.edges:
            if edge.start in depth and edge.end in depth and edge.start != edge.end:
                depth[edge.end] = min(max(depth[edge.end], depth[edge.start] + 1), len(names) - 1)
    return [[name for name in names if depth[name] == at] for at in sorted(set(depth.values()))]


def alike(machine: Machine) -> list[list[str]]:
    """Return leaves that are the same part on links of the same speed to the same component, together."""
    groups: dict[tuple[object, ...], list[str]] = {}
    for node in machine.nodes:
        to = [edge for edge in machine.edges if edge.end == node.name]
        is_leaf = len(to) == 1 and not any(edge.start == node.name for edge in machine.edges)
        key = (node.part, to[0].start, to[0].speed, len(to[0].via)) if is_leaf else (node.name,)
        groups.setdefault(key, []).append(node.name)
    return [group for group in groups.values() if len(group) > 1]


def repeated(machine: Machine, more_than: int) -> list[list[str]]:
    """Return groups of components in equivalent places of the machine, if they have more members than this.

    They are the same part, on links of the same speed to the same component, or each to another of several
    equivalent ones: the drives of a switch; for many hosts on a network the hosts, their adapters and their
    drives.
    """
    links = _links(machine)
    apart: set[str] = set()
    while True:
        kinds = _kinds(machine, links, apart)
        groups: dict[object, list[str]] = {}
        for node in machine.nodes:
            groups.setdefault(kinds[node.name], []).append(node.name)
        several = [group for group in groups.values() if len(group) > 1]
        # these are drawn one by one, and so their neighbours differ
        lone = {
            name
            for group in several
            if len(group) <= more_than or not _is_parallel(group[0], links, kinds, apart)
            for name in group
        }
        if not lone:
            return several
        apart |= lone


def _kinds(machine: Machine, links: _Links, apart: Collection[str]) -> dict[str, object]:
    """Classify components by part, by whether they are alone, and by their neighbours."""
    kinds: dict[str, object] = {
        node.name: (node.part, node.name if node.name in apart else "") for node in machine.nodes
    }
    count = len(set(kinds.values()))
    while True:
        keys = {
            name: (own, tuple(sorted((*how, str(kinds[other])) for other, how in links[name])))
            for name, own in kinds.items()
        }
        numbers = {key: nth for nth, key in enumerate(dict.fromkeys(keys.values()))}
        kinds = {name: numbers[key] for name, key in keys.items()}
        if len(numbers) == count:
            return kinds
        count = len(numbers)


def _links(machine: Machine) -> _Links:
    """Return the neighbours of each component with its links: end, speed and devices in between."""
    found: _Links = {node.name: [] for node in machine.nodes}
    for edge in machine.edges:
        through = str(len(edge.via))
        for own, other, end in ((edge.start, edge.end, "start"), (edge.end, edge.start, "end")):
            if own in found and other in found:
                found[own].append((other, (end, edge.speed, through)))
    return found


def _is_parallel(name: str, links: _Links, kinds: dict[str, object], apart: Collection[str]) -> bool:
    """Whether a component has a link, and at most one to equivalent ones, and to each of the others."""
    met = [other if other in apart else kinds[other] for other, _ in links[name]]
    return bool(met) and len(met) == len(set(met))


def range_of(names: Sequence[str]) -> str:
    """Name several components as a range.

    >>> range_of(["ssd1", "ssd2", "ssd12"]), range_of(["left", "right"])
    ('ssd1…12', 'left … right')
    """
    first, last = names[0], names[-1]
    stem, number = re.split(r"(?=\d*$)", first, maxsplit=1)[0], last[len(last.rstrip("0123456789")) :]
    is_numbered = number and all(re.fullmatch(re.escape(stem) + r"\d+", name) for name in names)
    return f"{first}…{number}" if is_numbered else f"{first} … {last}"
