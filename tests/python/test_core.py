"""The compiled engine is what its stub says, and its refusals are the exception users catch."""

import ast
import inspect
from importlib.metadata import version
from pathlib import Path

import pytest

import lanetwin
from lanetwin import _core

STUB = Path(lanetwin.__file__).with_name("_core.pyi")


def functions() -> dict[str, ast.FunctionDef]:
    """Return the functions of the stub."""
    return {node.name: node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_the_stub_names_exactly_what_there_is() -> None:
    assert sorted(functions()) == sorted(name for name in dir(_core) if not name.startswith("_"))


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
