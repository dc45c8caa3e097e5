#!/usr/bin/env python3
"""MariaDB in this folder, and sysbench oltp_read_write with four threads. It stands in for MySQL 5.7.

    mariadb.py prepare TEMPLATE
    mariadb.py run TEMPLATE SECONDS

The tables are made once, in a folder of the host, and copied to each drive: every run begins with the
same bytes. The server listens at a Unix socket alone. The buffer pool is smaller than the tables, and
files are opened with O_DIRECT, so that the drive is read; a commit is sure when it ends.

ROWS of each table, TABLES, THREADS and POOL_MIB choose another size.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from programs import copied, found, is_listened_to, ran, server

if TYPE_CHECKING:
    from collections.abc import Iterator

THREADS = int(os.environ.get("THREADS", "4"))
TABLES = int(os.environ.get("TABLES", "4"))
ROWS = int(os.environ.get("ROWS", "25000"))
OPTIONS = (
    "--no-defaults",
    "--user=root",
    "--skip-networking",
    "--skip-log-bin",
    f"--innodb-buffer-pool-size={int(os.environ.get('POOL_MIB', '8'))}M",
    "--innodb-log-file-size=32M",
    "--innodb-flush-method=O_DIRECT",
    "--innodb-flush-log-at-trx-commit=1",
    "--innodb-buffer-pool-load-at-startup=OFF",
    "--innodb-buffer-pool-dump-at-shutdown=OFF",
)


@contextmanager
def serving(data: Path, *, is_killed: bool = False) -> Iterator[Path]:
    """Serve a data directory while the block runs, at this socket."""
    with tempfile.TemporaryDirectory(prefix="lanetwin-mariadb-") as own:
        place, begin = Path(own, "s"), Path(own, "begin.sql")
        begin.write_text("CREATE DATABASE IF NOT EXISTS sbtest;\n", encoding="ascii")
        here = (f"--datadir={data}", f"--socket={place}", f"--pid-file={own}/pid", f"--init-file={begin}")
        program = found("mariadbd", "mariadb-server-core")
        words = [program, *OPTIONS, *here]
        with server(words, lambda: is_listened_to(place), Path(own, "log"), is_killed=is_killed):
            yield place


def sysbench(place: Path, *words: str) -> str:
    """Run sysbench at a socket; what it wrote."""
    where = ("--db-driver=mysql", f"--mysql-socket={place}", "--mysql-user=root")
    what = (f"--tables={TABLES}", f"--table-size={ROWS}", f"--threads={THREADS}", "--rand-seed=1")
    return ran(found("sysbench", "sysbench"), "oltp_read_write", *where, *what, *words)


def installed(data: Path) -> None:
    """Make a data directory."""
    ran(
        found("mariadb-install-db", "mariadb-server-core"),
        "--no-defaults",
        "--user=root",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--innodb-log-file-size=32M",
        f"--datadir={data}",
    )


def prepare(template: Path) -> None:
    """Make a data directory with the tables."""
    installed(template)
    with serving(template) as place:
        sysbench(place, "prepare")


def run(template: Path, seconds: float) -> None:
    """Serve a copy from this folder, ask and say how it went."""
    data = Path.cwd() / "mariadb"
    copied(template, data)
    with serving(data) as place:
        print(sysbench(place, f"--time={seconds:.0f}", "--percentile=99", "run"))


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(Path(sys.argv[2]).resolve())
    else:
        run(Path(sys.argv[2]).resolve(), float(sys.argv[3]))
