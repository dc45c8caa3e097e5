#!/usr/bin/env python3
"""Redis in this folder, which is sure of each write before it answers, and redis-benchmark with four clients.

    redis.py SECONDS

The server listens at a Unix socket alone. Debian's package redis-tools is enough: its redis-check-rdb
is the server when it is called by that name, and no service of the system is installed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from programs import found, is_listened_to, ran, server

CLIENTS = 4
VALUE_BYTES = 512
KEYS = 100_000
REQUESTS_A_SECOND = 2000
"""How many requests stand for a second; the benchmark knows no time."""
ALWAYS_SURE = ("--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")


def main(seconds: float) -> None:
    """Serve, ask and say how it went."""
    benchmark = found("redis-benchmark", "redis-tools")
    program = shutil.which("redis-server") or found("redis-check-rdb", "redis-tools")
    with tempfile.TemporaryDirectory(prefix="lanetwin-redis-") as own:
        place = Path(own, "s")
        words = [
            "redis-server",
            "--port",
            "0",
            "--unixsocket",
            str(place),
            "--dir",
            str(Path.cwd()),
            "--save",
            "",
        ]
        with server(
            [*words, *ALWAYS_SURE], lambda: is_listened_to(place), Path(own, "log"), executable=program
        ):
            load = ("-t", "set", "-d", str(VALUE_BYTES), "-r", str(KEYS), "-c", str(CLIENTS))
            requests = max(round(seconds * REQUESTS_A_SECOND), 100)
            print(ran(benchmark, "-s", str(place), *load, "-n", str(requests), "--csv"))


if __name__ == "__main__":
    main(float(sys.argv[1]))
