"""Whether and when cases that go in rounds were steady, in the words and units people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.numbers import share

if TYPE_CHECKING:
    from lanetwin.results import Results, Round, SteadyState

WINDOW = 5
"""The rounds that the rule looks at (SNIA PTS 2.0.1)."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """What has to be steady: its name, its unit, and how many of the document's units are one."""

    name: str
    unit: str
    scale: float
    key: str

    def of(self, one: Round) -> float:
        """Return its value in a round; 0 if nothing was done in it."""
        value = one[self.key]  # type: ignore[literal-required]
        return (value or 0.0) / self.scale


TRACKED = {
    "iops": Tracked("IOPS", "k/s", 1e3, "iops"),
    "throughput": Tracked("throughput", "MB/s", 1e6, "bytes_per_second"),
    "latency": Tracked("mean latency", "µs", 1e3, "latency_ns"),
}
"""By their names in the document."""


def cases(results: Results) -> list[SteadyState]:
    """Return the first repeat of every case that went in rounds: what is drawn and tabulated."""
    return [steady for steady in results.get("steady", []) if steady["repeat"] == 1]


def verdict(steady: SteadyState) -> str:
    """Say whether and when it was steady.

    >>> one = {"rounds": [{}] * 9, "attained": True}
    >>> verdict(one)
    'after 9 rounds'
    >>> verdict(one | {"attained": False})
    'not after 9 rounds'
    """
    told = f"after {len(steady['rounds'])} rounds"
    return told if steady["attained"] else f"not {told}"


def agreement(results: Results, steady: SteadyState) -> str:
    """Say in how many repeats it was steady."""
    place = (steady["variant"], steady["workload"], steady["case"])
    same = [s for s in results.get("steady", []) if (s["variant"], s["workload"], s["case"]) == place]
    return f"{sum(s['attained'] for s in same)} of {len(same)}"


def beside_limit(value: float | None, most: float) -> str:
    """Say a share beside its limit."""
    return "–" if value is None else f"{share(value)} of {share(most)}"
