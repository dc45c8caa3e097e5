"""What a sweep says, where nothing is simulated."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from lanetwin.errors import LanetwinError
from lanetwin.sweep import files
from lanetwin.sweep.analysis import _effects

if TYPE_CHECKING:
    from pathlib import Path


def test_a_metric_that_no_axis_moves_is_not_explained_by_its_noise() -> None:
    plan: Any = SimpleNamespace(groups=[[0], [1]])
    still = {"explained": 1.0, "low": 60.0, "high": 60.001}
    moved = {"explained": 0.8, "low": 30.0, "high": 60.0}
    found: Any = [[still, moved], [still, still | {"explained": 0.1}]]
    assert [(one.axis, one.column) for one in _effects(plan, found)] == [(0, 1), (1, 1)]


def test_a_folder_that_is_no_sweep_is_told_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(LanetwinError) as told:
        files.resumed(tmp_path / "nowhere")
    assert told.value.diagnostics[0].code == "RS010"
    assert "Errno" not in told.value.diagnostics[0].message
