"""The picture of a machine: no link lies over a component, and no words do."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast
from xml.etree import ElementTree

import pytest

from lanetwin import engine
from lanetwin.machine import Edge, Machine, Node, opened, repeated
from lanetwin.report.figures.topology import Topology, draw, topologies
from lanetwin.report.svg import SMALL, text_width


def machine(links: dict[str, tuple[str, str]]) -> Machine:
    names = dict.fromkeys(name for ends in links.values() for name in ends)
    edges = [
        Edge(name, start, end, "Gen4 x16", ["a-retimer"], down=0.4, up=0.02)
        for name, (start, end) in links.items()
    ]
    return Machine(["as-is"], [Node(name, "a-part") for name in names], edges)


if TYPE_CHECKING:
    from lanetwin.results import Results

BOX_ON_A_NETWORK = {
    "slot": ("server", "nic"),
    "net": ("nic", "tor"),
    "box-net": ("tor", "box-nic"),
    "box-slot": ("box", "box-nic"),
    "up": ("box", "bays"),
    "bay1": ("bays", "ssd1"),
    "bay2": ("bays", "ssd2"),
}
TWO_PATHS = {"a": ("host", "sw"), "b": ("sw", "ssd"), "c": ("host", "ssd"), "d": ("host", "ssd")}


@pytest.mark.parametrize("links", [BOX_ON_A_NETWORK, TWO_PATHS], ids=["box on a network", "two paths"])
@pytest.mark.parametrize("width", [560.0, 900.0])
def test_links_that_pass_components_go_around_them(links: dict[str, tuple[str, str]], width: float) -> None:
    picture = draw(Topology(machine(links), frozenset(), several=False), "t", width)
    drawn = ElementTree.fromstring(picture)  # noqa: S314 - drawn here
    boxes = []
    for rect in drawn.iter("rect"):
        if "node" in (rect.get("class") or ""):
            x, y, w, h = (float(rect.get(name) or 0) for name in ("x", "y", "width", "height"))
            boxes.append((x + 1, y + 1, x + w - 1, y + h - 1))
    assert len(boxes) == len({name for ends in links.values() for name in ends})
    lines = [line for line in drawn.iter("polyline") if "link" in (line.get("class") or "")]
    for line in lines:
        points = [tuple(map(float, point.split(","))) for point in (line.get("points") or "").split()]
        for (x0, y0), (x1, y1) in pairwise(points):
            for step in range(101):
                x, y = x0 + (x1 - x0) * step / 100, y0 + (y1 - y0) * step / 100
                assert not any(left < x < right and top < y < low for left, top, right, low in boxes)
    for words in drawn.iter("text"):
        if words.get("text-anchor") == "middle":
            shown = (words.text or "") + "".join(child.tail or "" for child in words)
            half = text_width(shown, SMALL) / 2
            x, y = float(words.get("x") or 0), float(words.get("y") or 0)
            for left, top, right, low in boxes:
                assert not (left < x + half and x - half < right and top < y and y - SMALL < low)


def test_links_that_come_level_to_one_component_stand_apart() -> None:
    links = {
        "a-slot": ("a", "a-nic"),
        "b-slot": ("b", "b-nic"),
        "a-up": ("a", "sw"),
        "b-up": ("b", "sw"),
        "bay": ("sw", "ssd"),
    }
    picture = draw(Topology(machine(links), frozenset(), several=False), "t", 620.0)
    drawn = ElementTree.fromstring(picture)  # noqa: S314 - drawn here
    words = [
        (float(one.get("x") or 0), float(one.get("y") or 0))
        for one in drawn.iter("text")
        if one.get("text-anchor") == "middle"
    ]
    for nth, (x, y) in enumerate(words):
        for other_x, other_y in words[nth + 1 :]:
            assert abs(x - other_x) > 20 or abs(y - other_y) >= SMALL, "words over words"


def test_an_assembly_is_opened_with_what_the_catalogue_says_of_it() -> None:
    part = engine.part("samsung-cmm-h")
    links = {one["link"]: one for one in part["links"]}
    assert links["bay"] == {"link": "bay", "from": "root", "to": "ssd", "gen": "4", "width": "x4"}
    whole = Machine(
        ["as-is"],
        [Node("host", "a-host"), Node("cmmh", "samsung-cmm-h")],
        [Edge("slot", "host", "cmmh", "Gen5 x8", [])],
    )
    use = {"variant": "as-is", "link": "cmmh.bay", "tlp": 0.25, "dllp": 0.0, "skp": 0.0, "replay": 0.0}
    both = [
        use | {"direction": f"cmmh.{one} → cmmh.{other}"} for one, other in (("ssd", "root"), ("root", "ssd"))
    ]
    results = cast("Results", {"utilisation": [both[0], both[1] | {"tlp": 0.125}]})
    found = opened(whole, "cmmh", part, results)
    assert {node.name: node.part for node in found.nodes} == {
        "host": "a-host",
        "controller": "cxl-hybrid",
        "root": "root-complex",
        "ssd": "nvme-ssd",
    }
    assert [(edge.name, edge.start, edge.end, edge.speed) for edge in found.edges] == [
        ("slot", "host", "controller", "Gen5 x8"),
        ("disk", "controller", "root", ""),
        ("bay", "root", "ssd", "Gen4 x4"),
    ]
    assert (found.edges[2].down, found.edges[2].up) == (0.125, 0.25)
    drawn = draw(Topology(found, frozenset(), several=False), "t", 620.0)
    assert drawn.count('class="node"') == 4


def boxes_on_a_network(count: int) -> dict[str, tuple[str, str]]:
    """Return so many boxes with an adapter and a drive each; the first has a drive more."""
    links = {"extra": ("box1", "quiet")}
    for nth in range(1, count + 1):
        links |= {
            f"net{nth}": ("tor", f"nic{nth}"),
            f"slot{nth}": (f"box{nth}", f"nic{nth}"),
            f"bay{nth}": (f"box{nth}", f"ssd{nth}"),
        }
    return links


def parts_by_name(links: dict[str, tuple[str, str]]) -> Machine:
    one = machine(links)
    return Machine(
        one.variants, [Node(node.name, node.name.rstrip("0123456789")) for node in one.nodes], one.edges
    )


def test_hosts_that_are_alike_are_one_box_with_all_that_they_have() -> None:
    network = parts_by_name(boxes_on_a_network(8))
    assert {tuple(group) for group in repeated(network, 3)} == {
        tuple(f"{name}{nth}" for nth in range(2, 9)) for name in ("nic", "box", "ssd")
    }
    picture = draw(Topology(network, frozenset(), several=False), "t", 900.0)
    assert "box2…8" in picture
    assert "7 × Gen4 x16" in picture
    assert "box3" not in picture.replace(Topology(network, frozenset(), several=False).description, "")
    assert repeated(parts_by_name(boxes_on_a_network(4)), 3) == []


@pytest.mark.parametrize(
    ("links", "found"),
    [
        # drives of each of two switches, not of both
        ({f"b{s}{n}": (f"sw{s}", f"ssd{4 * s + n}") for s in (0, 1) for n in range(4)}, [4, 4]),
        ({f"b{h}{n}": (f"host{h}", f"ssd{8 * h + n}") for h in range(5) for n in range(8)}, [8] * 5),
        ({f"l{a}{b}": (f"host{a}", f"ssd{b}") for a in range(5) for b in range(5)}, []),
    ],
    ids=["switches", "hosts", "all with all"],
)
def test_components_of_different_others_are_boxes_of_their_own(
    links: dict[str, tuple[str, str]], found: list[int]
) -> None:
    assert [len(group) for group in repeated(parts_by_name(links), 3)] == found


def test_what_limits_one_machine_is_not_marked_in_another(tmp_path: Path) -> None:
    """A drive limits in a slot of its own; behind a narrow switch the slot of the switch does."""
    file = tmp_path / "two.yaml"
    file.write_text(
        """about: A switch or a slot?
machine:
  host: {part: generic-host-gen4}
  sw: {part: generic-switch-gen4}
  ssd: {part: samsung-pm9a3}
links:
  up: {from: host, to: sw, gen: 1, width: x1}
  bay: {from: sw, to: ssd}
workloads:
  read: {block: {size: 128KiB, depth: 32, pattern: sequential, requests: 300}, on: host, target: ssd}
variants:
  switch: {}
  slot: {machine.sw: null, links.up: null, links.bay.from: host}
run: {repeats: 1}
""",
        encoding="utf-8",
    )
    results = engine.run(str(file))
    behind, alone = topologies(results)
    assert (behind.machine.variants, alone.machine.variants) == (["switch"], ["slot"])
    assert "up" in behind.limiting
    assert "ssd" not in behind.limiting
    assert "ssd" in alone.limiting
