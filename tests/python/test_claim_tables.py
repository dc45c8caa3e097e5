"""Claims that are shipped scenarios: `lanetwin run` has their digits, their tables what was published."""

from functools import cache
from typing import Any

import pytest
import yaml

from lanetwin import engine
from published import CLAIMS, ROOT, found, rows

DATA = ROOT / "validation" / "data"
QUICK = ("pcie-bench",)
"""What every test run has the time for, as a test of the others has in `make claims`."""
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


def test_latency_vs_size_has_the_published_curves() -> None:
    table = rows(CLAIMS / "latency-vs-size.csv")
    curves = rows(DATA / "latency-vs-size" / "lmbench.csv")
    columns = {"dram": "DDR_L_ns", "device": "CXL_ASIC_ns"}
    told = [(row["label"].split(",")[0], float(row["published"])) for row in table]
    assert told == [(node, float(row[column])) for node, column in columns.items() for row in curves]
    sizes = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
    for row in table:
        number, unit = row["label"].split(", ")[1].split()
        size = float(row["case"].split(", ")[1].split()[0]) * 2**20
        assert float(number) * sizes[unit] == pytest.approx(size, rel=0.005), row["case"]


def test_dram_curves_and_cxl_link_have_the_published_curves() -> None:
    measured = {
        (row["read_pct"], float(row["bandwidth_gbps"]), float(row["latency_ns"]))
        for row in rows(DATA / "dram-curves" / "spr_ddr5.csv")
    }
    latencies = [row for row in rows(CLAIMS / "dram-curves.csv") if row["how"] == "curve"]
    told = {(row["workload"].split("-")[1], float(row["at"]), float(row["published"])) for row in latencies}
    assert told == measured
    peaks = [row for row in rows(CLAIMS / "dram-curves.csv") if row["how"] == "peak"]
    for row in peaks:
        share = row["workload"].split("-")[1]
        assert float(row["published"]) == max(point[1] for point in measured if point[0] == share)
    simulated = rows(DATA / "cxl-mess" / "curves.csv")
    last = {row["read_pct"]: row for row in simulated}
    table = rows(CLAIMS / "cxl-link.csv")
    assert [float(row["published"]) for row in table if row["quantity"] == "saturation"] == [
        float(last[share]["bw_GBps"]) for share in ("2", "46", "100")
    ]
    below = [row for row in simulated if row not in last.values()]
    told = {
        (row["workload"].split("-")[1], float(row["case"].split(", ")[1].split()[0]), float(row["published"]))
        for row in table
        if row["quantity"] == "latency"
    }
    assert told == {(row["read_pct"], float(row["bw_GBps"]), float(row["latency_ns"])) for row in below}


def test_cmm_h_has_the_printed_table() -> None:
    columns = {"all reads": "all_read", "3R1W": "r3w1", "2R1W": "r2w1", "1R1W": "r1w1"}
    printed = {
        (f"{row['dram_ratio']} : {row['cmmh_ratio']}", mix): float(row[f"{column}_GBps"])
        for row in rows(DATA / "cmm-h" / "table4.csv")
        for mix, column in columns.items()
    }
    table = rows(CLAIMS / "cmm-h-table4.csv")
    for row in table:
        ratio, mix = row["case"].split(", ")[:2]
        assert float(row["published"]) == printed[ratio, mix], row["case"]
    assert len(table) == 20 + 12
    other = {row["item"]: row["value"] for row in rows(DATA / "cmm-h" / "other.csv")}
    alone = [float(row["published"]) for row in rows(CLAIMS / "cmm-h-module.csv")]
    items = ("peak bandwidth (4-26GB WSS, 32 cores)", "latency median", "latency average", "latency p99.9")
    assert alone == [float(other[item]) for item in (*items, "large-WSS plateau")]


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
