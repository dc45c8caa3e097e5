"""What users install: a wheel has all that the commands need, without the checkout that it was made of."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from email.message import Message

ROOT = Path(__file__).parents[2]
SCENARIO = """about: What does half the width cost?
machine: {host: {part: generic-host-gen4}, ssd: {part: generic-nvme-gen4}}
links: {slot: {from: host, to: ssd, width: x4}}
workloads: {read: {block: {size: 128KiB, depth: 8, span: 1GiB, requests: 200}, on: host, target: ssd}}
variants: {whole: {}, half: {links.slot.width: x2}}
run: {repeats: 1}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel, from what the Rust tests have compiled already."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "maturin", "build", "--quiet", "--locked", "--profile", "checked"]
    subprocess.run([*command, "--out", str(out)], cwd=ROOT, check=True, timeout=1200)
    [found] = out.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


def lanetwin(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # an import of the checkout's own package would hide what the wheel lacks
    places = {"PYTHONPATH": str(installed), "PYTHONSAFEPATH": "1", "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, "-m", "lanetwin", *arguments],
        cwd=cwd,
        env=os.environ | places,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def metadata(installed: Path) -> Message:
    [folder] = installed.glob("*.dist-info")
    return Parser().parsestr((folder / "METADATA").read_text())


def test_a_wheel_tells_what_it_is(installed: Path) -> None:
    told = metadata(installed)
    assert told["Name"] == "lanetwin"
    assert told["License-Expression"] == "MIT OR Apache-2.0"
    [folder] = installed.glob("*.dist-info")
    licences = {path.name for path in folder.rglob("LICENSE*")}
    assert licences >= {"LICENSE-APACHE", "LICENSE-MIT"}
    assert str(told.get_payload()).strip() == (ROOT / "README.md").read_text().strip()
    assert "lanetwin = lanetwin.cli:main" in (folder / "entry_points.txt").read_text().replace(
        "=", " = "
    ).replace("  ", " ")


def test_a_wheel_has_every_file_of_the_package(installed: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "python/lanetwin"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    package = [Path(name).relative_to("python") for name in listed]
    assert len(package) > 150
    assert [name for name in package if not (installed / name).exists()] == []
    assert len(list((installed / "lanetwin").glob("_core*"))) == 2, "the binding and its types"


def test_commands_of_a_wheel_need_no_checkout(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "half.yaml").write_text(SCENARIO)
    where = "import lanetwin, sys; print(lanetwin.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", where],
        env=os.environ | {"PYTHONPATH": str(installed)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith(str(installed))
    for command in (
        ["run", "half.yaml", "--out", "out"],
        ["run", "half.yaml", "--out", "out-zh", "--lang", "zh"],
        ["parts", "list"],
        ["validate", "section-i"],
        ["new", "study", "-o", "mine"],
        ["study", "fabric", "--quick", "--out", "fabric"],
    ):
        done = lanetwin(installed, tmp_path, *command)
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    assert (tmp_path / "out" / "report.html").exists()
    assert 'lang="zh' in (tmp_path / "out-zh" / "report.html").read_text()
