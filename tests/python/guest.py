"""A guest of QEMU that runs a script: Debian's kernel for clouds, with programs of this machine.

The guest needs no privilege, no disk and no image: what it has is in its memory. It reaches this machine's
loopback at `HOST`, by QEMU's own network, and talks by its serial line.
"""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING

import pytest

import lanetwin
from conftest import require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOST = "10.0.2.2"
"""Where a guest finds the loopback of this machine (QEMU, "User Networking")."""
START = f"""#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /said /mnt /run /etc
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm && mount -t tmpfs shm /dev/shm
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOST={HOST}
mkdir -p /lib/modules && ln -s /modules /lib/modules/$(uname -r)
depmod 2>/dev/null
ifconfig lo 127.0.0.1 up
modprobe -a virtio_pci virtio_net
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
sh /script
echo "ENDED $?"
poweroff -f
"""
TAIL = 60
"""So many lines of a guest are shown when something is wrong with it."""
OUT = "/dev/ttyS1"
"""A second serial line: what a guest writes to it is in the file `out` of its folder."""


@dataclass(frozen=True)
class Hardware:
    """What a guest has beside two CPUs, a network and two serial lines."""

    machine: str = "q35,accel=tcg"
    memory_mib: int = 1024
    options: tuple[str, ...] = ()
    """Words for QEMU."""
    kernel: str = ""
    """Words for the kernel."""
    forwards: tuple[tuple[int, int], ...] = ()
    """Ports of this machine's loopback that lead to ports of the guest."""


PLAIN = Hardware()


class Guest:
    """A guest that runs."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Listen to what it says."""
        self.process = process
        self.lines: list[str] = []
        self._read = 0
        self._more = threading.Condition()
        assert process.stdout
        threading.Thread(target=self._listen, args=(process.stdout,), daemon=True).start()

    def _listen(self, out: IO[bytes]) -> None:
        for line in out:
            with self._more:
                self.lines.append(line.decode(errors="replace").rstrip())
                self._more.notify_all()
        with self._more:
            self.lines.append("ENDED without a word")
            self._more.notify_all()

    def said(self, what: str, within_s: float) -> str:
        """Wait for a line that begins so, behind the last one that was waited for; give the rest of it."""
        end = time.monotonic() + within_s
        with self._more:
            while True:
                while self._read < len(self.lines):
                    line = self.lines[self._read]
                    self._read += 1
                    if line.startswith(what):
                        return line.removeprefix(what).strip()
                    if line.startswith(("ENDED", "FAILED")):
                        pytest.fail(f"the guest has not said {what!r}:\n{self.tail()}")
                if not self._more.wait(end - time.monotonic()):
                    pytest.fail(f"the guest has not said {what!r} within {within_s} s:\n{self.tail()}")

    def tail(self) -> str:
        """Give the last lines that it has said."""
        return "\n".join(self.lines[-TAIL:])

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop it, until the end of the block: it computes nothing and takes nothing from the network."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


NEWER = "trixie"
"""The release of Debian whose kernel authenticates hosts of NVMe/TCP; that of 6.1 is built without it."""


def require_guest(*programs: str, release: str = "") -> dict[str, str]:
    """Return where the tools for a guest with these programs are, with the kernel of a release of Debian.

    Without one of them the test is skipped, but fails where REQUIRE names it. Where LANETWIN_GUESTS names
    guests, those of other files are skipped: continuous integration names those that a change is about.
    """
    chosen = os.environ.get("LANETWIN_GUESTS")
    own = Path(os.environ["PYTEST_CURRENT_TEST"].partition("::")[0]).stem.removeprefix("test_")
    if chosen is not None and own not in chosen.split():
        pytest.skip(
            f"LANETWIN_GUESTS does not name {own}: nothing changed in what .ci/guests.list has for it"
        )
    if platform.machine() != "x86_64":
        pytest.skip("the guest is one of x86-64")
    tools = {name: require_tool(name) for name in ("qemu-system-x86_64", "busybox", *programs)}
    name = "LANETWIN_GUEST_KERNEL" + (f"_{release.upper()}" if release else "")
    kernel = os.environ.get(name, "")
    if not Path(kernel).is_file():
        why = f"{name} names no kernel (.ci/guest-kernel {release} fetches one)"
        required = f"guest-kernel-{release}" if release else "guest-kernel"
        if required in os.environ.get("REQUIRE", "").replace(",", " ").split():
            pytest.fail(f"{required} is required here (REQUIRE names it): {why}")
        pytest.skip(why)
    return tools | {"kernel": kernel}


@contextmanager
def booted(
    folder: Path,
    tools: dict[str, str],
    script: str,
    hardware: Hardware = PLAIN,
    files: Mapping[str, Path] | None = None,
) -> Iterator[Guest]:
    """Boot a guest with the tools' programs and some files, which runs a script, until the block ends."""
    initrd = folder / "initrd"
    _write_initial_files(initrd, tools, script, files or {})
    command = [tools["qemu-system-x86_64"], "-machine", hardware.machine, "-cpu", "max"]
    command += ["-m", f"{hardware.memory_mib},slots=1,maxmem=8G", "-smp", "2", "-nodefaults"]
    command += ["-no-user-config", "-display", "none", "-no-reboot"]
    command += ["-serial", "stdio", "-serial", f"file:{folder / 'out'}"]
    forwards = (f",hostfwd=tcp:127.0.0.1:{here}-:{there}" for here, there in hardware.forwards)
    command += ["-netdev", "user,id=net" + "".join(forwards), "-device", "virtio-net-pci,netdev=net,romfile="]
    command += ["-kernel", tools["kernel"], "-initrd", str(initrd), *hardware.options]
    command += [
        "-append",
        "console=ttyS0 panic=-1 random.trust_cpu=on mitigations=off no_timer_check loglevel=6 "
        + hardware.kernel,
    ]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        try:
            yield Guest(process)
        finally:
            process.kill()


def python_and_lanetwin() -> tuple[str, dict[str, Path]]:
    """Return what a guest puts before ``-m lanetwin``, and the files for it: those of this interpreter.

    Tests and the caches of other versions are left out; a file keeps its time, so that what was compiled here
    counts there.
    """
    library, binary = Path(sysconfig.get_path("stdlib")), Path(sys.executable).resolve()
    here, site = Path(lanetwin.__file__).parent, Path(sysconfig.get_path("platlib"))
    paths = [
        *_files_of(library),
        *_files_of(here),
        *(path for name in _required() for path in _installed(name)),
    ]
    shared = [path for path in paths if path.suffix == ".so"]
    loaded = [Path(name) for path in (binary, *shared) for name in _libraries(str(path))]
    return f"PYTHONPATH={here.parent}:{site} {binary}", {
        str(path): path for path in (*paths, *loaded, binary)
    }


UNWANTED = ("test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3", "site-packages", "turtledemo")
"""Folders of the standard library that a guest can do without."""


def _required() -> set[str]:
    """Return the distributions that the command line needs, extras left out."""
    found: set[str] = set()
    more = ["lanetwin"]
    while more:
        required = (line for line in metadata.requires(more.pop()) or [] if "extra ==" not in line)
        names = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in required}
        new = {name for name in names - found if _installed(name)}
        found |= new
        more += new
    return found


def _installed(name: str) -> list[Path]:
    """Return the files of a distribution, none of one that is for other systems."""
    try:
        files = metadata.files(name) or []
    except metadata.PackageNotFoundError:
        return []
    return [path for path in (Path(str(file.locate())) for file in files) if path.is_file()]


def _files_of(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in UNWANTED and not name.startswith("config-")]
        for path in (Path(folder, name) for name in names):
            if path.suffix != ".pyc" or path.name.endswith(f".{sys.implementation.cache_tag}.pyc"):
                yield path


def _write_initial_files(to: Path, tools: dict[str, str], script: str, more: Mapping[str, Path]) -> None:
    """Write what the guest finds at its start: an archive of cpio, "newc" (Linux ``buffer-format.rst``)."""
    kernel = Path(tools["kernel"])
    modules = kernel.with_name(kernel.name.replace("vmlinuz", "modules"))
    programs = {name: path for name, path in tools.items() if name not in ("qemu-system-x86_64", "kernel")}
    files = {f"/modules/{path.relative_to(modules)}": path for path in modules.rglob("*.ko")}
    for name, path in programs.items():
        files[f"/bin/{name}"] = Path(path)
        files |= {library: Path(library) for library in _libraries(path)}
    files |= more
    written = {"/init": START.encode(), "/script": script.encode()}
    names = (*files, *written)
    folders = {str(parent) for name in names for parent in Path(name).parents if parent.name}
    with to.open("wb") as out:
        for number, name in enumerate((*sorted(folders), *sorted(names)), start=1):
            source = files.get(name)
            data = source.read_bytes() if source else written.get(name, b"")
            time_s = int(source.stat().st_mtime) if source else 0
            _entry(out, number, name, 0o40755 if name in folders else 0o100755, data, time_s)
        _entry(out, 0, "TRAILER!!!", 0, b"")


def _libraries(program: str) -> list[str]:
    """Return what a program loads; nothing for one that is linked statically."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return re.findall(r"(?:^|\s)(/\S+)", said)


def _entry(out: IO[bytes], number: int, name: str, mode: int, data: bytes, time_s: int = 0) -> None:
    told = name.lstrip("/").encode() + b"\0"
    fields = (number, mode, 0, 0, 1, time_s, len(data), 0, 0, 0, 0, len(told), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + told
    for part in (head, data):
        out.write(part + bytes(-len(part) % 4))
