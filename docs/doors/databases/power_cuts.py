"""A database on a drive whose power is cut: everything that it has acknowledged is there afterwards.

    power_cuts.py [CUTS [SEED [DATABASE]]]     as root; default: 30 cuts, mariadb; or rocksdb

The drive acknowledges writes from a volatile buffer. Rows are inserted one by one, each sure when it ends,
and noted when the database has said so. Then the power is cut: the drive answers EIO, the database is
killed, the file system unmounted, and the served file ends. What survived in the file of bytes is served and
mounted afresh, so that no page cache hides a loss, and the database recovers. Last of all a drive that lies
about flush has to be caught by the same means. Ends with status 1 if a row is lost, or the lie is not found.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mariadb import installed, serving
from programs import found
from rocksdb import compiled

from lanetwin import emulation
from lanetwin.errors import LanetwinError
from lanetwin.filesystem import Ext4, insist

if TYPE_CHECKING:
    from collections.abc import Iterator

SCENARIO = Path(__file__).resolve().parents[3] / "scenarios" / "databases.yaml"
VOLATILE = "machine.ssd.buffer.volatile=true"
TABLE = (
    "CREATE TABLE IF NOT EXISTS sbtest.sure "
    "(id INT PRIMARY KEY, sum CHAR(32), filling CHAR(200)) CHARACTER SET utf8mb3"
)
FILL = "INSERT INTO sbtest.sure VALUES ({0}, MD5({0}), REPEAT('x', 200)); SELECT {0}"
COUNT = "SELECT COALESCE(SUM(id <= {0} AND sum = MD5(id)), 0), COALESCE(MAX(id), 0) FROM sbtest.sure"
BLOCK = 4096
LONG = 120.0
LIES = 5
"""How often a drive may lie before it has to be caught."""


@contextmanager
def served(folder: Path, data: Path) -> Iterator[Path]:
    """Serve the drive as a file while the block runs."""
    place = folder / "drive.d"
    place.mkdir(exist_ok=True)
    words = [sys.executable, "-m", "lanetwin", "serve-device", str(SCENARIO), "--fuse", str(place)]
    words += ["--data", str(data), "--set", VOLATILE]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603
        try:
            said = server.stderr.readline() if server.stderr else ""
            if not said.startswith(str(place)):
                raise SystemExit(f"the drive is not served: {said}")
            yield place
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(LONG)


class Client:
    """A program that answers a line with a line."""

    def __init__(self, words: list[str], ends: str) -> None:
        self._ends = ends
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, statement: str) -> str:
        """Return the line that a line is answered with; nothing if the database is gone."""
        assert self._process.stdin  # noqa: S101 - it is a pipe
        assert self._process.stdout  # noqa: S101
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{statement}{self._ends}")
            self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


class MariaDb:
    """MariaDB, whose server is killed when the power was cut."""

    check = f"{TABLE}; {COUNT}"
    fill = FILL

    def make(self, data: Path) -> None:
        """Make a data directory."""
        installed(data)

    @contextmanager
    def running(self, data: Path) -> Iterator[Client]:
        """Give a client of a server on this directory."""
        with serving(data, is_killed=True) as socket:
            words = [found("mariadb", "mariadb-client-core"), "--no-defaults", f"--socket={socket}"]
            words += ["--user=root", "--batch", "--skip-column-names", "--unbuffered"]
            client = Client(words, ";\n")
            try:
                yield client
            finally:
                client.end()


class RocksDb:
    """RocksDB, in a process of Java that is killed when the power was cut."""

    check = "check {0}"
    fill = "put {0}"

    def __init__(self, own: Path) -> None:
        self._classes = compiled(own)

    def make(self, data: Path) -> None:
        """Make a folder; the database makes itself."""
        data.mkdir()

    @contextmanager
    def running(self, data: Path) -> Iterator[Client]:
        """Give a process that has opened this folder."""
        java = found("java", "default-jdk-headless")
        client = Client([java, "-cp", self._classes, "RocksDbSure", str(data)], "\n")
        try:
            yield client
        finally:
            client.end()


Database = MariaDb | RocksDb


class Writer(threading.Thread):
    """Inserts row after row until the database is gone; `sure` is the last that was acknowledged."""

    def __init__(self, client: Client, fill: str, after: int) -> None:
        super().__init__(daemon=True)
        self._client, self._fill = client, fill
        self.sure = after

    def run(self) -> None:
        """Insert."""
        row = self.sure + 1
        while self._client.ask(self._fill.format(row)) == str(row):
            self.sure, row = row, row + 1


def is_refused(drive: Path) -> bool:
    """Whether the drive answers EIO."""
    file = os.open(drive, os.O_RDONLY | os.O_DIRECT)
    try:
        os.pread(file, BLOCK, 0)
    except OSError as error:
        return error.errno == 5
    finally:
        os.close(file)
    return False


def cut_under_writes(place: Path, writer: Writer, client: Client, chance: random.Random) -> int:
    """Cut the power while rows are written; the last row that was acknowledged."""
    writer.start()
    time.sleep(chance.uniform(0.3, 2.0))
    emulation.control(str(place), {"control": "power-cut"})
    if not is_refused(place / "drive"):
        raise SystemExit("the drive answers without power")
    # the server ends by itself at the first error of its log, or waits: it is killed by whoever serves it
    client.end()
    writer.join(LONG)
    return writer.sure


def check(database: Database, client: Client, sure: int) -> int:
    """Return the last row that is there, or end if one that was acknowledged is not."""
    told = client.ask(database.check.format(sure))
    right, last = (int(word) for word in told.split("\t")) if told else (0, 0)
    if not told or right != sure:
        raise LossError(f"{sure} rows were acknowledged, and {right} are there")
    return last


class LossError(Exception):
    """Something that was acknowledged is not there."""


def session(
    database: Database, folder: Path, sure: int, chance: random.Random, *, is_new: bool, lies: bool
) -> int:
    """Mount what has survived, find every row, write more, and cut; the last that was acknowledged."""
    with served(folder, folder / "data") as place:
        mount = folder / "mount"
        mount.mkdir(exist_ok=True)
        try:
            with Ext4(place / "drive", mount, is_new=is_new):
                data = mount / "database"
                if is_new:
                    database.make(data)
                with database.running(data) as client:
                    last = check(database, client, sure)
                    if lies:
                        emulation.control(
                            str(place), {"control": "fault", "what": {"fault": "lie"}, "namespace": 1}
                        )
                    writer = Writer(client, database.fill, last)
                    return cut_under_writes(place, writer, client, chance)
        except (LanetwinError, SystemExit) as error:
            raise LossError(f"what has survived cannot be used: {error}") from error


def cuts(database: Database, number: int, seed: int) -> None:
    """Cut the power so often under one database; print how many rows were acknowledged."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory(prefix="lanetwin-cuts-") as own:
        sure = 0
        for cut in range(number):
            sure = session(database, Path(own), sure, chance, is_new=cut == 0, lies=False)
            print(f"cut {cut + 1}: {sure} rows acknowledged so far", flush=True)
        with (
            served(Path(own), Path(own, "data")) as place,
            Ext4(place / "drive", Path(own, "mount"), is_new=False),
            database.running(Path(own, "mount", "database")) as client,
        ):
            check(database, client, sure)
    print(f"{number} cuts, {sure} rows acknowledged, none is lost")


def is_lie_found(database: Database, seed: int) -> bool:
    """Whether a drive that acknowledges flush and does nothing is caught."""
    chance = random.Random(seed)  # noqa: S311
    for attempt in range(1, LIES + 1):
        with tempfile.TemporaryDirectory(prefix="lanetwin-cuts-") as own:
            sure = session(database, Path(own), 0, chance, is_new=True, lies=True)
            try:
                session(database, Path(own), sure, chance, is_new=False, lies=False)
            except LossError as loss:
                print(f"a drive that lies about flush is caught at cut {attempt}: {loss}")
                return True
    return False


def main(number: int, seed: int, name: str) -> int:
    """Cut, and let the drive lie; the status to end with."""
    insist()
    with tempfile.TemporaryDirectory(prefix="lanetwin-classes-") as own:
        return shown(RocksDb(Path(own)) if name == "rocksdb" else MariaDb(), number, seed)


def shown(database: Database, number: int, seed: int) -> int:
    """Cut under a database, and let the drive lie; the status to end with."""
    try:
        cuts(database, number, seed)
    except LossError as loss:
        print(f"LOST: {loss}")
        return 1
    if not is_lie_found(database, seed):
        print(f"a drive that lies about flush is not caught in {LIES} cuts")
        return 1
    return 0


if __name__ == "__main__":
    words = [*sys.argv[1:], *("30", "1", "mariadb")[len(sys.argv) - 1 :]]
    sys.exit(main(int(words[0]), int(words[1]), words[2]))
