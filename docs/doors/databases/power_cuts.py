"""MariaDB on a drive whose power is cut: everything that a commit has acknowledged is there afterwards.

    power_cuts.py [CUTS [SEED]]     as root; default: 30 cuts

The drive acknowledges writes from a volatile buffer. Rows are inserted one by one, each a transaction, and
noted when the server has said so. Then the power is cut: the drive answers EIO, the server is killed, the
file system unmounted, and the served file ends. What survived in the file of bytes is served and mounted
afresh, so that no page cache hides a loss, and MariaDB recovers. Last of all a drive that lies about flush
has to be caught by the same means. Ends with status 1 if a row is lost, or the lie is not found.
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
    """The client of MariaDB at a socket: a statement, and the line that it answers."""

    def __init__(self, socket: Path) -> None:
        words = [
            found("mariadb", "mariadb-client-core"),
            "--no-defaults",
            f"--socket={socket}",
            "--user=root",
        ]
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            [*words, "--batch", "--skip-column-names", "--unbuffered"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, statement: str) -> str:
        """Return the line that a statement answers; nothing if the server is gone."""
        assert self._process.stdin  # noqa: S101 - it is a pipe
        assert self._process.stdout  # noqa: S101
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{statement};\n")
            self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def end(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


class Writer(threading.Thread):
    """Inserts row after row until the server is gone; `sure` is the last that was acknowledged."""

    def __init__(self, client: Client, after: int) -> None:
        super().__init__(daemon=True)
        self._client = client
        self.sure = after

    def run(self) -> None:
        """Insert."""
        row = self.sure + 1
        while self._client.ask(FILL.format(row)) == str(row):
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


def cut_under_writes(place: Path, client: Client, after: int, chance: random.Random) -> int:
    """Cut the power while rows are written; the last row that was acknowledged."""
    writer = Writer(client, after)
    writer.start()
    time.sleep(chance.uniform(0.3, 2.0))
    emulation.control(str(place), {"control": "power-cut"})
    if not is_refused(place / "drive"):
        raise SystemExit("the drive answers without power")
    # the server ends by itself at the first error of its log, or waits: it is killed by whoever serves it
    client.end()
    writer.join(LONG)
    return writer.sure


def check(client: Client, sure: int) -> int:
    """Return the last row that is there, or end if one that was acknowledged is not."""
    told = client.ask(f"{TABLE}; {COUNT.format(sure)}")
    right, last = (int(word) for word in told.split("\t")) if told else (0, 0)
    if not told or right != sure:
        raise LossError(f"{sure} rows were acknowledged, and {right} are there")
    return last


class LossError(Exception):
    """Something that was acknowledged is not there."""


def session(folder: Path, sure: int, chance: random.Random, *, is_new: bool, lies: bool) -> int:
    """Mount what has survived, find every row, write more, and cut; the last that was acknowledged."""
    with served(folder, folder / "data") as place:
        mount = folder / "mount"
        mount.mkdir(exist_ok=True)
        try:
            with Ext4(place / "drive", mount, is_new=is_new):
                data = mount / "mariadb"
                if is_new:
                    installed(data)
                with serving(data, is_killed=True) as socket:
                    client = Client(socket)
                    last = check(client, sure)
                    if lies:
                        emulation.control(
                            str(place), {"control": "fault", "what": {"fault": "lie"}, "namespace": 1}
                        )
                    return cut_under_writes(place, client, last, chance)
        except (LanetwinError, SystemExit) as error:
            raise LossError(f"what has survived cannot be used: {error}") from error


def cuts(number: int, seed: int) -> None:
    """Cut the power so often under one database; print how many rows were acknowledged."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory(prefix="lanetwin-cuts-") as own:
        sure = 0
        for cut in range(number):
            sure = session(Path(own), sure, chance, is_new=cut == 0, lies=False)
            print(f"cut {cut + 1}: {sure} rows acknowledged so far", flush=True)
        with (
            served(Path(own), Path(own, "data")) as place,
            Ext4(place / "drive", Path(own, "mount"), is_new=False),
            serving(Path(own, "mount", "mariadb")) as socket,
        ):
            check(Client(socket), sure)
    print(f"{number} cuts, {sure} rows acknowledged, none is lost")


def is_lie_found(seed: int) -> bool:
    """Whether a drive that acknowledges flush and does nothing is caught."""
    chance = random.Random(seed)  # noqa: S311
    for attempt in range(1, LIES + 1):
        with tempfile.TemporaryDirectory(prefix="lanetwin-cuts-") as own:
            sure = session(Path(own), 0, chance, is_new=True, lies=True)
            try:
                session(Path(own), sure, chance, is_new=False, lies=False)
            except LossError as loss:
                print(f"a drive that lies about flush is caught at cut {attempt}: {loss}")
                return True
    return False


def main(number: int, seed: int) -> int:
    """Cut, and let the drive lie; the status to end with."""
    insist()
    try:
        cuts(number, seed)
    except LossError as loss:
        print(f"LOST: {loss}")
        return 1
    if not is_lie_found(seed):
        print(f"a drive that lies about flush is not caught in {LIES} cuts")
        return 1
    return 0


if __name__ == "__main__":
    told = [int(word) for word in sys.argv[1:]]
    sys.exit(main(told[0] if told else 30, told[1] if len(told) > 1 else 1))
