"""The design of a sweep: axes, values, points, as computed by the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NotRequired, Self, TypedDict

from lanetwin import engine

if TYPE_CHECKING:
    from collections.abc import Sequence


class Level(TypedDict):
    """One value of an axis."""

    text: str
    """The displayed text."""
    set: str
    """The text after ``path=``."""
    number: float | None
    """As a number in the unit of the axis, if it is one."""
    cost: float | None
    """Its cost, if given."""


class Axis(TypedDict):
    """The values of one path, or of several that take the same values."""

    name: str
    paths: list[str]
    unit: str
    numeric: bool
    """Whether its values are numbers of one unit."""
    values: list[Level]


class Cheapest(TypedDict):
    """The criterion for the point of least cost."""

    at_least: float
    """The required share of the best, 0 to 1."""
    of: str
    """The metric."""
    workloads: list[str]
    unit: str


class Written(TypedDict):
    """A design in the engine's form."""

    axes: list[Axis]
    groups: list[list[int]]
    points: list[list[int]]
    sampled: bool
    cheapest: NotRequired[Cheapest | None]


@dataclass(frozen=True)
class Design:
    """The axes and points of a sweep."""

    axes: list[Axis]
    groups: list[list[int]]
    """Groups of axes that change together; each axis is in one group."""
    points: list[list[int]] = field(repr=False)
    """Each point as the indices of its values, one for each axis."""
    sampled: bool
    """Whether the points were drawn; otherwise they are every combination."""
    cheapest: Cheapest | None

    @classmethod
    def of(cls, written: Written) -> Self:
        """Parse a design of the engine."""
        return cls(
            written["axes"],
            written["groups"],
            written["points"],
            written["sampled"],
            written.get("cheapest"),
        )

    def written(self) -> Written:
        """Return it in the engine's form."""
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
        """Return the changes of the scenario for a point, each ``path=value``."""
        levels = zip(self.axes, self.levels(point), strict=True)
        return [f"{path}={level['set']}" for axis, level in levels for path in axis["paths"]]

    def cost(self, point: int) -> float | None:
        """Return the cost of a point: the sum over its values.

        None if no value has a cost, or one lacks it while other values of its axis have one.
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
        """The names of the axes, as short as is unambiguous."""
        return short([axis["name"] for axis in self.axes])

    @property
    def has_costs(self) -> bool:
        """Whether any value has a cost."""
        return any(level["cost"] is not None for axis in self.axes for level in axis["values"])

    @property
    def cost_unit(self) -> str:
        """The unit of costs."""
        return self.cheapest["unit"] if self.cheapest else ""

    def called(self, point: int) -> str:
        """Name a point by its values.

        >>> Design([{"name": "a.w", "paths": ["a.w"], "unit": "", "numeric": True,
        ...     "values": [{"text": "x4", "set": "x4", "number": 4, "cost": None}]}],
        ...     [[0]], [[0]], False, None).called(0)
        'w x4'
        """
        levels = zip(self.names, self.levels(point), strict=True)
        return ", ".join(f"{name} {level['text']}" for name, level in levels)


def short(names: Sequence[str]) -> list[str]:
    """Drop steps of paths that are not needed to distinguish them.

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
    """Return the design of a scenario's sweep, with additional axes.

    `vary` and `zipped` are each ``path=values``; with `sample`, this many points are drawn. For a `search` it
    has the varied axes, and only the first and the last point.

    Raises `LanetwinError` with all mistakes of the sweep.
    """
    asked: dict[str, Any] = {"sets": list(sets), "vary": list(vary), "zip": list(zipped)}
    asked |= {"sample": sample, "search": search}
    return Design.of(engine.sweep_design(path, asked))
