"""What a sweep goes through: axes, values, points. The engine computes it; here it has names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NotRequired, Self, TypedDict

from lanetwin import engine

if TYPE_CHECKING:
    from collections.abc import Sequence


class Level(TypedDict):
    """One value of an axis."""

    text: str
    """As it is shown."""
    set: str
    """As it stands behind ``path=``."""
    number: float | None
    """As a number in the unit of the axis, if it is one."""
    cost: float | None
    """What it costs, if that is said."""


class Axis(TypedDict):
    """What one path goes through, or several that take the same values."""

    name: str
    paths: list[str]
    unit: str
    numeric: bool
    """Whether its values are numbers of one unit."""
    values: list[Level]


class Cheapest(TypedDict):
    """Which point of least cost is looked for."""

    at_least: float
    """The share of the best that has to be reached, 0 to 1."""
    of: str
    """The metric."""
    workloads: list[str]
    unit: str


class Written(TypedDict):
    """A design as the engine writes it."""

    axes: list[Axis]
    groups: list[list[int]]
    points: list[list[int]]
    sampled: bool
    cheapest: NotRequired[Cheapest | None]


@dataclass(frozen=True)
class Design:
    """What is swept, and the points."""

    axes: list[Axis]
    groups: list[list[int]]
    """The axes that go together; each axis is in one group."""
    points: list[list[int]] = field(repr=False)
    """Each point as the places of its values, one for each axis."""
    sampled: bool
    """Whether the points were drawn; otherwise they are every combination."""
    cheapest: Cheapest | None

    @classmethod
    def of(cls, written: Written) -> Self:
        """Read a design as the engine writes it."""
        return cls(
            written["axes"],
            written["groups"],
            written["points"],
            written["sampled"],
            written.get("cheapest"),
        )

    def written(self) -> Written:
        """Return it as the engine writes it."""
        return {
            "axes": self.axes,
            "groups": self.groups,
            "points": self.points,
            "sampled": self.sampled,
            "cheapest": self.cheapest,
        }

    def __len__(self) -> int:
        return len(self.points)

    def levels(self, point: int) -> list[Level]:
        """Return the value of each axis at a point."""
        return [axis["values"][at] for axis, at in zip(self.axes, self.points[point], strict=True)]

    def sets(self, point: int) -> list[str]:
        """Return the changes that make the scenario the point, each ``path=value``."""
        levels = zip(self.axes, self.levels(point), strict=True)
        return [f"{path}={level['set']}" for axis, level in levels for path in axis["paths"]]

    def cost(self, point: int) -> float | None:
        """Return what a point costs: the sum over its values.

        None if no value has a cost, or one has none though other values of its axis have.
        """
        costs = []
        for axis, level in zip(self.axes, self.levels(point), strict=True):
            if level["cost"] is not None:
                costs.append(level["cost"])
            elif any(other["cost"] is not None for other in axis["values"]):
                return None
        return sum(costs) if costs else None

    @property
    def names(self) -> list[str]:
        """What the axes are called: as short as they can be told apart."""
        return short([axis["name"] for axis in self.axes])

    @property
    def has_costs(self) -> bool:
        """Whether any value has a cost."""
        return any(level["cost"] is not None for axis in self.axes for level in axis["values"])

    @property
    def cost_unit(self) -> str:
        """What costs are counted in."""
        return self.cheapest["unit"] if self.cheapest else ""

    def called(self, point: int) -> str:
        """Say which point it is.

        >>> Design([{"name": "a.w", "paths": ["a.w"], "unit": "", "numeric": True,
        ...     "values": [{"text": "x4", "set": "x4", "number": 4, "cost": None}]}],
        ...     [[0]], [[0]], False, None).called(0)
        'w x4'
        """
        levels = zip(self.names, self.levels(point), strict=True)
        return ", ".join(f"{name} {level['text']}" for name, level in levels)


def short(names: Sequence[str]) -> list[str]:
    """Drop from paths what all need not say.

    >>> short(["links.up.width", "links.bay.width", "workloads.rand.block.depth"])
    ['up.width', 'bay.width', 'depth']
    >>> short(["bay width"])
    ['bay width']
    """
    whole = [name.split(".") for name in names]
    shown = [words[-1:] for words in whole]
    while len({tuple(words) for words in shown}) < len({tuple(words) for words in whole}):
        counts = [shown.count(words) for words in shown]
        longer = [
            words[-len(now) - 1 :] if count > 1 else now
            for words, now, count in zip(whole, shown, counts, strict=True)
        ]
        if longer == shown:
            break
        shown = longer
    return [".".join(words) for words in shown]


def design(
    path: str,
    *,
    sets: Sequence[str] = (),
    vary: Sequence[str] = (),
    zipped: Sequence[str] = (),
    sample: int | None = None,
    search: bool = False,
) -> Design:
    """Return what a scenario sweeps, with what is asked for beside it.

    `vary` and `zipped` are each ``path=values``; with `sample`, so many points are drawn.
    For a `search` it is what that varies, and of its points the first and the last.

    Raises `LanetwinError` with everything that is wrong with the sweep.
    """
    asked: dict[str, Any] = {"sets": list(sets), "vary": list(vary), "zip": list(zipped)}
    asked |= {"sample": sample, "search": search}
    return Design.of(engine.sweep_design(path, asked))
