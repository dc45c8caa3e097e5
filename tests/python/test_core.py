"""The compiled engine is what its stub says, and its refusals are the exception users catch."""

import ast
import inspect
import json
import re
from importlib.metadata import version
from pathlib import Path

import pytest

import lanetwin
from lanetwin import _core
from lanetwin.results import Results

STUB = Path(lanetwin.__file__).with_name("_core.pyi")


def functions() -> dict[str, ast.FunctionDef]:
    """Return the functions of the stub."""
    return {node.name: node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_the_stub_names_exactly_what_there_is() -> None:
    declared = [
        node.name
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    assert sorted(declared) == sorted(name for name in dir(_core) if not name.startswith("_"))


@pytest.mark.parametrize("name", sorted(functions()))
def test_parameters_are_as_the_stub_says(name: str) -> None:
    declared = functions()[name].args
    actual = inspect.signature(getattr(_core, name)).parameters
    assert [argument.arg for argument in declared.args] == list(actual)
    defaults = [p for p in actual.values() if p.default is not inspect.Parameter.empty]
    assert len(declared.defaults) == len(defaults)


def test_the_engine_and_the_package_have_one_version() -> None:
    assert lanetwin.__version__ == version("lanetwin")


def test_a_refusal_is_the_exception_users_catch(tmp_path: Path) -> None:
    with pytest.raises(lanetwin.LanetwinError) as caught:
        lanetwin.run(str(tmp_path / "missing.yaml"))
    assert str(caught.value)


def refusals(text: str) -> list[str]:
    """Return the codes with which a results document is refused."""
    try:
        _core.compare(text, text, "{}")
    except lanetwin.LanetwinError as error:
        return [diagnostic.code for diagnostic in error.diagnostics]
    return []


@pytest.mark.parametrize("code", ["RS002", "RS003", "RS004", "RS005"])
def test_pages_on_results_tell_the_truth(code: str, results: Results) -> None:
    """An example is a fragment: what it leaves out, but for the schema, is taken from a whole result."""
    page = _core.explain(code)
    wrong, right = (re.search(rf"```json {which}\n(.*?)```", page, re.S) for which in ("wrong", "right"))
    assert wrong
    assert right
    rest = {name: value for name, value in results.items() if name != "schema"}
    damaged = wrong[1] if code == "RS002" else json.dumps({**rest, **json.loads(wrong[1])})
    assert refusals(damaged) == [code]
    assert refusals(json.dumps({**rest, **json.loads(right[1])})) == []


def test_a_part_that_there_is_not_is_told_with_the_nearest_and_not_with_all() -> None:
    with pytest.raises(lanetwin.LanetwinError) as refused:
        _core.parts_show("samsung-pm9a4", None)
    assert "did you mean `samsung-pm9a3`?" in str(refused.value)
    assert "nfp-6000" not in str(refused.value)
