"""What the components of a machine say of themselves, in the shape people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.summary import unique

if TYPE_CHECKING:
    from lanetwin.results import ComponentMetric, Results


@dataclass(frozen=True, slots=True)
class ComponentTable:
    """What components that have the same metrics say of themselves in the cases of one workload."""

    workload: str
    metrics: list[ComponentMetric]
    """One of each, for its name, unit and direction."""
    lines: dict[tuple[str, str, str], dict[str, float]]
    """Values by the names of metrics, for each case, variant and component."""

    @property
    def title(self) -> str:
        """What the table is of."""
        components = unique(component for _, _, component in self.lines)
        named = ", ".join(components) if len(components) <= MOST_NAMED else f"{len(components)} components"
        return f"{self.workload}: what {named} did"


MOST_NAMED = 4
"""So many components stand in a title by name."""


def component_tables(results: Results) -> list[ComponentTable]:
    """Return what components say of themselves, those with the same metrics together."""
    told: dict[tuple[str, str, str, str], dict[str, ComponentMetric]] = {}
    for metric in results.get("components", []):
        key = (metric["workload"], metric["case"], metric["variant"], metric["component"])
        told.setdefault(key, {})[metric["metric"]] = metric
    found: dict[tuple[str, tuple[str, ...]], ComponentTable] = {}
    for (workload, *place), metrics in told.items():
        table = ComponentTable(workload, list(metrics.values()), {})
        case, variant, component = place
        values = {name: metric["value"] for name, metric in metrics.items()}
        found.setdefault((workload, tuple(metrics)), table).lines[case, variant, component] = values
    return list(found.values())
