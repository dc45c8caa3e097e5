"""Metrics of a machine's components, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lanetwin.summary import unique

if TYPE_CHECKING:
    from lanetwin.results import ComponentMetric, Results


@dataclass(frozen=True, slots=True)
class ComponentTable:
    """Components with the same metrics, in the cases of one workload."""

    workload: str
    metrics: list[ComponentMetric]
    """One entry for each metric, with its name, unit and direction."""
    lines: dict[tuple[str, str, str], dict[str, float]]
    """Values by the names of metrics, for each case, variant and component."""

    @property
    def title(self) -> str:
        """The heading: the workload and the components."""
        components = unique(component for _, _, component in self.lines)
        named = ", ".join(components) if len(components) <= MOST_NAMED else f"{len(components)} components"
        return f"{self.workload}: what {named} did"


MOST_NAMED = 4
"""Maximum number of components named in a title."""


def component_tables(results: Results) -> list[ComponentTable]:
    """Return the tables of components, those with the same metrics together."""
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
