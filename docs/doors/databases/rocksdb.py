#!/usr/bin/env python3
"""RocksDB in this folder, and YCSB's workload A with four threads: half reads, half updates, by Zipf's law.

    rocksdb.py prepare TEMPLATE
    rocksdb.py run TEMPLATE SECONDS

YCSB's client and RocksDB 6.22 for Java come from Maven Central (pom.xml); what joins them is
RocksDbBinding.java. The database is loaded once, in a folder of the host, and copied to each drive:
every run begins with the same bytes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from programs import copied, found, ran

HERE = Path(__file__).resolve().parent
THREADS = 4
RECORDS = 50_000
WORKLOAD_A = {
    "workload": "site.ycsb.workloads.CoreWorkload",
    "recordcount": RECORDS,
    # more than there is time for; loading asks for the property, too
    "operationcount": 100_000_000,
    "readproportion": 0.5,
    "updateproportion": 0.5,
    "requestdistribution": "zipfian",
}


def client(template: Path, *words: str, **properties: object) -> str:
    """Run the client of YCSB; what it wrote."""
    told = [word for key, value in (WORKLOAD_A | properties).items() for word in ("-p", f"{key}={value}")]
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
