"""A complete calibration: the choice of parameters and rows, the fit, and the errors of the other rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lanetwin import engine
from lanetwin.calibration import estimate
from lanetwin.calibration.design import choose, matter, slopes_over_range
from lanetwin.calibration.libraries import libraries
from lanetwin.calibration.outcome import Outcome, Role, Told, Value, judged
from lanetwin.calibration.problem import refuse
from lanetwin.calibration.rows import Place, Target, named, places, targets
from lanetwin.calibration.simulator import Simulator
from lanetwin.calibration.space import Parameter, candidates
from lanetwin.errors import Diagnostic, LanetwinError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from lanetwin.results import Results

FEWEST = 2
"""Fewer places than this cannot be divided into rows that calibrate and rows that judge."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of a calibration."""

    part: str
    scenario: Path
    sets: Sequence[str] = ()
    free: Sequence[str] = ()
    """Parameters that may move, `NAME` or `NAME=LOW..HIGH`; by default unconfirmed times and rates."""
    on: int | Sequence[str] | None = None
    """The number of places for calibration, or patterns of their names; by default half of them."""
    noise: float = 0.02
    """Relative spread of repeated measurements."""
    tell: Callable[[dict[str, Any]], object] | None = field(default=None, compare=False)


def calibrate(asked: Asked, measured: Results) -> Outcome:
    """Fit the part's parameters to some rows, and judge the result by the others.

    The rows for calibration are chosen by their dependence on parameters in simulation, never by measured
    values. Raises `LanetwinError` if the scenario, the rows or the parameters do not allow it.
    """
    libraries()
    if measured["kind"] != "measured":
        refuse(
            "CA003",
            f"nothing was measured: these results are {measured['kind']}",
            "give what `lanetwin measure` or `import` has made, or the file of the program that measured",
            file=measured["name"],
        )
    components, settings = _components(asked)
    part = engine.part(asked.part, str(asked.scenario))
    simulator = Simulator(asked.scenario, components, asked.sets, asked.tell)
    rows, notes = targets(measured, simulator.base())
    parameters = candidates(part, settings, asked.free)
    if len(places(rows)) < FEWEST:
        refuse(
            "CA003",
            f"{len(places(rows))} of the scenario's cases were measured",
            "workloads and cases of the scenario are found by the names that they have in the measurement",
            file=str(asked.scenario),
        )
    slopes = slopes_over_range(simulator, parameters, rows)
    keep = matter(slopes)
    if not keep:
        names = ", ".join(one.name for one in parameters) or "none"
        refuse(
            "CA006",
            f"no row depends on any parameter that may move ({names})",
            "name others with --free, or measure what depends on them",
            file=str(asked.scenario),
        )
    idle = [one for at, one in enumerate(parameters) if at not in keep]
    parameters = [parameters[at] for at in keep]
    slopes = [slope[:, keep] for slope in slopes]
    chosen = _chosen(asked, rows, slopes)
    return _fitted(asked, part, simulator, _Plan(rows, chosen, parameters, idle, notes))


@dataclass(frozen=True, slots=True)
class _Plan:
    """Everything that is known before the fit."""

    rows: Sequence[Target]
    chosen: Sequence[Place]
    parameters: Sequence[Parameter]
    idle: Sequence[Parameter]
    notes: Sequence[str]


def _fitted(asked: Asked, part: Mapping[str, Any], simulator: Simulator, plan: _Plan) -> Outcome:
    parameters = plan.parameters
    own = [row for row in plan.rows if row.place in plan.chosen]
    fit = estimate.fitted(simulator, parameters, own, asked.noise)
    spread = estimate.spread(simulator, fit)
    start = [one.place(one.start) for one in parameters]
    before, after = simulator.at(parameters, start), simulator.at(parameters, fit.point)
    others = [(name, simulator.at(parameters, point)) for name, point in spread.alternatives]
    lines = []
    for row in plan.rows:
        ends = [(name, values.get(row.key, 0.0)) for name, values in others]
        role = Role.CALIBRATED if row.place in plan.chosen else Role.PREDICTED
        value = Value(row, role, before.get(row.key, 0.0), after.get(row.key, 0.0))
        lines.append(judged(value, ends))
    told = [
        Told(one, one.value(place), sd, alone)
        for one, place, sd, alone in zip(
            parameters, fit.point, spread.deviations, spread.conditional, strict=True
        )
    ]
    return Outcome(
        part=part,
        scenario=str(asked.scenario),
        parameters=told,
        idle=list(plan.idle),
        rows=lines,
        noise=asked.noise,
        misfit=fit.misfit,
        runs=simulator.runs,
        notes=list(plan.notes),
    )


def _components(asked: Asked) -> tuple[list[str], dict[str, Any]]:
    """Return the components of the scenario that are this part, and the values that the first one has."""
    checked = engine.check(str(asked.scenario), asked.sets)
    plan = checked["plan"]
    if plan is None:
        raise LanetwinError("", [Diagnostic.from_dict(found) for found in checked["diagnostics"]])
    machine: dict[str, dict[str, Any]] = plan["machine"]
    found = [name for name, component in machine.items() if component.get("part") == asked.part]
    if not found:
        used = ", ".join(sorted({str(one["part"]) for one in machine.values() if one.get("part")}))
        refuse(
            "CA002",
            f"no component of the scenario is the part `{asked.part}`",
            f"its parts are {used or 'none'}",
            file=str(asked.scenario),
            path="machine",
        )
    for name, changes in plan["variants"].items():
        for component in found:
            if f"machine.{component}.part" in changes:
                refuse(
                    "CA005",
                    f"variant `{name}` has another part for `{component}`",
                    "calibrate with a scenario whose variants all have the part",
                    file=str(asked.scenario),
                    path=f"variants.{name}",
                )
    return found, machine[found[0]]


def _chosen(asked: Asked, rows: Sequence[Target], slopes: Sequence[Any]) -> list[Place]:
    """Return the places for calibration: the named ones, or the given number of the most informative."""
    every = places(rows)
    if asked.on is not None and not isinstance(asked.on, int):
        chosen = named(every, asked.on)
        if not chosen:
            known = ", ".join(dict.fromkeys(place[1] for place in every))
            refuse("CA003", f"no row fits {', '.join(asked.on)}", f"workloads with rows are {known}")
        return chosen
    number = asked.on if asked.on is not None else len(every) // 2
    if not 1 <= number <= len(every):
        refuse(
            "CA003",
            f"{number} of {len(every)} cases cannot calibrate",
            f"say a number from 1 to {len(every)}",
        )
    return choose(rows, slopes, number, asked.noise)
