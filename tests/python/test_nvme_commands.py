"""What `nvme` commands see at the door by NVMe/TCP, beside Linux nvmet and QEMU's own drive."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from guest import Hardware, booted, require_guest
from nvme_differences import FILE, PAGE, Told, differences, flat, load, page, unlisted
from test_linux_initiator import SCENARIO, served

if TYPE_CHECKING:
    import pytest

HERE = Path(__file__).parent
GIB = 1 << 30
LONG_S = 240.0
"""Longer than any command of the guest takes, where others compute."""


def test_every_difference_has_its_reason_and_the_page_tells_it() -> None:
    known = load()
    assert all(len(record["why"].split()) > 2 for records in known.values() for record in records)
    text = PAGE.read_text(encoding="utf-8")
    right = page(text, known)
    if os.environ.get("ACCEPT"):
        PAGE.write_text(right, encoding="utf-8")
        text = right
    assert text == right, "ACCEPT=1 writes the tables anew"


def test_what_is_not_listed_is_found() -> None:
    record = {"field": ["a", "b"], "lanetwin": 1, "nvmet": 2, "qemu": "varies", "why": "so it is"}
    found: Told = {
        "id-ctrl a": {"lanetwin": 1, "nvmet": 2, "qemu": 7},
        "id-ctrl b": {"lanetwin": 1, "nvmet": 3, "qemu": 7},
        "id-ctrl c": {"lanetwin": 1, "nvmet": 2, "qemu": 1},
    }
    said = unlisted(found, {"id-ctrl": [record]})
    assert [line.split(":")[0] for line in said] == ["id-ctrl b", "id-ctrl c"]
    # what varies may be equal once
    assert unlisted({}, {"id-ctrl": [record]}) == []
    assert unlisted({}, {"id-ctrl": [{**record, "qemu": 1}]}) == [
        "id-ctrl a is listed and does not differ",
        "id-ctrl b is listed and does not differ",
    ]
    assert differences({"x": {"lanetwin": 1, "nvmet": 1}}) == {
        "x": {"lanetwin": 1, "nvmet": 1, "qemu": "absent"}
    }
    assert flat({"a": {"b": [1, {"c": 2}]}, "d": []}) == {"a.b[0]": 1, "a.b[1].c": 2, "d": "[]"}


def test_nvme_commands_differ_from_nvmet_and_qemu_as_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/sbin:/usr/sbin")
    tools = require_guest("nvme")
    script = (HERE / "nvme_commands.sh").read_text(encoding="utf-8")
    image = tmp_path / "qemu.raw"
    with image.open("wb") as file:
        file.truncate(GIB)
    drive = ("-drive", f"file={image},format=raw,if=none,id=nvm", "-device", "nvme,serial=qemu,drive=nvm")
    hardware = Hardware(options=drive)
    told: Told = {}
    with (
        served(tmp_path, SCENARIO) as target,
        booted(tmp_path, tools, f"PORT={target.port}\n{script}", hardware) as guest,
    ):
        while not (line := guest.said("", LONG_S)).startswith(("ENDED", "FAILED")):
            _take(line, told)
        assert line == "ENDED 0", guest.tail()
    found = differences(told)
    if where := os.environ.get("LANETWIN_TOLD"):
        Path(where).write_text(yaml.safe_dump({"told": told, "found": found}, sort_keys=False, width=200))
    said = unlisted(found, load())
    assert not said, f"{FILE.name} does not say so:\n" + "\n".join(said)
    # what the specification alone is a judge of: Sanitize, NVM Express Base 2.0, 5.24 and 5.16.1.25
    after = {key: values for key, values in told.items() if key.startswith("sanitize-log-after")}
    log = {key.rpartition(" drive.")[2]: values.get("lanetwin") for key, values in after.items()}
    assert (log["sprog"], log["sstat.global_erased"], str(log["sstat.status"])[:3]) == (0xFFFF, 1, "(1)")
    assert told["commands after Sanitize, Block Erase"]["lanetwin"] == "ok zeroes"


def _take(line: str, told: Told) -> None:
    """Take in what the guest has printed: `TOLD who structure json`, `DID who command: outcome`."""
    kind, _, rest = line.partition(" ")
    who, _, rest = rest.partition(" ")
    if kind == "TOLD":
        what, _, document = rest.partition(" ")
        for field, value in flat(json.loads(document)).items():
            told.setdefault(f"{what} {field}", {})[who] = value
    elif kind == "DID":
        command, _, outcome = rest.rpartition(": ")
        told.setdefault(f"commands {command}", {})[who] = outcome
