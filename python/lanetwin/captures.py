"""TLPs of a run as a capture file, and the dissector with which Wireshark reads it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lanetwin.results import Results

ATTACHMENT = "tlps.pcapng.base64"
"""The attachment of results with captured TLPs: the file."""
COUNTS = "tlps.json"
"""The attachment with their number."""
PACKETS = 100_000
"""Default number of captured TLPs: some 10 MB."""
PACKETS_MAX = 5_000_000
"""Maximum number, for the memory of most machines: each takes some 270 B at the end of a run."""
DISSECTOR = Path(__file__).parent / "wireshark" / "lanetwin.lua"


class Capture(NamedTuple):
    """A capture file."""

    file: bytes
    packets: int
    """Number of TLPs in it."""
    started: int
    """Number of TLPs that started on the links, captured or not."""

    @property
    def missing(self) -> int:
        """Number of TLPs that are not in it."""
        return self.started - self.packets


def take(results: Results) -> Capture:
    """Take the capture out of the attachments of results."""
    attached = results.get("attachments", [])
    texts = {file["name"]: file["text"] for file in attached}
    results["attachments"] = [file for file in attached if file["name"] not in (ATTACHMENT, COUNTS)]
    counts = json.loads(texts[COUNTS])
    return Capture(base64.b64decode(texts[ATTACHMENT]), counts["packets"], counts["started"])
