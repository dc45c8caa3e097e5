"""What is drawn to be compared with MQSim is a drive here and a pair of files there, without MQSim."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

import mqsim
from lanetwin import engine

if TYPE_CHECKING:
    from pathlib import Path

DRIVES = list(mqsim.drawn(1, 40))


@pytest.mark.parametrize("drive", DRIVES)
def test_a_drawn_drive_is_a_scenario_without_a_word_of_warning(drive: mqsim.Drive, tmp_path: Path) -> None:
    path = tmp_path / "mqsim.yaml"
    path.write_text(drive.scenario())
    assert not engine.check(str(path))["diagnostics"]


def test_what_is_drawn_follows_from_the_seed_and_is_of_all_kinds() -> None:
    assert list(mqsim.drawn(1, 40)) == DRIVES
    assert list(mqsim.drawn(2, 40)) != DRIVES
    assert [drive.kind for drive in islice(DRIVES, 4)] == list(mqsim.DRAWN)
    assert len({drive.order for drive in DRIVES}) > 12
    for drive in DRIVES:
        whole = drive.blocks * drive.pages * drive.all_planes * drive.page
        written = drive.requests * drive.size * (100 - drive.read_share) / 100
        assert written >= 1.9 * whole if drive.collects else written <= whole / 2
        assert drive.working_set % drive.size == 0


@pytest.mark.parametrize("drive", DRIVES[:8])
def test_mqsim_is_told_the_same_drive_and_load(drive: mqsim.Drive) -> None:
    device, workload = ET.fromstring(drive.device()), ET.fromstring(drive.workload())  # noqa: S314
    told = {element.tag: element.text for element in [*device.iter(), *workload.iter()]}
    assert told["Plane_Allocation_Scheme"] == drive.order
    assert told["Page_Read_Latency_MSB"] == str(drive.read[2])
    assert told["Page_Program_Latency_LSB"] == str(drive.program * 1000)
    assert told["Block_No_Per_Plane"] == str(drive.blocks)
    assert told["Channel_IDs"] == ",".join(str(channel) for channel in range(drive.channels))
    assert told["Average_Request_Size"] == str(drive.size // 512)
    assert told["Total_Requests_To_Generate"] == str(drive.requests)
    assert told["Read_Percentage"] == str(drive.read_share)


def test_a_program_that_fails_is_no_result(tmp_path: Path) -> None:
    """MQSim ends with a signal, or stands still, where its own collection goes wrong."""
    program = tmp_path / "MQSim"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(mqsim.MqsimError, match="ended with 3"):
        mqsim.theirs(program, DRIVES[0])
    folder = 'folder=$(dirname "$4")'
    flow = "<Request_Count>{}</Request_Count><End_to_End_Request_Delay>57</End_to_End_Request_Delay>"
    for asked in (DRIVES[0].requests, 5):
        text = f"<R><Host.IO_Flow>{flow.format(asked)}</Host.IO_Flow></R>"
        program.write_text(f"#!/bin/sh\n{folder}\nprintf '{text}' > $folder/workload_scenario_1.xml\n")
        if asked == 5:
            with pytest.raises(mqsim.MqsimError, match="stood still after 5 of"):
                mqsim.theirs(program, DRIVES[0])
        else:
            # whole microseconds, cut off
            assert mqsim.theirs(program, DRIVES[0]) == pytest.approx(57_500)


def test_a_small_drive_is_simulated() -> None:
    """At depth 1 a read takes its command, the page, the data and the link."""
    drive = replace(DRIVES[0], cell="slc", read=(40_000,) * 3, page=4096, size=4096, depth=1, requests=300)
    drive = replace(drive, width=1, rate=1000)
    # 290 ns of command and address, 20 ns of R/B#, 4096 bytes of 1 ns, and less than 1 us to flash and back
    assert mqsim.ours(drive) == pytest.approx(44_406, abs=1_000)
