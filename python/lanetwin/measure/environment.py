"""The environment of a measurement: kernel, clocks, scheduler, interrupts, link, health.

All of it comes from files of the kernel, or for health from nvme-cli, without serial numbers; missing values
are left out.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lanetwin.measure.target import Target

SYS = Path("/sys")
PROC = Path("/proc")
QUEUE = (
    "scheduler",
    "nr_requests",
    "rotational",
    "write_cache",
    "io_poll",
    "wbt_lat_usec",
    "logical_block_size",
)
QUEUE_MORE = ("max_sectors_kb", "read_ahead_kb", "rq_affinity", "nomerges")
LINK = (
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
    "numa_node",
    "vendor",
    "device",
)
HEALTH = ("temperature", "avail_spare", "percent_used", "percentage_used", "media_errors", "critical_warning")
PATIENCE = 10
"""Timeout of nvme-cli [s]."""


def text_of(path: Path) -> str | None:
    """Return the contents of a file of the kernel, or None."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:2000]
    except OSError:
        return None


def _some(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    return {name: found for name in names if (found := text_of(folder / name)) is not None}


def machine() -> dict[str, Any]:
    """Return the properties of the whole machine."""
    cpuinfo = text_of_whole(PROC / "cpuinfo") or ""
    model = re.search(r"^model name\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    cpus = SYS / "devices/system/cpu"
    governors = sorted(
        {found for path in cpus.glob("cpu*/cpufreq/scaling_governor") if (found := text_of(path))}
    )
    nodes = {
        node.name: text_of(node / "cpulist")
        for node in sorted((SYS / "devices/system/node").glob("node[0-9]*"))
    }
    return {
        "kernel": platform.release(),
        "processor": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "virtual machine": "hypervisor" in (re.search(r"^flags\s*:.*$", cpuinfo, re.MULTILINE) or [""])[0],
        "governors": governors or ["not told by this kernel"],
        "turbo off": text_of(cpus / "intel_pstate/no_turbo"),
        "simultaneous threads": text_of(cpus / "smt/control"),
        "NUMA nodes": nodes,
        "load before": (text_of(PROC / "loadavg") or "").split(" ")[0],
    }


def _block(target: Target) -> Path:
    """Return the folder of a target's whole block device."""
    number = target.path.stat()
    which = number.st_rdev if stat.S_ISBLK(number.st_mode) else number.st_dev
    block = (SYS / f"dev/block/{os.major(which)}:{os.minor(which)}").resolve()
    return block.parent if (block / "partition").exists() else block


def written(target: Target) -> int:
    """Return the bytes written to a target's device since it was attached (Linux ``block/stat.rst``)."""
    words = (text_of(_block(target) / "stat") or "").split()
    return int(words[6]) * 512 if len(words) > 6 else 0


def device(target: Target) -> dict[str, Any]:
    """Return the properties of a target's device."""
    found: dict[str, Any] = {"size": target.size, "is a device": target.is_device}
    block = _block(target)
    if not (block / "queue").is_dir():
        return found
    found |= {
        "block device": block.name,
        "written": written(target),
        "queue": _some(block / "queue", QUEUE + QUEUE_MORE),
    }
    found |= {
        "device": _some(block / "device", ("model", "firmware_rev", "transport", "address", "numa_node"))
    }
    if pcie := next(_pci(block), None):
        found["PCI function"] = pcie.name
        found["link"] = _some(pcie, LINK)
    found["interrupts"] = _interrupts(block.name)
    if health := _health(block.name):
        found["health"] = health
    return found


def _pci(block: Path) -> Iterator[Path]:
    """Return the PCI functions above a block device, the nearest first."""
    for folder in block.parents:
        if re.fullmatch(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", folder.name):
            yield folder


def _interrupts(name: str) -> dict[str, int]:
    """Return the sums of the interrupts of a device's queues."""
    stem = re.sub(r"n[0-9]+$", "", name) if name.startswith("nvme") else name
    found = {}
    for line in (text_of_whole(PROC / "interrupts") or "").splitlines()[1:]:
        words = line.split()
        if words and re.match(rf"{re.escape(stem)}(q|$|-)", words[-1]):
            found[f"{words[0]} {words[-1]}"] = sum(int(word) for word in words[1:] if word.isdigit())
    return found


def text_of_whole(path: Path) -> str | None:
    """Return the contents of a long file of the kernel, or None."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")[: 1 << 20]
    except OSError:
        return None


def _health(name: str) -> dict[str, Any]:
    """Return the SMART data of a drive, if nvme-cli is installed and permitted to read them."""
    tool = shutil.which("nvme")
    if not tool or not name.startswith("nvme"):
        return {}
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            [tool, "smart-log", f"/dev/{name}"], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    lines = (line.partition(":") for line in done.stdout.splitlines())
    said = {key.strip().replace(" ", "_"): value.strip() for key, _, value in lines}
    return {key: said[key] for key in HEALTH if key in said}
