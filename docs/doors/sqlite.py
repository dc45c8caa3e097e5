"""SQLite in this folder: transactions that update one row and read four, each sure when it ends.

Says how many there were and how long they took, in the form of YCSB, which `lanetwin exec` reads.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import time

ROWS = 20_000
TEXT = "x" * 400


def filled() -> sqlite3.Connection:
    """Return a new database with a write-ahead log, whose rows are not held in memory."""
    database = sqlite3.connect("rows.sqlite", isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "cache_size=-256", "mmap_size=0"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("CREATE TABLE rows (key INTEGER PRIMARY KEY, value TEXT)")
    database.execute("BEGIN")
    database.executemany("INSERT INTO rows VALUES (?, ?)", ((key, TEXT) for key in range(ROWS)))
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return database


def transaction(database: sqlite3.Connection, chance: random.Random) -> float:
    """Do one; how long it took [s]."""
    began = time.perf_counter()
    database.execute("BEGIN IMMEDIATE")
    for _ in range(4):
        database.execute("SELECT value FROM rows WHERE key = ?", (chance.randrange(ROWS),)).fetchone()
    # a new text: SQLite does not write a row that stays as it is
    text = f"{chance.getrandbits(64):016x}" + TEXT[16:]
    database.execute("UPDATE rows SET value = ? WHERE key = ?", (text, chance.randrange(ROWS)))
    database.execute("COMMIT")
    return time.perf_counter() - began


def main(seconds: float) -> None:
    """Do transactions for so long, and say how they went."""
    database, chance, took = filled(), random.Random(1), list[float]()  # noqa: S311 - no secret
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        took.append(transaction(database, chance))
    rate = len(took) / (time.perf_counter() - began)
    took.sort()
    print(f"[OVERALL], Throughput(ops/sec), {rate:.1f}")
    print(f"[TRANSACTION], AverageLatency(us), {sum(took) / len(took) * 1e6:.1f}")
    print(f"[TRANSACTION], 99thPercentileLatency(us), {took[len(took) * 99 // 100] * 1e6:.1f}")


if __name__ == "__main__":
    main(float(sys.argv[1]))
