"""Commands around scenario documents: new, check, schema, explain."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from lanetwin import beginning, engine, store, yaml_out
from lanetwin.cli.arguments import AsJson, Outside, ScenarioPath, Sets
from lanetwin.cli.console import Exit, emit, emit_json, err, out, printable
from lanetwin.cli.diagnostics import counted, print_diagnostics
from lanetwin.cli.tables import plain_table
from lanetwin.errors import Diagnostic
from lanetwin.study import shipped

if TYPE_CHECKING:
    from lanetwin.engine import SharedTree


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (new, check, schema, explain):
        app.command()(command)


def new(
    template: Annotated[str | None, typer.Argument(help="Which template; the first one if left out.")] = None,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write; '-' for standard output. Default: TEMPLATE.yaml"),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", "-l", help="List the templates and stop.")] = False,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite the file if there is one.")] = False,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Start from jobs that you have: a job file of fio, a configuration of Iometer (.icf).",
            show_default=False,
        ),
    ] = None,
    drives: Annotated[
        list[str] | None,
        typer.Option(
            "--drive",
            metavar="PART",
            help=f"With --from: the drive they run on. May be repeated: variants. Default: {beginning.DRIVE}",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Start a scenario, from a commented template or from jobs that you have.

    [dim]Examples:[/]
      lanetwin new --list
      lanetwin new slot -o my-slot.yaml
      lanetwin new study -o my-study
      lanetwin new --from jobs.fio --drive samsung-pm9a3 --drive intel-p5800x
    """
    if from_ is not None:
        if template is not None:
            raise typer.BadParameter("a template and --from are two beginnings: name one")
        text = beginning.around(from_, drives or [])
        _write_new(text, out_file or from_.with_suffix(".yaml"), force=force)
        return
    if drives:
        raise typer.BadParameter("--drive goes with --from; a template has its drives in its text")
    known = engine.templates()
    if list_:
        table = plain_table("", [("template", False), ("about", False)])
        for entry in known:
            table.add_row(Text(str(entry["name"])), Text(str(entry.get("about", ""))))
        table.add_row(Text(shipped.TEMPLATE), Text("A report as a document, and the scenario it rests on"))
        out().print(table)
        return
    if template == shipped.TEMPLATE:
        _new_study(out_file or Path(shipped.TEMPLATE), force=force)
        return
    name = template or str(known[0]["name"])
    _write_new(engine.template(name), out_file or Path(f"{name}.yaml"), force=force)


def _write_new(text: str, path: Path, *, force: bool) -> None:
    """Write a scenario to a file, or to standard output if that is `-`."""
    if path == Path("-"):
        emit(text)
        return
    store.claim_file(path, force=force)
    store.write_file(path, text)
    emit(str(path))
    err().print(f"Next: lanetwin run {path}", style="dim", soft_wrap=True)


def _new_study(folder: Path, *, force: bool) -> None:
    """Write a study and its scenario into a folder of their own."""
    if folder == Path("-"):
        emit(shipped.template()["study.yaml"])
        return
    store.refuse_to_overwrite(folder, force=force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in shipped.template().items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise store.unwritable(folder, error) from error
    emit(str(folder / "study.yaml"))
    err().print(f"Next: lanetwin study {folder / 'study.yaml'} --quick", style="dim", soft_wrap=True)


def check(
    scenario: ScenarioPath,
    sets: Sets = None,
    plan: Annotated[
        bool, typer.Option("--plan", "-p", help="Print the plan, every default filled in.")
    ] = False,
    tree: Annotated[
        bool, typer.Option("--tree", "-t", help="Print bus numbers, windows and addresses, as lspci does.")
    ] = False,
    outside: Outside = False,
    as_json: AsJson = False,
) -> None:
    """Check a scenario without running it: all its mistakes at once, with file, line and remedy.

    [dim]Examples:[/]
      lanetwin check slot.yaml
      lanetwin check slot.yaml --set links.slot.gen=5 --plan
      lanetwin check switch.yaml --tree
    """
    found: dict[str, Any] = dict(engine.check(str(scenario), sets or [], outside=outside))
    trees = engine.tree(str(scenario), sets or [], outside=outside)["trees"] if tree else None
    if tree:
        found["trees"] = trees
    diagnostics = [Diagnostic.from_dict(fields) for fields in found["diagnostics"]]
    if as_json:
        emit_json(found)
    else:
        print_diagnostics(diagnostics)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise typer.Exit(Exit.ERROR)
    if as_json:
        return
    if plan:
        emit(yaml_out.dump(found["plan"]))
    if tree:
        emit(_trees(trees or []))
    if not (plan or tree):
        warned = f", {counted(len(diagnostics), 'warning')}" if diagnostics else ""
        emit(f"{scenario}: ok{warned}")


def _trees(trees: list[SharedTree]) -> str:
    """Return the trees as text, each below the names of its variants if they differ."""
    texts = []
    for shared in trees:
        hosts = shared["hosts"]
        named = [f"# variant {', '.join(shared['variants'])}\n"] if len(trees) > 1 else []
        for host in hosts:
            named += [f"# host {host['host']}\n"] if len(hosts) > 1 else []
            named += [host["drawing"], "\n", host["listing"]]
        texts.append("".join(named) if hosts else "".join(named) + "no PCIe links\n")
    return "\n".join(texts)


def schema() -> None:
    """Print the JSON Schema of scenarios, for editors that check while you type.

    [dim]Example:[/]
      lanetwin schema > scenario.schema.json
    """
    emit(engine.schema())


def explain(
    code: Annotated[str | None, typer.Argument(help="Code of an error or warning, such as SC001.")] = None,
    as_json: AsJson = False,
) -> None:
    """Explain the code of an error or a warning; without one, list all codes.

    [dim]Examples:[/]
      lanetwin explain SC001
      lanetwin explain
    """
    if code is None:
        _list_codes(as_json)
        return
    page = engine.explain(code.upper())
    if as_json:
        emit_json({"code": code.upper(), "page": page})
    elif sys.stdout.isatty():
        from rich.markdown import Markdown  # imported only when used

        out().print(Markdown(page))
    else:
        emit(page)


def _list_codes(as_json: bool) -> None:
    codes = engine.codes()
    if as_json:
        emit_json(codes)
        return
    table = plain_table("", [("code", False), ("about", False)])
    for entry in codes:
        table.add_row(Text(str(entry["code"])), Text(printable(str(entry.get("title", "")))))
    out().print(table)
