"""The load of writing measurements on a drive: the maximum number of bytes, and the used endurance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.measure import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanetwin.measure.jobs import Test
    from lanetwin.measure.target import Target
    from lanetwin.measure.writing import Owned

FASTEST_GB_S = 16.0
"""Rate without a known link: that of Gen5 x4, 32 GT/s on four lanes."""
_RATE = re.compile(r"([0-9.]+) GT/s")


@dataclass(frozen=True, slots=True)
class Burden:
    """The data written to a target."""

    target: Target
    named: str
    model: str
    runs: int
    seconds: float
    """Duration of each run, from its start."""
    rate_gb_s: float
    """Upper bound of the rate: that of the drive's link, without headers or encoding."""
    is_known: bool
    """Whether that is the link's rate, or the default without one."""
    used: str
    """The used share of its endurance according to SMART; empty if unknown."""

    @property
    def bytes(self) -> int:
        """The maximum number of bytes written."""
        return round(self.runs * self.seconds * self.rate_gb_s * 1e9)

    def told(self) -> str:
        """Describe it in a sentence."""
        whole = self.bytes / self.target.size
        rate = f"{self.rate_gb_s:.3g} GB/s, " + (
            "the rate of its link" if self.is_known else "as no link is known"
        )
        parts = [
            f"{self.target.path} ({self.model}, {self.named}): what is on it will be lost",
            f"at most {_size(self.bytes)} are written, in {self.runs} runs of {self.seconds:g} s at {rate}",
            f"that is {whole:.3g} times its {_size(self.target.size)}",
            f"of its life {self.used} is used"
            if self.used
            else "how much of its life is used it does not say",
        ]
        return "; ".join(parts)


def burdens(owned: Sequence[Owned], tests: Sequence[Test], *, seconds: float, repeats: int) -> list[Burden]:
    """Return the load of the writing tests on each target; a run lasts `seconds`, including its ramp."""
    runs = repeats * sum(test.writes for test in tests)
    found = []
    for one in owned:
        device = environment.device(one.target)
        rate = _link_gb_s(device.get("link", {}))
        health = device.get("health", {})
        used = health.get("percentage_used") or health.get("percent_used") or ""
        found.append(
            Burden(
                one.target,
                one.serial,
                one.model,
                runs,
                seconds,
                rate or FASTEST_GB_S,
                bool(rate),
                used,
            )
        )
    return found


def _link_gb_s(link: dict[str, str]) -> float:
    """Return the rate of a link as reported by the kernel; 0 if unknown.

    >>> _link_gb_s({"current_link_speed": "16.0 GT/s PCIe", "current_link_width": "4"})
    8.0
    """
    speed = _RATE.match(link.get("current_link_speed", ""))
    width = link.get("current_link_width", "")
    return float(speed[1]) * int(width) / 8 if speed and width.isdigit() else 0.0


def _size(count: float) -> str:
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} B"
