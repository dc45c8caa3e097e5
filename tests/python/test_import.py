"""Measurements of other programs: their numbers as they are, beside each other and beside predictions."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lanetwin.cli import app
from lanetwin.measured import imported
from lanetwin.measured.fio_hist import bin_middle
from lanetwin.measured.formats import FORMATS
from lanetwin.measured.values import Source, percentiles_of
from lanetwin.results import Results

SAMPLES: dict[str, tuple[str, str]] = {
    "fio-json": (
        "out.json",
        """fio: this platform does not support process shared mutexes
{ "fio version": "fio-3.1", "jobs": [ { "jobname": "seq", "groupid": 0, "error": 0,
  "job options": { "name": "a", "name": "b" },
  "read": { "total_ios": 1000, "bw_bytes": 28700000000, "bw": 28027343, "iops": 218963.6, "runtime": 1000,
    "lat_ns": { "mean": 292000.5, "N": 1000 },
    "clat_ns": { "mean": 290000, "N": 1000, "percentile": { "50.000000": 280000, "99.000000": 400000 } } },
  "write": { "total_ios": 0, "iops": 0 } } ] }
""",
    ),
    "fio-terse": (
        "minimal.txt",
        "fio: a word before\n3;fio-3.33;seq;0;0;1048576;524288;131072;2000;"
        + "1;9;1.5;0.5;2;20;8.25;1.5;"
        + "50.000000%=7;99.000000%=19;"
        + "0%=0;" * 18
        + "3;25;9.75;1.5;0;0;0.0%;0.0;0.0;"
        + "0;0;0;0;0;0;0.0;0.0;0;0;0.0;0.0;"
        + "0%=0;" * 20
        + "0;0;0.0;0.0;0;0;0.0%;0.0;0.0;1.0%;2.0%;7;0;9\n",
    ),
    "fio-log": ("randread_lat.1.log", "1, 1000, 0, 4096, 0\n2, 3000, 0, 4096, 0\n"),
    "fio-hist": (
        "run_clat_hist.1.log",
        "1000, 0, 4096, " + ", ".join(["0"] * 100 + ["5"] + ["0"] * 1755) + "\n",
    ),
    "iometer": (
        "results.csv",
        "'Test Type\n0\n'Results\n"
        "'Target Type,Target Name,Access Specification Name,IOps,MBps (Binary),MBps (Decimal),"
        "Average Response Time,Maximum Response Time,Errors\n"
        "ALL,All,2 MiB reads,1500.5,3001,3146.777,0.66,4.2,0\n"
        "DISK,E:,2 MiB reads,1500.5,3001,3146.777,0.66,4.2,0\n",
    ),
    "sysbench": (
        "sysbench.txt",
        "sysbench 1.0.20 (using system LuaJIT 2.1.0)\n\nFile operations:\n    reads/s:    2536.14\n"
        "    writes/s:    0.00\n\nThroughput:\n    read, MiB/s:    39.63\n"
        "    written, MiB/s:    0.00\n\nLatency (ms):\n         min:    0.00\n"
        "         avg:    0.39\n         max:    9.52\n"
        "         95th percentile:    0.80\n         sum:    9983.10\n",
    ),
    "ycsb": (
        "ycsb.txt",
        "[OVERALL], RunTime(ms), 10110\n[OVERALL], Throughput(ops/sec), 98911.9683\n"
        "[READ], Operations, 50000\n"
        "[READ], AverageLatency(us), 123.5\n[READ], 95thPercentileLatency(us), 200\n"
        "[READ], 99thPercentileLatency(us), 300\n[READ], Return=OK, 50000\n",
    ),
    "memtier": (
        "memtier.txt",
        "ALL STATS\n" + "=" * 60 + "\n"
        "Type       Ops/sec   Hits/sec   Misses/sec    Avg. Latency   p50 Latency   p99 Latency   KB/sec \n"
        + "-"
        * 60
        + "\n"
        "Sets       9091.28   ---        ---           1.98700        1.79100       6.33500       700.00 \n"
        "Totals     99999.99  0.00       90908.71      1.98665        1.79100       6.30300      4000.00 \n",
    ),
    "redis-benchmark": (
        "redis.txt",
        "====== SET ======\n  100000 requests completed in 1.20 seconds\n  50 parallel clients\n\nSummary:\n"
        "  throughput summary: 83333.34 requests per second\n  latency summary (msec):\n"
        "          avg       min       p50       p95       p99       max\n"
        "        0.312     0.088     0.303     0.447     0.607     2.303\n",
    ),
    "mlc": (
        "mlc.txt",
        "Intel(R) Memory Latency Checker - v3.11\nMeasuring idle latencies for random access (in ns)...\n"
        "\t\tNuma node\nNuma node\t     0\t     1\t\n       0\t 104.1\t 190.2\t\n       1\t 191.0\t-\t\n"
        "Measuring Peak Injection Memory Bandwidths for the system\n"
        "ALL Reads        :\t231123.4\t\n3:1 Reads-Writes :\t212345.0\t\n"
        "Measuring Loaded Latencies for the system\nInject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n"
        "==========================\n 00000\t260.52\t 230789.1\n 00100\t130.10\t 100000.0\n",
    ),
    "smart": (
        "smart.txt",
        "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\ncritical_warning\t\t\t: 0\n"
        "temperature\t\t\t\t: 35 °C (308 K)\navailable_spare\t\t\t\t: 100%\npercentage_used\t\t\t\t: 3%\n"
        "Data Units Written\t\t\t: 2,000,000 (1.02 TB)\nmedia_errors\t\t\t\t: 0\n",
    ),
}
"""A short file of each format."""
TOLD: dict[str, dict[tuple[str, str], float]] = {
    "fio-json": {("seq", "throughput"): 28_700.0, ("seq", "IOPS"): 218.9636, ("seq", "latency"): 292_000.5},
    "fio-terse": {
        ("seq", "throughput"): 536.870912,
        ("seq", "IOPS"): 131.072,
        ("seq", "latency"): 9750.0,
        ("seq", "completion latency"): 8250.0,
    },
    "fio-log": {("randread", "latency"): 2000.0},
    "fio-hist": {("run", "completion latency"): 100.0},
    "iometer": {("2 MiB reads", "throughput"): 3146.777, ("2 MiB reads", "latency"): 660_000.0},
    "sysbench": {("test", "throughput"): 39.63 * 1.048576, ("test", "latency"): 390_000.0},
    "ycsb": {("all", "operations"): 98.9119683, ("read", "latency"): 123_500.0},
    "memtier": {("all", "operations"): 99.99999, ("set", "latency"): 1_987_000.0},
    "redis-benchmark": {("SET", "operations"): 83.33334, ("SET", "latency"): 312_000.0},
    "mlc": {
        ("node 0 to 1", "latency"): 190.2,
        ("all-reads", "throughput"): 231.1234,
        ("delay 100", "latency"): 130.1,
    },
    "smart": {("now", "temperature"): 35.0, ("now", "percentage used"): 3.0, ("now", "data written"): 1024.0},
}
"""What it says, in the units of results."""


def call(runner: CliRunner, *words: str) -> Result:
    """Run the command."""
    return runner.invoke(app, list(words))


def read(file: Path, text: str, **options: Any) -> Results:
    """Write a file and import it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return imported([file], version="0.0.0", **options)


def values(results: Results) -> dict[tuple[str, str], float]:
    """Return the values of whole tests."""
    return {(r["case"], r["metric"]): r["value"] for r in results["rows"] if not r.get("device")}


def test_every_format_has_a_sample() -> None:
    assert sorted(SAMPLES) == sorted(TOLD) == sorted(one.name for one in FORMATS)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_is_recognised_and_its_numbers_are_kept(name: str, tmp_path: Path) -> None:
    file, text = SAMPLES[name]
    results = read(tmp_path / file, text)
    assert results["kind"] == "measured"
    assert list(results["options"]["imported"].values()) == [name]
    told = values(results)
    for place, value in TOLD[name].items():
        assert told[place] == pytest.approx(value), place
    source = Source(file, Path(file).stem)
    recognising = [one.name for one in FORMATS if one.recognises(text, source)]
    assert recognising == [name]


def test_percentiles_are_kept_in_ns(tmp_path: Path) -> None:
    tails = {
        name: next(dict(r["percentiles"]) for r in read(tmp_path / file, text)["rows"] if r["percentiles"])
        for name, (file, text) in SAMPLES.items()
        if name in ("fio-json", "fio-terse", "ycsb", "memtier", "redis-benchmark", "sysbench")
    }
    assert tails["fio-json"][50.0] == 280_000.0
    assert tails["fio-terse"][99.0] == 19_000.0
    assert tails["ycsb"][99.0] == 300_000.0
    assert tails["memtier"][99.0] == pytest.approx(6_335_000.0)
    assert tails["redis-benchmark"][99.0] == pytest.approx(607_000.0)
    assert tails["sysbench"][95.0] == pytest.approx(800_000.0)


def test_what_programs_print_here_is_read(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    words = [require_tool("sysbench"), "memory", "--memory-total-size=20M", "run"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    said = re.search(r"transferred \(([\d.]+) MiB/sec", done.stdout)
    assert said
    told = values(read(tmp_path / "memory.txt", done.stdout))
    assert told["test", "throughput"] == pytest.approx(float(said[1]) * 1.048576)


FIO = {
    "null": ["--ioengine=null", "--size=1g", "--number_ios=2000"],
    "file": ["--ioengine=psync", "--size=4m"],
    "libaio": ["--ioengine=libaio", "--iodepth=8", "--size=4m"],
    "io_uring": ["--ioengine=io_uring", "--iodepth=8", "--size=4m"],
}
"""Engines that run anywhere."""


@pytest.mark.parametrize("form", ["json", "json+"])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("engine", FIO)
def test_what_fio_says_is_what_is_imported(
    engine: str, grouped: bool, form: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    fio = require_tool("fio")
    words = [fio, "--name=job", "--rw=randrw", "--bs=4k", "--numjobs=2", "--thread", *FIO[engine]]
    words += [
        f"--directory={tmp_path}",
        f"--output-format={form}",
        *(["--group_reporting"] if grouped else []),
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path)
    if "Operation not permitted" in done.stdout + done.stderr or done.returncode:
        pytest.skip(f"fio cannot use {engine} here: {done.stderr[:200]}")
    results = read(tmp_path / "x" / "fio.json", done.stdout)
    jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert len(jobs) == (1 if grouped else 2)
    told = values(results)
    for way in ("read", "write"):
        assert told["job", f"{way} throughput"] == pytest.approx(sum(j[way]["bw_bytes"] for j in jobs) / 1e6)
        assert told["job", f"{way} IOPS"] == pytest.approx(sum(j[way]["iops"] for j in jobs) / 1e3)
        whole = sum(j[way]["lat_ns"]["mean"] * j[way]["lat_ns"]["N"] for j in jobs)
        assert told["job", f"{way} latency"] == pytest.approx(
            whole / sum(j[way]["lat_ns"]["N"] for j in jobs)
        )
    for nth, job in enumerate(jobs if not grouped else []):
        own = {r["metric"]: r for r in results["rows"] if r.get("device") == f"job.{nth}"}
        assert own["read throughput"]["value"] == pytest.approx(job["read"]["bw_bytes"] / 1e6)
        clat = own["read completion latency"]
        assert clat["value"] == pytest.approx(job["read"]["clat_ns"]["mean"])
        assert dict(clat["percentiles"])[99.0] == job["read"]["clat_ns"]["percentile"]["99.000000"]
    together = next(
        r for r in results["rows"] if r["metric"] == "read completion latency" and not r.get("device")
    )
    assert bool(together["percentiles"]) == (grouped or form == "json+")


@pytest.mark.parametrize("version", ["2", "3", "4", "5"])
def test_terse_output_says_what_json_says(
    version: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    words = [require_tool("fio"), "--name=job", "--rw=randrw", "--bs=4k", "--numjobs=2", "--thread"]
    words += ["--size=8m", "--ioengine=psync", f"--directory={tmp_path}", f"--terse-version={version}"]
    words += ["--output-format=json,terse"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60, cwd=tmp_path)
    end = done.stdout.rindex("}") + 1
    start = done.stdout.index("{")
    terse = done.stdout[:start] + done.stdout[end:]
    found = read(tmp_path / "terse.txt", terse)
    assert found["options"]["imported"] == {str(tmp_path / "terse.txt"): "fio-terse"}
    told, said = values(found), values(read(tmp_path / "out.json", done.stdout[start:end]))
    assert set(told) == set(said)
    # its times have a resolution of 1 ns and its rates of 1 KiB/s and 1/s
    for key, value in said.items():
        assert told[key] == pytest.approx(value, rel=0.01), key


def test_percentiles_of_bins_are_those_of_fio(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    words = [require_tool("fio"), "--name=job", "--rw=randread", "--size=8m", "--ioengine=psync"]
    done = subprocess.run(
        [*words, f"--directory={tmp_path}", "--output-format=json+"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=tmp_path,
    )
    clat = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]["clat_ns"]
    bins = [(float(at), count) for at, count in clat["bins"].items()]
    for percent, value in percentiles_of(bins, (50.0, 90.0, 99.0)):
        assert value == pytest.approx(clat["percentile"][f"{percent:.6f}"], rel=0.02)


def test_logs_say_what_the_summary_says(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    words = [require_tool("fio"), "--name=job", "--rw=randread", "--size=8m", "--ioengine=psync"]
    words += ["--write_lat_log=job", "--write_bw_log=job", "--write_iops_log=job", "--write_hist_log=job"]
    words += ["--log_hist_msec=10", "--time_based", "--runtime=1"]
    words += [f"--directory={tmp_path}", "--output-format=json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60, cwd=tmp_path)
    said = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]
    # an engine that submits nothing leaves an empty log
    logs = {file.name for file in tmp_path.glob("*.log") if file.stat().st_size}
    found = {
        row["metric"]: row
        for name in sorted(logs)
        for row in imported([tmp_path / name], version="0")["rows"]
    }
    assert found["latency"]["value"] == pytest.approx(said["lat_ns"]["mean"], rel=0.01)
    histogram = imported([tmp_path / "job_clat_hist.1.log"], version="0")["rows"][0]
    # fio does not write the interval in which it ends
    assert histogram["value"] == pytest.approx(said["clat_ns"]["mean"], rel=0.05)
    for percent, value in histogram["percentiles"]:
        if percent <= 95:
            assert value == pytest.approx(said["clat_ns"]["percentile"][f"{percent:.6f}"], rel=0.1)
    assert {"throughput", "IOPS", "completion latency"} <= set(found)


def test_bins_of_a_histogram_are_those_of_fio() -> None:
    assert [bin_middle(at) for at in (0, 127, 128, 191, 192)] == [0.0, 127.0, 129.0, 255.0, 258.0]
    assert bin_middle(64, 1) == (bin_middle(128) + bin_middle(129)) / 2


def test_version_2_counts_microseconds_and_kib(tmp_path: Path) -> None:
    old = {
        "fio version": "fio-2.16",
        "jobs": [
            {
                "jobname": "old",
                "groupid": 0,
                "read": {
                    "io_bytes": 4096,
                    "bw": 1000,
                    "iops": 250.0,
                    "runtime": 4000,
                    "lat": {"mean": 12.5},
                    "clat": {"mean": 11.0, "percentile": {"99.000000": 30, "0.00": 0}},
                },
            }
        ],
    }
    results = read(tmp_path / "old.json", json.dumps(old))
    told = values(results)
    assert told["old", "throughput"] == pytest.approx(1.024)
    assert told["old", "latency"] == 12_500.0
    clat = next(r for r in results["rows"] if r["metric"] == "completion latency")
    assert [tuple(pair) for pair in clat["percentiles"]] == [(99.0, 30_000.0)]


def document(ios: int, timestamp: int, elapsed: int, name: str = "a") -> str:
    """Return a document of fio with one job."""
    read_ = {"total_ios": ios, "bw_bytes": ios * 1_000_000, "iops": ios, "lat_ns": {"mean": 5, "N": ios}}
    job = {"jobname": name, "groupid": 0, "elapsed": elapsed, "read": read_}
    return json.dumps({"fio version": "fio-3.35", "timestamp": timestamp, "jobs": [job]})


def test_documents_one_after_another_are_runs_or_the_growth_of_one(tmp_path: Path) -> None:
    growth = document(1, 1000, 1) + "\n" + document(2, 1001, 2) + document(3, 1002, 3)
    assert values(read(tmp_path / "growth.json", growth)) == {
        ("a", "throughput"): 3.0,
        ("a", "IOPS"): 0.003,
        ("a", "latency"): 5.0,
    }
    runs = document(1, 1000, 1) + "words {between}\n" + document(2, 2000, 2)
    told = values(read(tmp_path / "runs.json", runs))
    assert (told["a", "throughput"], told["a #2", "throughput"]) == (1.0, 2.0)


PREDICTION = """\
about: What does this job file give on a generic drive?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-nvme-gen4}
links:
  bay: {from: host, to: ssd}
workloads:
  random: {fio: {rw: randread, bs: 4k, iodepth: 8, requests: 200}, on: host, target: ssd}
run: {repeats: 2}
"""


def test_a_prediction_is_compared_with_a_measurement(runner: CliRunner) -> None:
    Path("s.yaml").write_text(PREDICTION, encoding="utf-8")
    Path("disk.json").write_text(SAMPLES["fio-json"][1], encoding="utf-8")
    assert call(runner, "run", "s.yaml", "--out", "predicted").exit_code == 0
    predicted = json.loads(Path("predicted/results.json").read_text(encoding="utf-8"))
    for words in (["disk.json", "predicted"], ["predicted", "disk.json"]):
        done = call(runner, "compare", *words, "--out", "both", "--force")
        assert done.exit_code == 0, done.stderr
        assert "mean of the absolute errors" in done.stdout
        assert "workload disk is taken for random" in done.stdout
    both = json.loads(Path("both/results.json").read_text(encoding="utf-8"))
    assert both["verdicts"] == []
    page = Path("both/report.html").read_text(encoding="utf-8")
    assert "Errors of the prediction" in page
    value = next(r["value"] for r in predicted["rows"] if r["metric"] == "latency" and not r.get("device"))
    error = value / 292_000.5 - 1
    shown = re.search(r"latency\s.*\s([−+][\d.]+)\u202f%", done.stdout)
    assert shown
    assert float(shown[1].replace("−", "-")) == pytest.approx(error * 100, abs=0.06)


def test_measurements_are_compared_with_each_other_and_foreign_files_are_refused(runner: CliRunner) -> None:
    Path("a.json").write_text(document(1000, 1000, 1), encoding="utf-8")
    Path("b.json").write_text(document(2000, 1000, 1), encoding="utf-8")
    Path("c.json").write_text("{}", encoding="utf-8")
    done = call(runner, "import", "a.json", "--workload", "t", "--out", "a")
    assert done.exit_code == 0, done.stderr
    assert call(runner, "import", "b.json", "--workload", "t", "--out", "b").exit_code == 0
    done = call(runner, "compare", "a", "b")
    assert done.exit_code == 0, done.stderr
    assert "+100.0" in done.stdout
    assert call(runner, "import", "b.json", "--workload", "u", "--variant", "v", "--out", "u").exit_code == 0
    empty = json.loads(Path("a/results.json").read_text(encoding="utf-8")) | {"rows": [], "complete": False}
    Path("e.json").write_text(json.dumps(empty), encoding="utf-8")
    done = call(runner, "compare", "a", "e.json")
    assert done.exit_code == 1
    assert "error[RS017] e.json" in done.stderr
    assert "no rows" in done.stderr
    done = call(runner, "compare", "a", "c.json")
    assert done.exit_code == 1
    assert "error[RS003] c.json" in done.stderr
    done = call(runner, "import", "a.json", "--workload", "t", "--out", "a")
    assert done.exit_code == 1
    assert "error[RS006]" in done.stderr
