"""Recognises the contents of a drive or a file by the marks of formats at fixed offsets.

A mark means that data may be there. The offsets are those of the formats' descriptions, as in libblkid and
file(1); marks relative to the size of the device are searched for at its end.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

KIB = 1024


@dataclass(frozen=True, slots=True)
class Mark:
    """Bytes at an offset."""

    what: str
    offset: int
    """Offset from the start, or from the end if negative [bytes]."""
    magic: bytes
    step: int = 0
    """Distance between the further possible offsets, of which there are `times` [bytes]."""
    times: int = 0


MARKS = (
    Mark("a partition table (GPT)", 512, b"EFI PART"),
    Mark("a partition table (GPT)", 4096, b"EFI PART"),
    Mark("a partition table (GPT), its copy at the end", -512, b"EFI PART"),
    Mark("a partition table (GPT), its copy at the end", -4096, b"EFI PART"),
    Mark("a partition table (MBR) or a boot sector", 510, b"\x55\xaa"),
    Mark("a partition table (Apple)", 0, b"ER\x02\x00"),
    Mark("ext2, ext3 or ext4", 1080, b"\x53\xef"),
    Mark("XFS", 0, b"XFSB"),
    Mark("btrfs", 0x10040, b"_BHRfS_M"),
    Mark("btrfs, its second superblock", 0x4000040, b"_BHRfS_M"),
    Mark("F2FS", 1024, b"\x10\x20\xf5\xf2"),
    Mark("bcachefs or bcache", 4096 + 24, b"\xc6\x85\x73\xf6"),
    Mark("NTFS", 3, b"NTFS    "),
    Mark("exFAT", 3, b"EXFAT   "),
    Mark("FAT", 54, b"FAT"),
    Mark("FAT32", 82, b"FAT32"),
    Mark("ReFS", 3, b"ReFS"),
    Mark("ISO 9660", 0x8001, b"\x43\x44001"),
    Mark("UDF", 0x8001, b"BEA01"),
    Mark("HFS+", 1024, b"H+"),
    Mark("APFS", 32, b"NXSB"),
    Mark("SquashFS", 0, b"hsqs"),
    Mark("EROFS", 1024, b"\xe2\xe1\xf5\xe0"),
    Mark("GFS2", 0x10000, b"\x01\x16\x19\x70"),
    Mark("OCFS2", 8192, b"OCFSV2"),
    Mark("JFS", 0x8000, b"JFS1"),
    Mark("ReiserFS", 0x10034, b"ReIsEr"),
    Mark("NILFS2", 1030, b"\x34\x34"),
    Mark("swap space", 4096 - 10, b"SWAPSPACE2"),
    Mark("swap space of pages of 64 KiB", 65536 - 10, b"SWAPSPACE2"),
    Mark("a suspended system", 4096 - 10, b"S1SUSPEND"),
    Mark("LUKS", 0, b"LUKS\xba\xbe"),
    Mark("LUKS, its second header", 0x4000, b"SKUL\xba\xbe"),
    Mark("BitLocker", 3, b"-FVE-FS-"),
    Mark("LVM", 24, b"LVM2 001", step=512, times=3),
    Mark("LVM, its label", 0, b"LABELONE", step=512, times=3),
    Mark("an array of Linux (md)", 0, b"\xfc\x4e\x2b\xa9"),
    Mark("an array of Linux (md)", 4096, b"\xfc\x4e\x2b\xa9"),
    Mark("an array of Linux (md)", -8 * KIB, b"\xfc\x4e\x2b\xa9", step=-KIB, times=8),
    Mark("an array of Linux (md)", -64 * KIB, b"\xfc\x4e\x2b\xa9"),
    Mark("an array of Intel (VROC)", -1024, b"Intel Raid ISM Cfg Sig. "),
    Mark("an array (DDF)", -512, b"\xde\x11\xde\x11"),
    Mark("Ceph (BlueStore)", 0, b"bluestore block device"),
    Mark("VMFS", 0x100000, b"\x0d\xd0\x01\xc0"),
    Mark("Oracle ASM", 32, b"ORCLDISK"),
    Mark("an image of QEMU (qcow2)", 0, b"QFI\xfb"),
    Mark("an image of a virtual machine (VMDK)", 0, b"KDMV"),
    Mark("an image of a virtual machine (VHDX)", 0, b"vhdxfile"),
    Mark("a database of SQLite", 0, b"SQLite format 3"),
)
ZFS_LABEL = 256 * KIB
ZFS_LABELS = (0, ZFS_LABEL, -2 * ZFS_LABEL, -ZFS_LABEL)
"""Offsets of the four labels of a pool's device; each has a ring of uberblocks in its second half."""
UBERBLOCK = (0x00BAB10C).to_bytes(8, "little"), (0x00BAB10C).to_bytes(8, "big")


def signatures(handle: int, size: int) -> list[str]:
    """Return the contents of an open device or file of this size [bytes], in words; empty for a blank one."""
    found = [mark.what for mark in MARKS if _is_there(handle, size, mark)]
    found += ["ZFS"] if _has_zfs(handle, size) else []
    return list(dict.fromkeys(found))


def told_by_wipefs(path: Path) -> list[str]:
    """Return further marks found by wipefs (util-linux), if it is installed; it writes nothing."""
    tool = shutil.which("wipefs", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if not tool:
        return []
    command = [tool, "--no-act", "--noheadings", "--output", "TYPE", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return []
    return list(dict.fromkeys(f"{word} (wipefs)" for word in done.stdout.split()))


PATIENCE_S = 30
"""Timeout of wipefs."""


def _read(handle: int, size: int, offset: int, count: int) -> bytes:
    """Read bytes at an offset; empty if there are none."""
    place = offset if offset >= 0 else size // 512 * 512 + offset
    return os.pread(handle, count, place) if place >= 0 and place + count <= size else b""


def _is_there(handle: int, size: int, mark: Mark) -> bool:
    places = [mark.offset + nth * mark.step for nth in range(mark.times + 1)]
    return any(_read(handle, size, place, len(mark.magic)) == mark.magic for place in places)


def _has_zfs(handle: int, size: int) -> bool:
    aligned = size // ZFS_LABEL * ZFS_LABEL
    for label in ZFS_LABELS:
        ring = _read(handle, aligned, label + ZFS_LABEL // 2, ZFS_LABEL // 2)
        if any(ring[at : at + 8] in UBERBLOCK for at in range(0, len(ring), KIB)):
            return True
    return False
