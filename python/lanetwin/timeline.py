"""Operations of a run as a timeline for Perfetto: each with its stages, and their components."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypedDict

from lanetwin.errors import Diagnostic, LanetwinError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lanetwin.results import Results

ATTACHMENT = "timeline.json"
"""The attachment of results with operations."""
PS_PER_NS = 1000


class Operation(TypedDict):
    """One traced operation."""

    what: str
    device: str | None
    at: int
    """Time of its submission [ps]."""
    stages: list[tuple[str, int]]
    """Time in each stage, in sequence [ps]."""


class Case(TypedDict):
    """The operations of a case, in its first repeat."""

    variant: str
    workload: str
    case: str
    window: list[int]
    """Begin and end of the measurement [ps]."""
    operations: list[Operation]


def require() -> Any:
    """Return the library for Perfetto's format.

    Raises `LanetwinError` (RS011) without it.
    """
    try:
        return import_module("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    except ImportError as error:
        found = Diagnostic(
            code="RS011",
            severity="error",
            message="a timeline needs perfetto, which is not installed",
            help="pip install 'lanetwin[trace]'",
        )
        raise LanetwinError("", [found]) from error


def take(results: Results) -> list[Case]:
    """Take the operations out of the attachments of results."""
    kept = [file for file in results.get("attachments", []) if file["name"] != ATTACHMENT]
    texts = [file["text"] for file in results.get("attachments", []) if file["name"] == ATTACHMENT]
    results["attachments"] = kept
    cases: list[Case] = json.loads(texts[0]) if texts else []
    return cases


def place_of(stage: str) -> str:
    """Return the place of a stage: the component, or the link.

    >>> place_of("ssd: flash read"), place_of("slot host → ssd")
    ('ssd', 'slot host → ssd')
    """
    return stage.partition(": ")[0]


def lanes(spans: Iterable[tuple[int, int]]) -> list[int]:
    """Return for each span, in the order of begins, a lane without overlaps.

    >>> lanes([(0, 5), (2, 4), (5, 9), (6, 7)])
    [0, 1, 0, 1]
    """
    ends: list[int] = []
    found = []
    for begin, end in spans:
        lane = next((nth for nth, until in enumerate(ends) if until <= begin), len(ends))
        ends[lane:] = [end, *ends[lane + 1 :]]
        found.append(lane)
    return found


def perfetto(cases: Iterable[Case]) -> bytes:
    """Write cases as a trace of Perfetto: for each a track of operations, and one for each place.

    Times are those of the simulated machine, rounded to nanoseconds, the unit of Perfetto.

    Raises `LanetwinError` (RS011) without the library.
    """
    trace = _Trace(require())
    for case in cases:
        root = trace.track(
            " ".join(word for word in (case["variant"], case["workload"], case["case"]) if word)
        )
        _operations(trace, trace.track("operations", root), case["operations"])
        for place, spans in _places(case["operations"]).items():
            own = trace.track(place, root)
            _in_lanes(trace, own, place, spans)
    return trace.written()


def _operations(trace: _Trace, parent: int, operations: list[Operation]) -> None:
    """Write every operation with its stages inside of it."""
    spans = [(one["at"], one["at"] + sum(ps for _, ps in one["stages"])) for one in operations]
    tracks: dict[int, int] = {}
    for one, (begin, end), lane in zip(operations, spans, lanes(spans), strict=True):
        if lane not in tracks:
            tracks[lane] = trace.track(f"operation {lane + 1}", parent)
        name = one["what"] + (f" {one['device']}" if one["device"] else "")
        trace.begin(tracks[lane], begin, name, end - begin)
        for stage, since, until in _stages(one):
            trace.begin(tracks[lane], since, stage, until - since)
            trace.end(tracks[lane], until)
        trace.end(tracks[lane], end)


def _in_lanes(trace: _Trace, own: int, place: str, spans: list[tuple[int, int, str]]) -> None:
    """Write the spans of a place, side by side if they overlap."""
    spans.sort()
    tracks = {0: own}
    for (begin, end, stage), lane in zip(spans, lanes((s[0], s[1]) for s in spans), strict=True):
        if lane not in tracks:
            tracks[lane] = trace.track(f"{place} {lane + 1}", own)
        trace.begin(tracks[lane], begin, stage.removeprefix(f"{place}: "), end - begin)
        trace.end(tracks[lane], end)


def _places(operations: list[Operation]) -> dict[str, list[tuple[int, int, str]]]:
    """Return the spans of each place: begin, end and stage."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    for one in operations:
        for stage, since, until in _stages(one):
            found.setdefault(place_of(stage), []).append((since, until, stage))
    return dict(sorted(found.items()))


def _stages(one: Operation) -> Iterator[tuple[str, int, int]]:
    """Yield the stages of an operation, each with begin and end [ps]."""
    at = one["at"]
    for stage, ps in one["stages"]:
        yield stage, at, at + ps
        at += ps


class _Trace:
    """A trace of Perfetto under construction."""

    def __init__(self, library: Any) -> None:
        self._trace = library.Trace()
        self._event = library.TrackEvent
        self._tracks = 0

    def track(self, name: str, parent: int | None = None) -> int:
        """Begin a track and return its identifier."""
        self._tracks += 1
        packet = self._trace.packet.add()
        packet.track_descriptor.uuid = self._tracks
        packet.track_descriptor.name = name
        if parent is not None:
            packet.track_descriptor.parent_uuid = parent
        return self._tracks

    def begin(self, track: int, at: int, name: str, lasts: int) -> None:
        """Begin a slice, with its exact length as a note [ps]."""
        event = self._at(track, at, self._event.TYPE_SLICE_BEGIN)
        event.name = name
        exact = event.debug_annotations.add()
        exact.name, exact.int_value = "ps", lasts

    def end(self, track: int, at: int) -> None:
        """End the last slice."""
        self._at(track, at, self._event.TYPE_SLICE_END)

    def _at(self, track: int, at: int, kind: int) -> Any:
        packet = self._trace.packet.add()
        packet.timestamp = (at + PS_PER_NS // 2) // PS_PER_NS
        packet.trusted_packet_sequence_id = 1
        packet.track_event.type = kind
        packet.track_event.track_uuid = track
        return packet.track_event

    def written(self) -> bytes:
        """Return it as bytes."""
        text: bytes = self._trace.SerializeToString(deterministic=True)
        return text
