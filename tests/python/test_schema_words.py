"""Every word that the schema offers to an editor is one that checking accepts, somewhere."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lanetwin import engine

if TYPE_CHECKING:
    from collections.abc import Iterator

Words = tuple[str, tuple[Any, ...]]
"""A key, and the words that it takes."""
NAMES = ("part", "model")
"""Keys whose words are names of the catalogue, which other tests build."""
ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
ACTION = "workloads.mixed.actions=[{{at: 3ms, do: {}}}]"
DISK = "about: x\nmachine: {host: {model: memory-host, cores: 1, dram: simple}, "
DISK += "hybrid: {model: cxl-hybrid, KEY: WORD}, "
DISK += "root: {model: root-complex}, ssd: {part: samsung-pm9a3}}\n"
DISK += "links: {slot: {from: host, to: hybrid.cxl}, disk: {from: hybrid.disk, to: ssd}, "
DISK += "bay: {from: root, to: ssd}}\n"
DISK += "workloads: {w: {memory: {pattern: random, working-set: 1GiB, placement: hybrid}, on: host}}\n"
WIDE = "about: x\nmachine: {h: {part: generic-host-gen4, port.width: 32}, "
WIDE += "c: {part: generic-dma-gen5, port.width: 32}}\n"
WIDE += "links: {slot: {from: h, to: c, KEY: WORD}}\nworkloads: {w: {dma: {size: 64B}, on: c}}\n"
SPREAD = "sweep: {links.slot.propagation: {from: 1ns, to: 9ns, points: 3, KEY: WORD}}\n"
DPU = (SCENARIOS / "nvmeof-dpu.yaml").read_text("utf-8").replace("part: bluefield-2", "part: dpu, KEY: WORD")
PART = (ROOT / "parts" / "bluefield-2.yaml").read_text("utf-8").replace("name: bluefield-2", "name: dpu")
PART = PART.replace("  exposes:\n", "  exposes:\n    transfer: front.transfer\n")
MORE: dict[str, str | tuple[str, ...]] = {
    "width": WIDE,
    "initial": DISK,
    "fill.sector": DISK,
    "cache.policy": DISK,
    "transfer": DPU,
    "spacing": WIDE.replace("KEY: WORD", "gen: 4") + SPREAD,
    "do": ("drive-commands", ACTION.format("WORD")),
    "secure-erase": ("drive-commands", ACTION.format("format, secure-erase: WORD")),
    "method": ("drive-commands", ACTION.format("sanitize, method: WORD")),
    "by": ("block", "links.bay.down=[{at: 1ms, by: WORD}]"),
    "staging": ("nvmeof-offload", "subsystems.jbof.staging=WORD"),
    "state": ("nvmeof-multipath", "subsystems.jbof.ana=[{at: 1ms, port: port1, state: WORD}]"),
    "pause.watchdog": ("pause-storm", "machine.tor.pause.watchdog=WORD"),
    "removal": ("reassign", "partitions.right.attach=[{at: 15ms, device: ssd1, after: 1ms, removal: WORD}]"),
}
"""Where words stand that are in no shipped scenario: a document, or a scenario and its settings."""


def words_of(node: Any, path: tuple[str, ...] = ()) -> Iterator[Words]:
    """Yield each key of the schema with the words that it takes."""
    if isinstance(node, dict):
        keys = [path[place + 1] for place, name in enumerate(path[:-1]) if name == "properties"]
        if "enum" in node and keys and keys[-1] not in NAMES and "propertyNames" not in path:
            yield keys[-1], tuple(node["enum"])
        for name, below in node.items():
            yield from words_of(below, (*path, name))
    elif isinstance(node, list):
        for below in node:
            yield from words_of(below, (*path, ""))


def leaves(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the value of everything in a plan that `--set` can change."""
    if isinstance(node, dict):
        for name, below in node.items():
            yield from leaves(below, (*path, name))
    else:
        yield path, node


@pytest.fixture(scope="module")
def places() -> dict[Words, list[tuple[Path, str]]]:
    """Return where words stand in the plans of the shipped scenarios, one place for each scenario."""
    kinds = set(words_of(json.loads(engine.schema())))
    found: dict[Words, dict[Path, str]] = defaultdict(dict)
    for file in sorted([*SCENARIOS.glob("*.yaml"), *(SCENARIOS / "long").glob("*.yaml")]):
        for path, value in leaves(engine.check(str(file), [], outside=True)["plan"]):
            present = {str(one) for one in value} if isinstance(value, list) else {str(value)}
            for kind in kinds:
                if path[-1] == kind[0] and path[0] != "variants" and present <= set(map(str, kind[1])):
                    found[kind][file] = ".".join(path)
    return {kind: list(of.items()) for kind, of in found.items()}


def written(word: Any) -> str:
    """Write a word as YAML has it."""
    return json.dumps(word) if isinstance(word, bool) else str(word)


def mistakes(tmp_path: Path, key: str, word: str) -> list[str]:
    """Return the mistakes of a document that is made for a key."""
    more = MORE[key]
    if isinstance(more, str):
        path = tmp_path / "words.yaml"
        path.write_text(more.replace("KEY", key).replace("WORD", word), encoding="utf-8")
        (tmp_path / "parts").mkdir(exist_ok=True)
        (tmp_path / "parts" / "dpu.yaml").write_text(PART, encoding="utf-8")
        found = engine.check(str(path), [])
    else:
        sets = [setting.replace("WORD", word) for setting in more[1:]]
        found = engine.check(str(SCENARIOS / f"{more[0]}.yaml"), sets)
    return [one["message"] for one in found["diagnostics"] if one["severity"] == "error"]


def test_every_word_that_the_schema_has_is_accepted(
    tmp_path: Path, places: dict[Words, list[tuple[Path, str]]]
) -> None:
    refused: dict[str, list[str]] = {}
    count = 0
    for key, words in set(words_of(json.loads(engine.schema()))):
        for word in map(written, words):
            count += 1
            told: list[str] = []
            for file, path in places.get((key, words), ()):
                found = engine.check(str(file), [f"{path}={word}"], outside=True)["diagnostics"]
                errors = [one["message"] for one in found if one["severity"] == "error"]
                if not errors:
                    break
                told += errors
            else:
                errors = mistakes(tmp_path, key, word) if key in MORE else ["it stands nowhere"]
                if errors:
                    refused[f"{key}: {word}"] = [*told[:2], *errors[:2]]
    assert count > 250
    assert refused == {}
