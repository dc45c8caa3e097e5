"""Drives that MQSim simulates, drawn from a seed: the mean latency of a closed loop there and here.

    make mqsim MQSIM=/path/to/MQSim OPTIONS="--seed 1 --count 40"

Geometry, timings, order of allocation, size, depth and mix are drawn; of each drive the device and workload
files of MQSim and a scenario are written, both simulators run it, and the mean latencies are compared, of all
requests from the first on. Nothing is fitted. What MQSim does otherwise on purpose is in docs/flash.md.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from lanetwin import engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ORDERS = tuple("".join(order) for order in permutations("CWDP"))
"""Every order of channel, way, die and plane."""
BARS = {"reads": 0.01, "writes": 0.05, "70:30": 0.05, "writes, GC": 0.10, "70:30, GC": 0.10}
"""The mean absolute error that each kind of load may have."""
DRAWN = ("reads", "writes", "70:30", "writes, GC")
"""The kinds that are drawn; MQSim comes to no end where reads and garbage collection meet."""
REPEATS = 3
"""Loads that are random in both; at a large depth their means differ by a hundredth or two."""
LONGEST = 600
"""How long MQSim may take [s]."""
SECTOR = 512
UNIT = 4096
FREE = 0.1
"""The share of the blocks of a plane that are kept free: MQSim collects while fewer are."""


@dataclass(frozen=True)
class Drive:
    """A drive, and what is asked of it."""

    kind: str
    """A key of `BARS`."""
    channels: int
    chips: int
    dies: int
    planes: int
    blocks: int
    pages: int
    page: int
    """Bytes."""
    cell: str
    read: tuple[int, int, int]
    """tR of LSB, CSB and MSB pages [ns]."""
    program: int
    """tPROG [us]."""
    erase: int
    """tBERS [us]."""
    width: int
    """Bytes of a transfer."""
    rate: int
    """Transfers [MT/s]."""
    order: str
    spare: float
    """Over-provisioning, as a share of the flash."""
    size: int
    """Bytes of a request."""
    depth: int
    requests: int
    seed: int

    @property
    def collects(self) -> bool:
        """Whether garbage is collected."""
        return self.kind.endswith("GC")

    @property
    def read_share(self) -> int:
        """How many of a hundred requests are reads."""
        return {"r": 100, "w": 0, "7": 70}[self.kind[0]]

    @property
    def all_planes(self) -> int:
        """The planes of the drive."""
        return self.channels * self.chips * self.dies * self.planes

    @property
    def logical_pages(self) -> int:
        """What the host addresses: the same of every plane."""
        physical = self.blocks * self.pages
        return int(physical * (1 - self.spare)) * self.all_planes

    @property
    def working_set(self) -> int:
        """How many bytes are read and written: all that is addressed where garbage is collected."""
        share = 1.0 if self.collects else 0.5
        return int(self.logical_pages * self.page * share) // self.size * self.size

    def scenario(self) -> str:
        """Write it as a scenario.

        Firmware, software and memory take no time, and the link carries what MQSim's does.
        """
        first, second, third = self.read
        # an MLC part has LSB and MSB pages, an SLC part the first; MQSim adds 20 ns of R/B# to every read
        steps = {"slc": (0, 0), "mlc": (third - first, 0), "tlc": (second - first, third - second)}[self.cell]
        capacity = -(-self.logical_pages * self.page // UNIT) * UNIT
        machine = {
            "model": "nvme-ssd",
            "capacity": f"{capacity}B",
            "nand.cell": self.cell,
            "nand.channels": self.channels,
            "nand.chips": self.chips,
            "nand.dies": self.dies,
            "nand.planes": self.planes,
            "nand.blocks": self.blocks,
            "nand.pages": self.pages,
            "nand.page": f"{self.page}B",
            "nand.read": f"{first + 20}ns",
            "nand.read-step": f"{steps[0]}ns",
            "nand.read-step.last": f"{steps[1]}ns",
            "nand.program": f"{self.program}us",
            "nand.erase": f"{self.erase}us",
            "nand.bus": self.rate,
            "nand.bus.width": self.width,
            "ftl.allocation": self.order,
            "ftl.gc.low": int(FREE * self.blocks),
            "buffer": f"{max(1 << 22, 4 * self.depth * self.size)}B",
            **FIXED,
        }
        block = {
            "size": f"{self.size}B",
            "depth": self.depth,
            "read": f"{self.read_share}%",
            "span": f"{self.working_set}B",
            "requests": self.requests,
        }
        host = ", ".join(f"{key}: {value}" for key, value in HOST.items())
        load = ", ".join(f"{key}: {value}" for key, value in block.items())
        drive = "\n".join(f"    {key}: {value}" for key, value in machine.items())
        return (
            "about: What does a drive do that MQSim simulates?\n"
            f"machine:\n  host: {{{host}}}\n  ssd:\n{drive}\n"
            "links:\n  slot: {from: host, to: ssd}\n"
            f"workloads:\n  load: {{block: {{{load}}}, on: host, target: ssd}}\n"
            f"run: {{seed: {self.seed}, repeats: 1, warm-up: 0}}\n"
        )

    def device(self) -> str:
        """Write it as MQSim's device file."""
        root = ET.Element("Execution_Parameter_Set")
        add(root, "Host_Parameter_Set", MQSIM_HOST)
        device = add(
            root,
            "Device_Parameter_Set",
            MQSIM_DEVICE
            | {
                "Seed": self.seed + 320,
                "GC_Block_Selection_Policy": "RGA" if self.kind == "70:30, GC" else "GREEDY",
                "Plane_Allocation_Scheme": self.order,
                "Overprovisioning_Ratio": self.spare,
                "Flash_Channel_Count": self.channels,
                "Flash_Channel_Width": self.width,
                "Channel_Transfer_Rate": self.rate,
                "Chip_No_Per_Channel": self.chips,
            },
        )
        latencies = {
            f"Page_{what}_Latency_{of}": value
            for what, values in (("Read", self.read), ("Program", (self.program * 1000,) * 3))
            for of, value in zip(("LSB", "CSB", "MSB"), values, strict=True)
        }
        add(
            device,
            "Flash_Parameter_Set",
            latencies
            | {
                "Flash_Technology": self.cell.upper(),
                "CMD_Suspension_Support": "NONE",
                "Block_Erase_Latency": self.erase * 1000,
                "Block_PE_Cycles_Limit": 10_000,
                "Suspend_Erase_Time": 700_000,
                "Suspend_Program_Time": 100_000,
                "Die_No_Per_Chip": self.dies,
                "Plane_No_Per_Die": self.planes,
                "Block_No_Per_Plane": self.blocks,
                "Page_No_Per_Block": self.pages,
                "Page_Capacity": self.page,
                "Page_Metadat_Capacity": 0,
            },
        )
        return text(root)

    def workload(self) -> str:
        """Write what is asked of it as MQSim's workload file."""
        root = ET.Element("MQSim_IO_Scenarios")
        every = {"Channel": self.channels, "Chip": self.chips, "Die": self.dies, "Plane": self.planes}
        ids = {f"{name}_IDs": ",".join(map(str, range(count))) for name, count in every.items()}
        add(
            ET.SubElement(root, "IO_Scenario"),
            "IO_Flow_Parameter_Set_Synthetic",
            MQSIM_FLOW
            | ids
            | {
                "Working_Set_Percentage": 100 if self.collects else 50,
                "Read_Percentage": self.read_share,
                "Address_Alignment_Unit": self.size // SECTOR,
                "Average_Request_Size": self.size // SECTOR,
                "Seed": self.seed + 797,
                "Average_No_of_Reqs_in_Queue": self.depth,
                "Total_Requests_To_Generate": self.requests,
            },
        )
        return text(root)


HOST = {
    "model": "root-complex",
    "port.gen": 5,
    "port.mps": "128B",
    "issue": "1ns",
    "iommu": "false",
    "memory.remote": "false",
    "memory.dram": "0ns",
    "memory.llc-hit": "0ns",
    "port.drain": "0ns",
}
FIXED = {
    "port.gen": 5,
    "port.width": 4,
    "port.mps": "128B",
    "port.drain": "0ns",
    "issue": "1ns",
    "firmware.engines": 1024,
    "firmware.read": "0ns",
    "firmware.read-latency": "0ns",
    "firmware.write": "0ns",
    "firmware.write-latency": "0ns",
    "chunk": "all",
    "nand.spare": "0B",
    "nand.program-mode": "by-page",
    "nand.rules": "mqsim",
    "nand.same-page": "true",
    "nand.cache-read": "false",
    "nand.cache-program": "false",
    "nand.suspend": "false",
    "nand.read-burst": 1_000_000,
    "ftl.initial": "empty",
    "ftl.lookup": "0ns",
    "ftl.read-ahead.streams": 0,
    "buffer.protected": "false",
    "buffer.latency": "0ns",
    "driver.engine": "spdk",
    "driver.spdk.submit": "0ns",
    "driver.spdk.complete": "0ns",
    "driver.poll": "0ns",
}
MQSIM_HOST = {
    "PCIe_Lane_Bandwidth": 3.938,
    "PCIe_Lane_Count": 4,
    "SATA_Processing_Delay": 400_000,
    "Enable_ResponseTime_Logging": "false",
    "ResponseTime_Logging_Period_Length": 1_000_000,
}
MQSIM_DEVICE = {
    "Enabled_Preconditioning": "false",
    "Memory_Type": "FLASH",
    "HostInterface_Type": "NVME",
    "IO_Queue_Depth": 65_535,
    "Queue_Fetch_Size": 512,
    "Caching_Mechanism": "SIMPLE",
    "Data_Cache_Sharing_Mode": "SHARED",
    "Data_Cache_Capacity": 268_435_456,
    "Data_Cache_DRAM_Row_Size": 8_192,
    "Data_Cache_DRAM_Data_Rate": 800,
    "Data_Cache_DRAM_Data_Busrt_Size": 4,
    "Data_Cache_DRAM_tRCD": 13,
    "Data_Cache_DRAM_tCL": 13,
    "Data_Cache_DRAM_tRP": 13,
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "true",
    "CMT_Capacity": 2_097_152,
    "CMT_Sharing_Mode": "SHARED",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "GC_Exec_Threshold": FREE,
    "Use_Copyback_for_GC": "false",
    "Preemptible_GC_Enabled": "false",
    "GC_Hard_Threshold": 0.005,
    "Dynamic_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Enabled": "false",
    "Static_Wearleveling_Threshold": 100,
    "Preferred_suspend_erase_time_for_read": 700_000,
    "Preferred_suspend_erase_time_for_write": 700_000,
    "Preferred_suspend_write_time_for_read": 100_000,
    "Flash_Comm_Protocol": "NVDDR2",
}
MQSIM_FLOW = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "TURNED_OFF",
    "Initial_Occupancy_Percentage": 0,
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": 0,
    "Generated_Aligned_Addresses": "true",
    "Request_Size_Distribution": "FIXED",
    "Variance_Request_Size": 0,
    "Intensity": 32_768,
    "Stop_Time": 0,
}


def add(parent: ET.Element, name: str, values: dict[str, object]) -> ET.Element:
    """Add an element with an element for each value."""
    element = ET.SubElement(parent, name)
    for key, value in values.items():
        ET.SubElement(element, key).text = str(value)
    return element


def text(root: ET.Element) -> str:
    """Write a document."""
    return '<?xml version="1.0" encoding="us-ascii"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def drawn(seed: int, count: int, kinds: Sequence[str] = DRAWN) -> Iterator[Drive]:
    """Draw so many drives, of these kinds in turn."""
    chance = random.Random(f"MQSim {seed}")  # noqa: S311
    for number in range(count):
        kind = kinds[number % len(kinds)]
        collects = kind.endswith("GC")
        most = 8 if collects else 128
        while True:
            channels = chance.choice((1, 2, 4, 8, 16))
            chips, dies, in_die = (chance.choice((1, 2, 4)) for _ in range(3))
            planes = channels * chips * dies * in_die
            if planes <= most:
                break
        page = chance.choice((4096, 8192, 16384))
        fastest = chance.randrange(10, 60) * 1000
        second, third = (chance.randrange(0, 30) * 1000 for _ in range(2))
        blocks, pages = (256, 32) if collects else (chance.choice((128, 256)), chance.choice((64, 128, 192)))
        spare = chance.choice((0.30, 0.35, 0.40)) if collects else 0.12
        size = page * chance.choice((1, 1, 2, 4))
        whole = blocks * pages * planes * page // size
        written = {"r": 0.0, "w": 1.0, "7": 0.3}[kind[0]]
        # what collects is written two times over; what does not is never more than half full
        requests = int(2 * whole / written) if collects else 60_000
        if not collects and written:
            requests = min(requests, int(whole / 2 / written))
        yield Drive(
            kind=kind,
            channels=channels,
            chips=chips,
            dies=dies,
            planes=in_die,
            blocks=blocks,
            pages=pages,
            page=page,
            cell=chance.choice(("slc", "mlc", "tlc")),
            read=(fastest, fastest + second, fastest + second + third),
            program=chance.randrange(200, 1200, 50),
            erase=chance.randrange(2000, 6000, 100),
            width=chance.choice((1, 2)),
            rate=chance.choice((200, 333, 400, 500, 1000)),
            order=chance.choice(ORDERS),
            spare=spare,
            size=size,
            depth=chance.choice((1, 4, 16, 64, 128)),
            requests=requests,
            seed=seed + number,
        )


class MqsimError(Exception):
    """MQSim has come to no result."""


def theirs(binary: Path, drive: Drive) -> float:
    """Return what MQSim says: the mean latency [ns]; it prints whole microseconds, the rest cut off."""
    with tempfile.TemporaryDirectory() as folder:
        device, workload = Path(folder) / "device.xml", Path(folder) / "workload.xml"
        device.write_text(drive.device())
        workload.write_text(drive.workload())
        command = [str(binary), "-i", str(device), "-w", str(workload)]
        try:
            ended = subprocess.run(
                command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            message = f"has no end in {LONGEST} s"
            raise MqsimError(message) from None
        if ended.returncode != 0:
            message = f"ended with {ended.returncode}"
            raise MqsimError(message)
        results = ET.parse(Path(folder) / "workload_scenario_1.xml")  # noqa: S314
    flow = ".//Host.IO_Flow/"
    asked, latency = (
        float(results.findtext(flow + of, "0")) for of in ("Request_Count", "End_to_End_Request_Delay")
    )
    if asked < drive.requests:
        message = f"stood still after {asked:.0f} of {drive.requests} requests"
        raise MqsimError(message)
    return 1000 * (latency + 0.5)


def ours(drive: Drive) -> float:
    """Return what lanetwin says: the mean latency [ns] of reads and writes together."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mqsim.yaml"
        path.write_text(drive.scenario())
        rows = engine.run(str(path))["rows"]
    found = {row["metric"]: row["value"] for row in rows if row.get("device") is None}
    rates = {metric.removesuffix("IOPS"): value for metric, value in found.items() if metric.endswith("IOPS")}
    return sum(rate * found[f"{of}latency"] for of, rate in rates.items()) / sum(rates.values())


def main() -> int:
    """Run drives in both, and say whether the bars are met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mqsim", type=Path, required=True, help="the program MQSim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--kind", choices=list(BARS), help="only of this kind")
    options = parser.parse_args()
    errors: dict[str, list[float]] = {}
    for drive in drawn(options.seed, options.count, [options.kind] if options.kind else DRAWN):
        repeats = [replace(drive, seed=drive.seed + 1000 * number) for number in range(REPEATS)]
        try:
            there = mean(theirs(options.mqsim.resolve(), repeat) for repeat in repeats)
        except MqsimError as why:
            sys.stdout.write(f"{drive.kind:11} MQSim {why}: {drive}\n")
            continue
        here = mean(map(ours, repeats))
        error = here / there - 1
        errors.setdefault(drive.kind, []).append(abs(error))
        shape = "x".join(map(str, (drive.channels, drive.chips, drive.dies, drive.planes)))
        sys.stdout.write(
            f"{drive.kind:11} {shape:9} {drive.order} {drive.cell} page {drive.page // 1024:2} KiB "
            f"size {drive.size // 1024:2} KiB depth {drive.depth:3}  "
            f"MQSim {there / 1000:9.1f} us here {here / 1000:9.1f} us {error:+7.2%}\n"
        )
        sys.stdout.flush()
    met = True
    for kind, found in errors.items():
        meets = mean(found) <= BARS[kind]
        met &= meets
        sys.stdout.write(
            f"{kind:11} {len(found):3} drives: mean error {mean(found):.2%}, worst {max(found):.2%}; "
            f"bar {BARS[kind]:.0%}: {'met' if meets else 'MISSED'}\n"
        )
    return 0 if met else 3


if __name__ == "__main__":
    sys.exit(main())
