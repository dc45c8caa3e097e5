"""Every command with `--lang`: what it prints, and the page it writes, have no English of ours left."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import html5lib
import pytest
from typer.testing import CliRunner

from lanetwin import engine
from lanetwin.cli import app
from lanetwin.discovered.names import _named
from lanetwin.language import LANGUAGES
from lanetwin.sentences import texts_under
from untold import CODE, english, texts

ROOT = Path(__file__).parents[2]
OTHERS = [name for name in LANGUAGES if name != "en"]
CHANNEL = "scenarios/link/long-with-cable.yaml"
NAMED = (
    *(
        "name",
        "about",
        "source",
        "note",
        "validated",
        "calibrated to",
        "claim",
        "bar",
        "text",
        "case",
        "quantity",
        "unit",
    ),
    *(
        "path",
        "paths",
        "from",
        "to",
        "losses",
        "entry",
        "element",
        "share",
        "value",
        "model",
        "parameter",
        "port",
    ),
    *(
        "component",
        "host",
        "place",
        "of",
        "kind",
        "part",
        "variant",
        "workload",
        "assumption",
        "moved_to",
        "means",
    ),
    *(
        "preset",
        "register",
        "row",
        "format",
        "rate",
        "instead",
        "what it does",
        "title",
        "state",
        "after",
        "between",
        "objectives",
        "limits",
        "units",
        "point",
    ),
)
"""Under which keys an answer has names, notes, sources, and words of specifications and of scenarios."""
COMMANDS = {
    "budget": ["link", "budget", CHANNEL],
    "eye": [
        "link",
        "eye",
        "scenarios/link/redriver.yaml",
        "--variant",
        "redriver",
        "--report",
        "report.html",
    ],
    "elements": ["link", "elements"],
    "place": ["link", "place", CHANNEL, "--retimers", "2"],
    "train": ["link", "train", CHANNEL, "--variant", "retimer"],
    "cycle": ["link", "cycle", "--channel", CHANNEL, "--variant", "as-is", "--count", "20"],
    "plan of cycles": [
        "link",
        "cycle",
        "--fake",
        "scenarios/link/gen5-drive.txt",
        "--device",
        "0000:01:00.0",
        "--count",
        "20",
    ],
    "parts": ["parts", "list"],
    "part": ["parts", "show", "samsung-pm1743"],
    "assembly": ["parts", "show", "samsung-cmm-h"],
    "claims": ["validate", "--list"],
    "claim": ["validate", "section-i"],
    "discover": ["discover", "scenarios/link/gen5-drive.txt"],
    "page of a machine": ["discover", "scenarios/link/gen5-drive.txt", "--picture", "html"],
    "sweep": ["sweep", "scenarios/slots.yaml"],
    "search": ["search", "scenarios/slots.yaml", "--maximize", "throughput", "--trials", "6"],
}
"""Every command with `--lang` whose answer is not that of a run; of those tests are elsewhere."""


OF_SLOTS = {
    "slots",
    "host",
    "sw",
    "up",
    "each bay",
    "lanes",
    "lookups",
    "pages",
    "driver",
    "throughput@lookups",
}
OF_SLOTS |= {f"{name}{nth}" for name in ("ssd", "bay") for nth in range(1, 9)}
"""What the author of that scenario has named."""


def call(*words: str, width: int = 4000) -> str:
    """Return what a command prints on a wide terminal."""
    done = CliRunner().invoke(app, list(words), env={"COLUMNS": str(width)})
    assert done.exit_code in (0, 3), done.output
    return done.stdout


def names_of(words: list[str]) -> set[str]:
    """Return what others than us have named or written in the answer of a command."""
    found = json.loads(call(*words, "--json"))
    names = texts_under(found, *NAMED) | OF_SLOTS
    if words[0] == "validate" and "--list" not in words:
        names |= texts_under(engine.validate(words[1:])["claims"], *NAMED)
    if words[0] == "discover":
        names |= {_named(device) for device in found["devices"]}
    if words[:2] in (["link", "budget"], ["link", "eye"]):
        budget = engine.link_budget(words[2])
        names |= texts_under(budget, *NAMED).union(*(variant["budget"] for variant in budget["variants"]))
    # what is cut out of a line is cut out of what its author has written, too
    return {CODE.sub(" ", line) for name in names for line in name.splitlines()} | names


def ask_once(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let the engine compute an answer once: of each command two texts are made of the same."""
    answers: dict[str, Any] = {}
    for name in names:
        ask = getattr(engine, name)

        def once(*asked: Any, _name: str = name, _ask: Any = ask, **options: Any) -> Any:
            told = {option: value for option, value in options.items() if option != "progress"}
            plain = [value for value in asked if not callable(value)]
            key = json.dumps([_name, plain, told], default=str, sort_keys=True)
            if key not in answers:
                answers[key] = _ask(*asked, **options)
            return deepcopy(answers[key])

        monkeypatch.setattr(engine, name, once)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("language", OTHERS)
def test_a_command_says_nothing_in_english(
    command: str, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ask_once(monkeypatch, "link_eye", "link_train", "link_cycle", "validate", "run")
    words = [str(ROOT / word) if word.startswith("scenarios/") else word for word in COMMANDS[command]]
    names = names_of(words)
    said = call(*words, "--lang", language)
    pages = [page.read_text("utf-8") for page in tmp_path.rglob("report.html")]
    if said.startswith("<!doctype"):
        said, pages = "", [said]
    left = [(line.strip(), found) for line in said.splitlines() if (found := english(line, names))]
    for page in pages:
        parsed = html5lib.parse(page, namespaceHTMLElements=False)
        assert parsed.get("lang", "").startswith(language)
        left += [(text.strip(), found) for text in texts(parsed) if (found := english(text, names))]
    assert not left
