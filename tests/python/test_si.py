"""Touchstone files as lanetwin reads them, handed on, and held against scikit-rf where that is installed."""

from __future__ import annotations

import builtins
import importlib.util
from typing import TYPE_CHECKING, Any

import pytest

from lanetwin import engine, si
from lanetwin.errors import LanetwinError

if TYPE_CHECKING:
    from pathlib import Path

# two ports; not every reader takes such an option line, and such wrapped rows
ODD = "# MHz MA S R 50\n1000 0.1 10 0.9 -30\n 0.9 -30 0.1 20\n2000 0.2 -10 0.8 -60 0.8 -60 0.2 5\n"


def odd(folder: Path) -> Path:
    file = folder / "odd.s2p"
    file.write_text(ODD, encoding="utf-8")
    return file


def test_a_file_is_rewritten_in_one_form_that_reads_the_same(tmp_path: Path) -> None:
    text = engine.link_rewritten(str(odd(tmp_path)))
    rows = [line.split() for line in text.splitlines() if line[0].isdigit()]
    assert "# Hz S RI R 50" in text
    assert [float(row[0]) for row in rows] == [1e9, 2e9]
    assert float(rows[0][3]) == pytest.approx(0.9 * 3**0.5 / 2)
    again = tmp_path / "again.s2p"
    again.write_text(text, encoding="utf-8")
    assert engine.link_rewritten(str(again)) == text


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LanetwinError, match="PH001"):
        engine.link_rewritten(str(tmp_path / "absent.s2p"))


def test_the_extra_is_named_where_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "skrf":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LanetwinError, match="lanetwin\\[si\\]"):
        si.network(odd(tmp_path))


@pytest.mark.skipif(
    importlib.util.find_spec("skrf") is None, reason="scikit-rf is not installed (lanetwin[si])"
)
def test_scikit_rf_sees_what_was_read(tmp_path: Path) -> None:
    network = si.network(odd(tmp_path))
    assert network.f.tolist() == [1e9, 2e9]
    assert abs(network.s[1, 1, 0]) == pytest.approx(0.8)
    assert network.s[0, 0, 0] == pytest.approx(network.s[0, 0, 0].real + 1j * 0.1 * 0.17364817766693033)
