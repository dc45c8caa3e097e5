"""An absent tool skips a test on a user's machine and fails it where the tool is promised."""

import pytest

from conftest import require_tool

ABSENT = "a-tool-that-nobody-has"


def test_an_absent_tool_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match=ABSENT):
        require_tool(ABSENT)


@pytest.mark.parametrize("promised", [ABSENT, f"fio {ABSENT}", f"fio,{ABSENT}"])
def test_a_promised_tool_fails(promised: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE", promised)
    with pytest.raises(pytest.fail.Exception, match=ABSENT):
        require_tool(ABSENT)


def test_a_tool_that_is_there_is_found() -> None:
    assert require_tool("python3").endswith("python3")
