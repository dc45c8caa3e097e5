"""What test_measure_live.py runs inside its guest: `CHECK name` is a check that was passed, `FAILED` ends it.

Three NVMe drives are told apart by their serial numbers: what is read, what may be lost, what must not be.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from lanetwin.cli import app
from lanetwin.errors import LanetwinError
from lanetwin.measure import opened, permitted

DRIVES = {
    Path(file).read_text(encoding="ascii").strip(): f"/dev/{Path(file).parent.name}n1"
    for file in map(str, Path("/sys/class/nvme").glob("nvme*/serial"))
}


def check(name: str, *, holds: bool, said: str = "") -> None:
    """Tell that something holds, or end."""
    if not holds:
        print(f"FAILED {name}: {said}", flush=True)
        sys.exit(1)
    print(f"CHECK {name}", flush=True)


def run(*words: str) -> None:
    """Run a program."""
    subprocess.run(words, check=True)


def measure(*words: str) -> tuple[int, str]:
    """Run ``lanetwin measure`` on the guest's scenario: its status, and what it said."""
    options = ["--seconds", "1", "--ramp", "0.2", "--repeats", "2"]
    done = CliRunner().invoke(app, ["measure", "/bay.yaml", *options, *words])
    return done.exit_code, done.output


def refused(serial: str) -> str:
    """Return why a drive may not be written to, though its owner has named it; empty if it may."""
    try:
        with permitted([opened("as-is", Path(DRIVES[serial]))], [serial]):
            return ""
    except LanetwinError as error:
        return " ".join(f"{one.code} {one.message}" for one in error.diagnostics)


def refusals() -> None:
    """Use the third drive in every way that this guest can."""
    drive = DRIVES["precious"]
    check(
        "a file system is seen", holds="MR005" in (said := refused("precious")) and "ext" in said, said=said
    )
    run("mount", "-t", "ext4", drive, "/mnt")
    check(
        "a mount is seen",
        holds=f"{drive[5:]} is in use: mounted on /mnt" in (said := refused("precious")),
        said=said,
    )
    run("umount", "/mnt")
    run("mkswap", drive)
    run("swapon", drive)
    check("swap is seen", holds="is in use: swap" in (said := refused("precious")), said=said)
    run("swapoff", drive)
    run("dd", "if=/dev/zero", f"of={drive}", "bs=1M", "count=16")
    with Path(drive).open("rb") as _:
        check("our own look is no use", holds=(said := refused("precious")) == "", said=said)
    sleeper = subprocess.Popen(["sh", "-c", f"exec sleep 100 < {drive}"])
    for _ in range(100):
        said = refused("precious")
        if said:
            break
    check("an open device is seen", holds=f"open in process {sleeper.pid}" in said, said=said)
    sleeper.kill()
    sleeper.wait()


def main() -> None:
    """Read from one drive, write to another, and be refused by a third."""
    status, said = measure("--on", DRIVES["readable"], "--out", "/out/read")
    check("measured", holds=status == 0, said=said)
    status, said = measure("--on", DRIVES["lost"], "--write", "--out", "/out/none")
    check("asked for its name", holds=status == 1 and "MR006" in said and "`lost`" in said, said=said)
    refusals()
    before = Path(DRIVES["lost"]).read_bytes()
    words = ["--on", DRIVES["lost"], "--write", "--destroy", "lost"]
    status, said = measure(*words, "--dry-run")
    check("told what it would write", holds=status == 0 and "what is on it will be lost" in said, said=said)
    check("and did not", holds=Path(DRIVES["lost"]).read_bytes() == before)
    status, said = measure(*words, "--out", "/out/written")
    check("wrote", holds=status == 0, said=said)
    check("where it may", holds=Path(DRIVES["lost"]).read_bytes() != before)


if __name__ == "__main__":
    main()
