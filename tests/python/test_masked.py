"""An "equivalent" whose bottleneck is a third thing says so in its first line, with what to change."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lanetwin.cli import app

DRIVES = """\
about: Do two drives behind a switch lose anything when the uplink is x8 and not x16?
machine:
  host: {part: generic-host-gen4}
  sw: {part: generic-switch-gen4}
  ssd0: {part: generic-tlc-gen4}
  ssd1: {part: generic-tlc-gen4}
links:
  up: {from: host, to: sw, gen: 4, width: x16}
  bay0: {from: sw, to: ssd0}
  bay1: {from: sw, to: ssd1}
workloads:
  load: {block: {size: 4KiB, depth: DEPTH, pattern: random}, on: host, target: [ssd0, ssd1]}
variants:
  x16: {}
  x8: {links.up.width: x8}
run: {repeats: 2}
"""


@pytest.mark.parametrize(
    ("depth", "change", "is_masked"),
    [(64, "", True), (1, "", False), (64, "machine.host.driver.engine: spdk", False)],
    ids=["cores", "one-at-a-time", "what-limits-is-changed"],
)
def test_what_limits_both_is_told_first(
    runner: CliRunner, depth: int, change: str, *, is_masked: bool
) -> None:
    text = DRIVES.replace("DEPTH", str(depth))
    if change:
        text = text.replace("{links.up.width: x8}", f"{{{change}}}")
    Path("s.yaml").write_text(text, encoding="utf-8")
    done = runner.invoke(app, ["run", "s.yaml"])
    assert done.exit_code == 0, done.output
    first = " ".join(done.stdout.split("workload ")[0].split())
    assert ("are equivalent because all 2 drivers: cores" in first) == is_masked
    if is_masked:
        assert "limits them, and not what was changed (links.up.width)" in first
        assert "cores of the host" in first
