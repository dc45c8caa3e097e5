"""Claims that are shipped scenarios: `lanetwin run` has their digits, their tables what was published."""

from functools import cache
from typing import Any

import pytest
import yaml

from lanetwin import engine
from published import CLAIMS, ROOT, found, rows

DATA = ROOT / "validation" / "data"
QUICK = ("idt-16t4g2", "pcie-bench")
"""Those that every test run has the time for."""
BARE = ("link-ceilings", "section-i", "switch-forwarding")
"""Those of bare links, which no document has."""
SHIPPED = sorted(page.stem for page in CLAIMS.glob("*.yaml") if page.stem not in BARE)


@cache
def ran(scenario: str) -> dict[str, Any]:
    """Run a shipped scenario as `lanetwin run --outside` does."""
    return dict(engine.run(str(ROOT / "scenarios" / scenario), outside=True))


@cache
def cycled(scenario: str, tests: tuple[str, ...], count: int, variants: tuple[str, ...]) -> dict[str, Any]:
    """Cycle the links of a channel as `lanetwin link cycle` does."""
    source = {"channel": str(ROOT / "scenarios" / scenario), "sets": []}
    request = {"tests": list(tests), "count": count, "power_count": count // 10}
    return engine.link_cycle(source, request=request, options={"variants": list(variants)})


def answered(table: dict[str, Any]) -> dict[str, Any]:
    """Ask a document what a claim asks of it."""
    ask = table.get("ask", "run")
    if ask == "run":
        return ran(table["scenario"])
    variants = tuple(dict.fromkeys(row["variant"] for row in rows(CLAIMS / f"{table['rows']}.csv")))
    if ask == "eye":
        return engine.link_eye(str(ROOT / "scenarios" / table["scenario"]), variants=variants)
    cycle = ask["cycle"]
    return cycled(table["scenario"], tuple(cycle["names"]), cycle["count"], variants)


@pytest.mark.parametrize(
    "claim", [claim if claim in QUICK else pytest.param(claim, marks=pytest.mark.long) for claim in SHIPPED]
)
def test_run_and_validate_have_the_same_digits(claim: str) -> None:
    validated = engine.validate([claim])["rows"]
    page = yaml.safe_load((CLAIMS / f"{claim}.yaml").read_text(encoding="utf-8"))
    published = [
        (table, row)
        for table in page["tables"]
        for row in rows(CLAIMS / f"{table['rows']}.csv")
        if row.get("bound") != "at-most" and row.get("how") != "not-compared"
    ]
    assert len(validated) == len(published)
    compared = 0
    documents = {table["rows"]: answered(table) for table in page["tables"]}
    for one, (table, row) in zip(validated, published, strict=True):
        value = found(documents[table["rows"]], row)
        if value is not None:
            assert (one["case"], one["predicted"]) == (row["case"], value)
            compared += 1
    assert compared


def pcie_model(kind: str, size: int) -> float:
    """Return what the link allows by pcie-model, Gen3 x8 [Gb/s]."""
    link = 8 * 8 * 128 / 130 * (1 - 8 / 203 - 8 / 203 - 4 / 1538)
    writes = size + 24 * -(-size // 256)
    requests = 24 * -(-size // 512)
    completions = size + 20 * -(-size // 256)
    busiest = {
        "write": writes,
        "read": max(completions, requests),
        "mixed": max(writes + requests, completions),
    }
    return link * size / busiest[kind]


def test_pcie_bench_has_what_was_measured_and_the_model_of_its_authors() -> None:
    table = rows(CLAIMS / "pcie-bench.csv")
    rates = {
        (row["variant"], row["workload"], int(row["case"].split(", ")[1].removesuffix(" B"))): row
        for row in table
        if row["unit"] == "Gb/s"
    }
    hosts = {"snb": "sandy-bridge", "bdw": "broadwell"}
    kinds = {"BW_DMA_RD": "read", "BW_DMA_WR": "write", "BW_DMA_RW": "mixed"}
    measured = rows(DATA / "pcie-bench" / "bw_dma_sz_sweep.csv")
    assert len(rates) == len(measured)
    for one in measured:
        at = (hosts[one["system"][:3]], kinds[one["test"]], int(one["size_B"]))
        rate = float(one["trans_per_s"]) * at[2] * 8 / 1e9
        assert float(rates[at]["published"]) == pytest.approx(rate, abs=1e-6)
        cap = float(rates[(*at[:2], 64)]["published"]) / 64 * at[2]
        closed = min(pcie_model(at[1], at[2]), cap)
        assert float(rates[at]["closed_form"]) == pytest.approx(closed, abs=1e-4)
    latencies = [row for row in table if row["unit"] == "ns"]
    assert len(latencies) == 2 * 2 * 15


def test_mqsim_has_what_was_run() -> None:
    table = rows(CLAIMS / "mqsim-xv2.csv")
    runs = rows(DATA / "mqsim" / "reads.csv")
    assert [(row["variant"], row["workload"], float(row["published"])) for row in table] == [
        (run["case"], f"qd{run['depth']}", float(run["mean"])) for run in runs
    ]


def test_retimers_have_what_was_published_of_latencies() -> None:
    said = {row["what"]: float(row["change_pct"]) for row in rows(DATA / "pm1743-retimer" / "deltas.csv")}
    for claim in ("retimer-ab", "retimer-ab-pm1743"):
        for row in rows(CLAIMS / f"{claim}.csv"):
            if row["variant"] == "montage" and row["unit"] == "ratio":
                kind = {"qd1-read": "read", "qd1-write": "write"}.get(row["workload"])
                change = said[f"4 KiB random {kind} latency"] if kind else 0.0
                assert float(row["published"]) == pytest.approx(1.0 + change / 100), row["case"]


@pytest.mark.long
def test_data_in_a_capsule_save_a_write_its_fetch_and_a_registration() -> None:
    latency = {
        (row["variant"], row["workload"]): row["value"]
        for row in ran("long/h3-latency.yaml")["rows"]
        if row["metric"] == "latency" and not row.get("device")
    }
    for node in "12":
        read, write = f"read{node}", f"write{node}"
        assert latency["no-registration", read] < latency["fabric", read], "a read registers"
        assert latency["no-registration", write] == latency["fabric", write], "a write does not"
        assert latency["fetched", read] == latency["fabric", read], "what is fetched is data of writes"
        assert latency["fetched", write] > latency["fabric", write] + 2_000.0, "a round trip and an interrupt"
