"""Programs that were recorded run again: laws that hold whatever the machine is."""

import random
from pathlib import Path

import pytest

from lanetwin import LanetwinError, Scenario

SCENARIO = """\
about: How long does it take?
machine: {{host: {{part: lmbench-spr-host}}}}
workloads:
  app: {{memory: {{trace: app.trace{more}}}, on: host}}
run: {{repeats: 1, seed: 1}}
"""
LINE = 64
PAGE = 4096


def scenario(folder: Path, trace: str, more: str = "") -> Scenario:
    (folder / "app.trace").write_text(trace, encoding="utf-8")
    file = folder / "app.yaml"
    file.write_text(SCENARIO.format(more=more), encoding="utf-8")
    return Scenario(file)


def values(of: Scenario, metric: str) -> dict[str, float]:
    """Return a metric by case, times in seconds."""
    units = {"us": 1e-6, "ns": 1e-9, "ms": 1e-3, "s": 1.0}
    rows = [row for row in of.run().rows if row["metric"] == metric]
    return {row["case"]: row["value"] * units[row["unit"]] for row in rows}


def test_a_chain_takes_the_sum_of_its_latencies(tmp_path: Path) -> None:
    places = [page * PAGE for page in range(2000)]
    random.Random(1).shuffle(places)  # noqa: S311
    lines = "".join(f"load,{address},yes\n" for address in places)
    chain = scenario(tmp_path, f"operation,address,depends\n{lines}")
    [time_s] = values(chain, "program time").values()
    [latency_s] = values(chain, "latency").values()
    assert time_s == pytest.approx(len(places) * latency_s, rel=0.01)


def test_what_waits_takes_longer(tmp_path: Path) -> None:
    places = [page * PAGE for page in range(2000)]
    random.Random(1).shuffle(places)  # noqa: S311
    mixed = "".join(f"load,{address},{'yes' if n % 4 == 0 else 'no'}\n" for n, address in enumerate(places))
    asked = scenario(tmp_path, f"operation,address,depends\n{mixed}", ", dependence: [none, recorded, all]")
    none, recorded, all_ = values(asked, "program time").values()
    assert none < recorded < all_


def test_what_all_cases_leave_out_is_told_once(tmp_path: Path) -> None:
    asked = scenario(
        tmp_path, "operation,address,depends\nload,0,no\nload,64,no\n", ", dependence: [none, recorded, all]"
    )
    told = asked.run().document["not_modelled"]
    assert sum("app.trace" in text for text in told) == 1
    assert len(told) == len(set(told))


def test_instructions_take_their_time(tmp_path: Path) -> None:
    lines = "".join(f"1000000,load,{line * LINE}\n" for line in range(100))
    asked = scenario(
        tmp_path, f"instructions,operation,address\n{lines}", ", dependence: all, instruction: 1ns"
    )
    [time_s] = values(asked, "program time").values()
    assert time_s == pytest.approx(0.1, rel=1e-3)


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    places = random.Random(2).sample(range(1 << 14), 3000)  # noqa: S311
    lackey = "".join(f"I  400000,4\nI  400004,4\n L {line * LINE:x},8\n" for line in places)
    table = "".join(f"0,2,load,{line * LINE},8\n" for line in places)
    log = scenario(tmp_path, f"==1== Lackey\n{lackey}==1== \n").run().rows
    named = f"thread,instructions,operation,address,size\n{table}"
    assert scenario(tmp_path, named).run().rows == log


def test_what_is_wrong_is_told_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(LanetwinError) as caught:
        scenario(tmp_path, "operation,address\nload,0\nfetch,64\n").run()
    assert [(found.code, found.line) for found in caught.value.diagnostics] == [("TR005", 3)]
    with pytest.raises(LanetwinError) as caught:
        scenario(tmp_path, "operation,address\nload,0\n", ", mix: all-reads").run()
    assert {found.code for found in caught.value.diagnostics} == {"SC033"}
