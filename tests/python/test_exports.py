"""What a run leaves for other programs: readers of HdrHistogram and Perfetto see the results' own numbers."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lanetwin import timeline
from lanetwin.cli import app
from lanetwin.errors import LanetwinError

HdrHistogram = pytest.importorskip("hdrh.histogram").HdrHistogram
HistogramLogReader = pytest.importorskip("hdrh.log").HistogramLogReader
perfetto = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")

SCENARIO = """about: How long does it take?
machine: {host: {part: generic-host-gen4}, ssd: {part: generic-nvme-gen4}}
links: {slot: {from: host, to: ssd, width: x4}}
workloads:
  mixed: {block: {size: 4KiB, depth: 4, read: 70%, span: 1GiB, requests: 300}, on: host, target: ssd}
variants: {direct: {}, narrow: {links.slot.width: x1}}
run: {repeats: 1, seed: 1}
"""
HOUR_PS = 3_600 * 10**12


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    (folder / "mixed.yaml").write_text(SCENARIO)
    options = ["--hdr", "--trace", str(folder / "run.pftrace"), "--out", str(folder / "out"), "--quiet"]
    done = CliRunner().invoke(app, ["run", str(folder / "mixed.yaml"), *options])
    assert done.exit_code == 0, done.output
    return folder


def results(exported: Path) -> Any:
    return json.loads((exported / "out" / "results.json").read_text())


def logged(exported: Path) -> dict[str, Any]:
    """Read the log as HdrHistogram's own reader does."""
    reader = HistogramLogReader(str(exported / "out" / "latency.hlog"), HdrHistogram(1, HOUR_PS, 3))
    found = {}
    while (interval := reader.get_next_interval_histogram()) is not None:
        found[interval.get_tag()] = interval
    reader.close()
    return found


def at(histogram: Any, percent: float) -> float:
    """Return what so many percent do not exceed [ns]: HdrHistogram itself rounds the rank to the nearest."""
    rank, below = math.ceil(histogram.get_total_count() * percent / 100 - 1e-9), 0
    for step in histogram.get_recorded_iterator():
        below += step.count_added_in_this_iter_step
        if below >= rank:
            break
    highest = histogram.get_highest_equivalent_value(step.value_iterated_to)
    return float(min(highest, histogram.get_max_value()) / 1000)


def test_a_log_of_hdrhistogram_has_the_counts_and_percentiles_of_the_results(exported: Path) -> None:
    document, found = results(exported), logged(exported)
    kinds = {one["operation"] for one in document["waterfalls"]}
    assert kinds == {"read", "write"}
    for of in document["waterfalls"]:
        tag = "/".join(word for word in (of["variant"], of["workload"], of["case"], of["operation"]) if word)
        assert found[tag.replace(" ", "_")].get_total_count() == sum(of["operations"])
    rows = [row for row in document["rows"] if row["metric"].endswith("latency") and row.get("percentiles")]
    compared = 0
    for row in rows:
        kind = row["metric"].removesuffix("latency").strip()
        tags = [tag for tag in found if tag.startswith(row["variant"]) and tag.endswith(kind)]
        together = HdrHistogram(1, HOUR_PS, 3)
        for tag in tags:
            together.add(found[tag])
        for percent, value in row["percentiles"]:
            assert at(together, percent) == pytest.approx(value, rel=1e-3)
            compared += 1
    assert compared >= 8


def slices(exported: Path) -> tuple[dict[str, list[tuple[str, int]]], list[str]]:
    """Read a trace: of each case what its operations were in, and how long [ns]; and all tracks."""
    trace = perfetto.Trace()
    trace.ParseFromString((exported / "run.pftrace").read_bytes())
    names, parents = {}, {}
    opened: dict[int, list[tuple[str, int]]] = {}
    found: dict[str, list[tuple[str, int]]] = {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            names[packet.track_descriptor.uuid] = packet.track_descriptor.name
            parents[packet.track_descriptor.uuid] = packet.track_descriptor.parent_uuid
            continue
        track = packet.track_event.track_uuid
        if packet.track_event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN:
            opened.setdefault(track, []).append((packet.track_event.name, packet.timestamp))
            continue
        name, since = opened[track].pop()
        assert packet.timestamp >= since
        if names[parents[track]] == "operations":
            case = names[parents[parents[track]]]
            found.setdefault(case, []).append((name, packet.timestamp - since))
    assert not any(opened.values()), "every slice ends"
    return found, list(names.values())


def test_a_timeline_has_the_operations_and_stages_of_the_results(exported: Path) -> None:
    found, tracks = slices(exported)
    assert {"operations", "ssd"} <= set(tracks)
    assert len(found) == 2
    for of in results(exported)["waterfalls"]:
        case = next(key for key in found if key.startswith(of["variant"]))
        whole = [length for name, length in found[case] if name == of["operation"]]
        assert len(whole) == of["operations"][0]
        assert abs(sum(whole) - of["totals_ps"][0] / 1000) <= len(whole), "each within 1 ns"
    both = results(exported)["waterfalls"]
    read, written = ([of for of in both if of["operation"] == kind] for kind in ("read", "write"))
    for reads, writes in zip(read, written, strict=True):
        case = next(key for key in found if key.startswith(reads["variant"]))
        for stage in {one["name"] for of in (reads, writes) for one in of["stages"]}:
            lengths = [length for name, length in found[case] if name == stage]
            told = sum(
                one["sums_ps"][0] / 1000
                for of in (reads, writes)
                for one in of["stages"]
                if one["name"] == stage
            )
            assert abs(sum(lengths) - told) <= len(lengths) + 1, stage


def test_exports_change_no_result(exported: Path, tmp_path: Path) -> None:
    options = ["--json", "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(app, ["run", str(exported / "mixed.yaml"), *options])
    assert json.loads(done.stdout)["digest"] == results(exported)["digest"]
    assert not (tmp_path / "o" / "latency.hlog").exists()


def test_a_trace_is_not_written_over_anything(exported: Path) -> None:
    options = ["--trace", str(exported / "run.pftrace")]
    done = CliRunner().invoke(app, ["run", str(exported / "mixed.yaml"), *options])
    assert done.exit_code == 1
    assert "RS006" in done.stderr


def test_without_the_library_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(timeline, "import_module", missing)
    with pytest.raises(LanetwinError) as refused:
        timeline.require()
    assert "lanetwin[trace]" in str(refused.value)
