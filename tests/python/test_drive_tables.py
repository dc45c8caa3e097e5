"""docs/drives.md has every row of the sources of each shipped drive as this version comes to it."""

import os
import re

import pytest

import drive_tables
from lanetwin import engine
from published import CLAIMS, ROOT, rows

PAGE = ROOT / "docs" / "drives.md"
QUICK = ("p5800x",)
"""Drives whose scenario takes a second or two."""
DRIVES = sorted(page.stem.removeprefix("drives-") for page in CLAIMS.glob("drives-*.csv"))


@pytest.mark.parametrize(
    "drive", [drive if drive in QUICK else pytest.param(drive, marks=pytest.mark.long) for drive in DRIVES]
)
def test_the_table_of_a_drive_is_what_its_scenario_comes_to(drive: str) -> None:
    document = engine.run(str(ROOT / "scenarios" / "long" / f"drives-{drive}.yaml"))
    text = PAGE.read_text(encoding="utf-8")
    now = drive_tables.rewritten(text, drive, drive_tables.table(drive, dict(document)))
    if os.environ.get("ACCEPT"):
        PAGE.write_text(now, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == now, "if the change is meant: make claims ACCEPT=1"


def test_each_row_says_where_it_is_from_and_under_which_conditions() -> None:
    for drive in DRIVES:
        for row in rows(CLAIMS / f"drives-{drive}.csv"):
            assert row["conditions"], row
            assert row["source"], row
            assert row["how"] != "not-compared" or row["note"], f"why it stands beside nothing: {row}"


def test_what_was_gathered_of_shipped_drives_has_a_row() -> None:
    """The rows of component points of which lanetwin ships the drive, by drive and value."""
    points: dict[str, list[float]] = {
        "pm1743": [6600, 250],
        "pm9a3": [66000, 14.7, 120, 195, 195, 750, 15000, 60, 180, 180, 180, 525, 3300, 2000, 1000],
        "e16": [5000, 4300],
        "p5800x": [1500, 6000],
    }
    for drive, values in points.items():
        published = [float(row["published"]) for row in rows(CLAIMS / f"drives-{drive}.csv")]
        for value in values:
            published.remove(value)


def test_what_brands_rate_one_hardware_up_to_holds_together() -> None:
    """Three brands sell the hardware of this part: it is as fast as the lowest of them allows."""
    settings = {
        name: value.split("ns")[0]
        for name, value in re.findall(
            r"^  (firmware\.[a-z]+):\n    value: (\S+)$",
            (ROOT / "parts" / "phison-e16.yaml").read_text(encoding="utf-8"),
            re.M,
        )
    }
    for access in ("read", "write"):
        rated = [
            float(row["published"])
            for row in rows(CLAIMS / "drives-e16.csv")
            if row["bound"] == "at-most" and row["workload"] == f"t4q128-{access}"
        ]
        most = int(settings["firmware.engines"]) / int(settings[f"firmware.{access}"]) * 1e6
        assert len(rated) == 3
        assert most == pytest.approx(min(rated), rel=1e-3), access
