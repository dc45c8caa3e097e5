"""The SMART / Health Information log of a drive as nvme-cli prints it, as JSON and as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lanetwin.measured.text import lines
from lanetwin.measured.values import Format, Source, Value, number, objects

if TYPE_CHECKING:
    from lanetwin.results import Better

KELVIN = 273.0
FIELDS: dict[str, tuple[str, str, Better, float]] = {
    "temperature": ("temperature", "°C", "neither", 1.0),
    "avail_spare": ("available spare", "%", "higher", 1.0),
    "available_spare": ("available spare", "%", "higher", 1.0),
    "percent_used": ("percentage used", "%", "lower", 1.0),
    "percentage_used": ("percentage used", "%", "lower", 1.0),
    "data_units_read": ("data read", "GB", "neither", 512e3 / 1e9),
    "data_units_written": ("data written", "GB", "neither", 512e3 / 1e9),
    "host_read_commands": ("host read commands", "", "neither", 1.0),
    "host_write_commands": ("host write commands", "", "neither", 1.0),
    "controller_busy_time": ("controller busy time", "min", "neither", 1.0),
    "power_cycles": ("power cycles", "", "neither", 1.0),
    "power_on_hours": ("power on hours", "h", "neither", 1.0),
    "unsafe_shutdowns": ("unsafe shutdowns", "", "lower", 1.0),
    "media_errors": ("media errors", "", "lower", 1.0),
    "num_err_log_entries": ("error log entries", "", "neither", 1.0),
    "warning_temp_time": ("warning temperature time", "min", "lower", 1.0),
    "critical_comp_time": ("critical temperature time", "min", "lower", 1.0),
}
"""Fields and their meaning. A data unit is 1000 units of 512 B (NVMe Base 2.0, figure 207)."""
LINE = re.compile(r"^\s*([A-Za-z][A-Za-z _]{2,40}?)\s*:\s*([\d,.]+)\s*(%|°?[CFK]\b)?")


def recognises(text: str, _source: Source) -> bool:
    """Whether a text is a SMART log."""
    head = text[:100_000].lower()
    return "data_units_written" in head or "smart log for nvme device" in head


def read(text: str, source: Source) -> list[Value]:
    """Read it."""
    told: dict[str, tuple[Any, int]] = {}
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        for document, line in objects(text, source):
            told |= {key: (value, line) for key, value in document.items() if key in FIELDS}
        if "temperature" in told:
            # in JSON it is in kelvin
            kelvin, line = told["temperature"]
            value = number(kelvin, source, line=line, path="temperature")
            told["temperature"] = (value - KELVIN if value > KELVIN / 2 else value, line)
    else:
        for at, line_text in lines(text, source):
            found = LINE.match(line_text)
            key = found[1].strip().lower().replace(" ", "_") if found else ""
            if found and key in FIELDS:
                told[key] = (found[2].replace(",", ""), at)
    return [
        Value(
            "now", metric, unit, better, number(value, source, line=line, path=key) * scale, workload="smart"
        )
        for key, (value, line) in told.items()
        for metric, unit, better, scale in (FIELDS[key],)
    ]


FORMAT = Format("smart", "nvme smart-log, as JSON and as text", recognises, read)
