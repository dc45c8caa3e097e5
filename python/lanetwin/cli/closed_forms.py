"""The closed forms as commands: ``lanetwin calc NAME --parameter value``, made from the engine's own list."""

from __future__ import annotations

import inspect
import itertools
import keyword
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text
from typer.core import TyperGroup

from lanetwin import engine
from lanetwin.cli.console import emit_json, out, printable
from lanetwin.cli.tables import plain_table
from lanetwin.numbers import significant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

BAR = 30
"""Length of a bar for the value 1 [characters]."""


class ClosedForms(TyperGroup):
    """A group whose commands the engine declares; they are loaded when the group is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the closed forms."""
        return list(self._made())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Find a closed form by its name, or by a unique prefix."""
        made = self._made()
        names = [name for name in made if name.startswith(cmd_name)]
        return made.get(cmd_name) or (made[names[0]] if len(names) == 1 else None)

    def _made(self) -> dict[str, Any]:
        if not self.commands:
            nursery = typer.Typer(rich_markup_mode="rich")
            nursery.callback()(lambda: None)
            for form in engine.closed_forms():
                page = f"{form['about']}\n\n{escape(form['formula'])}"
                nursery.command(form["name"], help=page)(_command(form))
            self.commands = dict(typer.main.get_group(nursery).commands)
        return dict(self.commands)


CALC = typer.Typer(
    name="calc",
    cls=ClosedForms,
    no_args_is_help=True,
    help="Closed forms: link throughput, TLP efficiency, Little's law, credits needed.",
)


@CALC.callback()
def calc() -> None:
    """Evaluate a closed form."""


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(CALC)


def _command(form: dict[str, Any]) -> Callable[..., None]:
    """Make the function behind one command, with an option per parameter."""
    names = {_variable(parameter["name"]): parameter["name"] for parameter in form["arguments"]}

    def evaluate(**given: Any) -> None:
        as_json = bool(given.pop("json"))
        arguments = {names[key]: str(value) for key, value in given.items() if value is not None}
        points = [dict(zip(arguments, values, strict=True)) for values in _spread(arguments.values())]
        answers = [engine.calculate(form["name"], point) for point in points]
        if as_json:
            emit_json(
                answers[0]
                if len(answers) == 1
                else [{"of": p, **a} for p, a in zip(points, answers, strict=True)]
            )
        elif len(answers) == 1:
            _print_answer(answers[0])
        else:
            _print_answers([name for name, text in arguments.items() if "," in text], points, answers)

    options = [_option(parameter) for parameter in form["arguments"]]
    json_option = inspect.Parameter(
        "json",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, typer.Option("--json", "-j", help="Print JSON instead of a table.")],
    )
    signature = inspect.Signature([*options, json_option])
    evaluate.__signature__ = signature  # type: ignore[attr-defined]
    evaluate.__annotations__ = {name: p.annotation for name, p in signature.parameters.items()}
    return evaluate


def _spread(texts: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Return every combination of values; parameters may have several, separated by commas."""
    return itertools.product(*([value.strip() for value in text.split(",")] for text in texts))


def _variable(name: str) -> str:
    """Return the name of a parameter in Python, where some words, such as `in`, are reserved."""
    word = name.replace("-", "_")
    return f"{word}_" if keyword.iskeyword(word) else word


def _option(parameter: dict[str, Any]) -> inspect.Parameter:
    """Make the option of one parameter. Its value stays text: the engine parses units."""
    name, default, required = parameter["name"], parameter["default"], parameter["required"]
    shape = escape(parameter["looks_like"].replace("`", ""))
    known = shape if default is None else f"default: {default}; {shape}"
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar="VALUE",
        help=f"{parameter['about']} [dim]({known})[/]",
        show_default=False,
    )
    return inspect.Parameter(
        _variable(name),
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=Annotated[str if required else str | None, option],
    )


def _print_answers(varied: list[str], points: list[dict[str, str]], answers: list[dict[str, Any]]) -> None:
    """Print a row for each combination; shares are also drawn as bars."""
    tables = [{_heading(row): row["value"] for row in answer["rows"]} for answer in answers]
    headings = list(dict.fromkeys(heading for values in tables for heading in values))
    shares = [heading for heading in headings if all(_is_share(values.get(heading)) for values in tables)]
    drawn = next((heading for heading in reversed(shares) if "[" not in heading), None)
    columns = [(name, True) for name in (*varied, *headings)]
    table = plain_table("", [*columns, *([(f"{drawn} of 1", False)] if drawn else [])])
    for point, values in zip(points, tables, strict=True):
        cells = [point[name] for name in varied]
        cells += [_shown(values.get(heading, "–")) for heading in headings]
        if drawn:
            cells.append("█" * round(BAR * values[drawn]))
        table.add_row(*(Text(printable(cell)) for cell in cells))
    out().print(table)


def _heading(row: dict[str, Any]) -> str:
    return f"{row['name']} [{row['unit']}]" if row.get("unit") else str(row["name"])


def _shown(value: Any) -> str:
    return significant(value) if isinstance(value, float) else str(value)


def _is_share(value: Any) -> bool:
    return isinstance(value, float) and 0.0 <= value <= 1.0


def _print_answer(answer: dict[str, Any]) -> None:
    table = plain_table("", [("", False), ("value", True), ("unit", False), ("how", False)])
    for row in answer["rows"]:
        table.add_row(
            Text(printable(row["name"]), "bold"),
            Text(printable(_shown(row["value"]))),
            Text(printable(row.get("unit") or "")),
            Text(printable(row.get("how") or ""), "dim"),
        )
    out().print(table)
