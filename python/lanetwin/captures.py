"""TLPs of a run as a capture file, and the dissector with which Wireshark reads it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lanetwin.results import Results

ATTACHMENT = "tlps.pcapng.base64"
"""What the engine attaches to results if it is asked for TLPs: the file."""
COUNTS = "tlps.json"
"""And how many there are."""
PACKETS = 100_000
"""How many TLPs are captured unless somebody says otherwise: some 10 MB."""
PACKETS_MAX = 5_000_000
"""More would not fit into the memory of most machines: each takes some 270 B while a run ends."""
DISSECTOR = Path(__file__).parent / "wireshark" / "lanetwin.lua"


class Capture(NamedTuple):
    """A capture file."""

    file: bytes
    packets: int
    """How many TLPs are in it."""
    started: int
    """How many started on the links meanwhile."""

    @property
    def missing(self) -> int:
        """How many are not in it."""
        return self.started - self.packets


def take(results: Results) -> Capture:
    """Take the capture out of the attachments of results."""
    attached = results.get("attachments", [])
    texts = {file["name"]: file["text"] for file in attached}
    results["attachments"] = [file for file in attached if file["name"] not in (ATTACHMENT, COUNTS)]
    counts = json.loads(texts[COUNTS])
    return Capture(base64.b64decode(texts[ATTACHMENT]), counts["packets"], counts["started"])
