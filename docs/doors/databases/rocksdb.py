#!/usr/bin/env python3
"""RocksDB in this folder, and a workload of YCSB with four threads: A, half reads and half updates, by Zipf.

    rocksdb.py prepare TEMPLATE
    rocksdb.py run TEMPLATE SECONDS

YCSB's client and RocksDB 6.22 for Java come from Maven Central (pom.xml); what joins them is
RocksDbBinding.java. The database is loaded once, in a folder of the host, and copied to each drive:
every run begins with the same bytes.

WORKLOAD names another one, B to F, as YCSB defines them; RECORDS, THREADS and CACHE_MIB the size of it.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from programs import copied, found, ran

HERE = Path(__file__).resolve().parent
THREADS = int(os.environ.get("THREADS", "4"))
WORKLOADS = {
    "a": {"read": 0.5, "update": 0.5},
    "b": {"read": 0.95, "update": 0.05},
    "c": {"read": 1.0},
    "d": {"read": 0.95, "insert": 0.05},
    "e": {"scan": 0.95, "insert": 0.05},
    "f": {"read": 0.5, "readmodifywrite": 0.5},
}
"""Shares of operations, as the files of YCSB have them; scans of E are of 1 to 100 rows, evenly."""
OPERATIONS = ("read", "update", "insert", "scan", "readmodifywrite")
WORKLOAD = os.environ.get("WORKLOAD", "a").lower().removeprefix("workload")
if WORKLOAD not in WORKLOADS:
    sys.exit(f"there is no workload {WORKLOAD}: YCSB has {', '.join(WORKLOADS)}")
PROPERTIES = {
    "workload": "site.ycsb.workloads.CoreWorkload",
    "recordcount": int(os.environ.get("RECORDS", "50000")),
    # more than there is time for; loading asks for the property, too
    "operationcount": 100_000_000,
    **{f"{one}proportion": WORKLOADS[WORKLOAD].get(one, 0) for one in OPERATIONS},
    "requestdistribution": "latest" if WORKLOAD == "d" else "zipfian",
    "maxscanlength": 100,
    "scanlengthdistribution": "uniform",
    "rocksdb.cache": int(os.environ.get("CACHE_MIB", "8")),
}


def client(template: Path, *words: str, **properties: object) -> str:
    """Run the client of YCSB; what it wrote."""
    told = [word for key, value in (PROPERTIES | properties).items() for word in ("-p", f"{key}={value}")]
    classes = f"{template}/lib/*:{template}/classes"
    java = found("java", "default-jdk-headless")
    return ran(java, "-cp", classes, "site.ycsb.Client", *words, "-db", "RocksDbBinding", *told)


def compiled(template: Path) -> str:
    """Fetch what is on Maven Central, and compile what is ours; where classes are."""
    maven, compiler = found("mvn", "maven"), found("javac", "default-jdk-headless")
    ran(
        maven,
        "-q",
        "-B",
        "-f",
        f"{HERE}/pom.xml",
        "dependency:copy-dependencies",
        f"-DoutputDirectory={template}/lib",
    )
    ours = [str(path) for path in sorted(HERE.glob("*.java"))]
    ran(compiler, "-cp", f"{template}/lib/*", "-d", f"{template}/classes", *ours)
    return f"{template}/lib/*:{template}/classes"


def prepare(template: Path) -> None:
    """Make the client, and load a database."""
    compiled(template)
    client(template, "-load", "-threads", "2", **{"rocksdb.dir": f"{template}/data", "rocksdb.sync": "false"})


def run(template: Path, seconds: float) -> None:
    """Ask a copy in this folder, and say how it went."""
    data = Path.cwd() / "rocksdb"
    copied(template / "data", data)
    time = {"rocksdb.dir": data, "maxexecutiontime": f"{seconds:.0f}"}
    said = client(template, "-t", "-threads", str(THREADS), **time)
    failed = re.findall(r"^\[(\w+-FAILED)\], Operations, (\d+)$", said, re.MULTILINE)
    if any(number != "0" for _, number in failed):
        raise SystemExit(f"the database has failed: {failed}")
    print(said)


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(Path(sys.argv[2]).resolve())
    else:
        run(Path(sys.argv[2]).resolve(), float(sys.argv[3]))
