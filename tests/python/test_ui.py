"""The live view: who is let in, what of the file system is seen, what a draft, a slider and a run answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from browser import opened
from lanetwin.cli import app
from lanetwin.errors import LanetwinError
from lanetwin.ui import peer
from lanetwin.ui.first_page import page
from lanetwin.ui.folder import Folder
from lanetwin.ui.guard import COOKIE
from lanetwin.ui.running import MOST_KEPT
from lanetwin.ui.series import CHARTS, FIRST, bars
from lanetwin.ui.server import LONGEST_REQUEST, application
from lanetwin.ui.sliders import sliders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCENARIO = """\
about: Does this card need all the lanes of this slot?
machine:
  host: {part: generic-host-gen4}
  card: {part: generic-dma-gen5}
links:
  slot: {from: host, to: card, gen: 4, width: x16}
workloads:
  read: {dma: {operation: read, size: 4KiB, outstanding: 64, transfers: 600}, on: card, target: host}
variants:
  wide: {}
  narrow: {links.slot.width: x4}
compare: {baseline: wide, equivalent_within: 2%}
run: {repeats: 3}
"""
SCENARIOS = Path(__file__).parents[2] / "scenarios"
HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>"
HOST = "http://localhost"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slot.yaml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with TestClient(application(folder), base_url=HOST, headers={"Origin": HOST}) as found:
        assert found.get("/").status_code == 200
        yield found


def post(client: TestClient, address: str, /, **body: Any) -> Any:
    answer = client.post(address, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_page_runs_our_scripts_alone(client: TestClient) -> None:
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"(?:src|href)=\"(?!#)", page().text)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "localhost.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Cookie": f"{COOKIE}=wrong"},
    ],
)
def test_strangers_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    if "Cookie" in headers:
        client.cookies.clear()
    assert client.get("/api/folder", headers=headers).status_code == 403
    answer = client.post("/api/save", json={"path": "x.yaml", "text": "x"}, headers=headers)
    assert answer.status_code == 403


def test_what_changes_something_has_to_say_where_it_comes_from(folder: Path) -> None:
    with TestClient(application(folder), base_url=HOST) as client:
        client.get("/")
        assert client.get("/api/folder").status_code == 200
        assert client.post("/api/save", json={"path": "x.yaml", "text": "x"}).status_code == 403
    assert not (folder / "x.yaml").exists()


def test_nothing_but_the_first_page_is_had_without_the_cookie(folder: Path) -> None:
    with TestClient(application(folder), base_url=HOST, headers={"Origin": HOST}) as client:
        for path in ("/api/folder", "/api/schema", "/api/scenario?path=slot.yaml", "/report?run=runs"):
            assert client.get(path).status_code == 403


def test_the_port_is_part_of_the_name(folder: Path) -> None:
    with TestClient(application(folder, 8765), base_url=HOST) as client:
        assert client.get("/").status_code == 403
        assert client.get("/", headers={"Host": "localhost:8765"}).status_code == 200


def test_another_user_is_known_by_the_connection(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    table.write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:C350 0100007F:223D 01 00000000:00000000 00:00000000 00000000  4711        0 1 1\n"
    )
    assert peer.owner_of(50000, table) == 4711
    assert peer.owner_of(50001, table) is None
    assert peer.owner_of(50000, tmp_path / "missing") is None


@pytest.mark.parametrize(
    "name",
    ["../x.yaml", "/etc/x.yaml", "a/../../x.yaml", ".hidden.yaml", ".git/x.yaml", "x.txt", "", "a\0.yaml"],
)
def test_paths_stay_in_the_folder(client: TestClient, folder: Path, name: str) -> None:
    assert client.post("/api/save", json={"path": name, "text": "x"}).status_code in (400, 422)
    assert client.post("/api/check", json={"path": name, "text": "x"}).status_code in (400, 422)
    assert sorted(path.name for path in folder.iterdir()) == ["slot.yaml"]


def test_a_link_out_of_the_folder_is_not_followed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.yaml"
    outside.write_text(SCENARIO, encoding="utf-8")
    os.symlink(outside, folder / "link.yaml")
    with pytest.raises(LanetwinError):
        Folder(folder).read("link.yaml")


def test_a_draft_is_checked_without_being_kept(client: TestClient, folder: Path) -> None:
    found = post(client, "/api/check", path="new.yaml", text=SCENARIO.replace("generic-dma-gen5", "no-such"))
    (one,) = [one for one in found["diagnostics"] if one["severity"] == "error"]
    assert (one["code"], one["line"], one["file"]) == ("SC011", 4, "new.yaml")
    assert sorted(path.name for path in folder.iterdir()) == ["slot.yaml"]


def test_a_draft_without_mistakes_has_a_machine_and_sliders(client: TestClient) -> None:
    found = post(client, "/api/check", path="slot.yaml", text=SCENARIO)
    assert not found["diagnostics"]
    assert found["variants"] == ["wide", "narrow"]
    assert found["topology"].startswith("<svg")
    width = next(one for one in found["sliders"] if one["path"] == "links.slot.width")
    assert width["values"][width["at"]] == "x16"
    assert {one["path"] for one in found["sliders"]} >= {"links.slot.gen", "workloads.read.dma.outstanding"}
    narrow = post(client, "/api/check", path="slot.yaml", text=SCENARIO, variant="narrow")
    width = next(one for one in narrow["sliders"] if one["path"] == "links.slot.width")
    assert width["values"][width["at"]] == "x4"


def test_every_slider_of_retimers_and_weights_is_a_change_that_is_accepted(client: TestClient) -> None:
    text = SCENARIO.replace(
        "width: x16}", "width: x4, via: [montage-m88rt51632], weight: 2, gen: 4}"
    ).replace("gen: 4, width", "width")
    found = post(client, "/api/check", path="slot.yaml", text=text)
    paths = {one["path"] for one in found["sliders"]}
    assert {"links.slot.via", "links.slot.weight"} <= paths
    via = next(one for one in found["sliders"] if one["path"] == "links.slot.via")
    answer = post(
        client, "/api/quick", path="slot.yaml", text=text, sets=[f"links.slot.via={via['values'][-1]}"]
    )
    assert answer["workloads"]


def test_many_links_that_are_alike_have_one_slider(client: TestClient) -> None:
    bays = "  up: {from: host, to: sw, width: x8}\n  bay1..5: {from: sw, to: card1..5}\n"
    text = SCENARIO.replace("  slot: {from: host, to: card, gen: 4, width: x16}\n", bays)
    text = text.replace("  card: {", "  sw: {part: generic-switch-gen4, ports: 6}\n  card1..5: {")
    text = text.replace("on: card,", "on: card1..5,").replace("links.slot.width: x4", "links.up.width: x4")
    found = post(client, "/api/check", path="slot.yaml", text=text)
    assert not [one for one in found["diagnostics"] if one["severity"] == "error"]
    paths = [one["path"] for one in found["sliders"]]
    assert paths[:4] == ["links.up.width", "links.up.gen", "links.bay1..5.width", "links.bay1..5.gen"]
    narrow = post(client, "/api/quick", path="slot.yaml", text=text, sets=["links.bay1..5.width=x1"])
    wide = post(client, "/api/quick", path="slot.yaml", text=text, sets=[])
    values = [one["workloads"][0]["lines"][0]["value"] for one in (narrow, wide)]
    assert values[0] < values[1] * 0.7


def test_a_weight_of_memory_is_a_slider() -> None:
    plan = {
        "workloads": {"mix": {"memory": {"threads": 4, "placement": {"weighted": {"dram": 2, "exp": 1}}}}}
    }
    paths = [one.path for one in sliders(plan)]
    assert "workloads.mix.memory.placement.weighted.exp" in paths


def events(client: TestClient, key: str) -> list[dict[str, Any]]:
    text = client.get(f"/api/runs/{key}/events").text
    return [json.loads(data) for data in re.findall(r"^data: (.*)$", text, re.MULTILINE)]


def test_a_run_tells_its_progress_and_leaves_a_report(client: TestClient, folder: Path) -> None:
    key = post(client, "/api/runs", path="slot.yaml", sets=[])["run"]
    told = events(client, key)
    results = [line for line in told if line["kind"] == "results"]
    assert [line["repeats"] for line in results] == [1, 3]
    assert len(results[0]["bars"]["charts"]) >= 3
    assert told[-1]["kind"] == "done"
    assert told[-1]["complete"]
    stored = json.loads((folder / told[-1]["run"] / "results.json").read_text("utf-8"))
    assert {row["n"] for row in stored["rows"]} == {3}
    report = client.get("/report", params={"run": told[-1]["run"]})
    assert report.status_code == 200
    assert report.headers["content-security-policy"].startswith("sandbox")
    assert told[-1]["run"] in client.get("/api/folder").json()["runs"]
    compared = client.get("/api/compare", params={"a": told[-1]["run"], "b": told[-1]["run"]}).json()
    assert compared["lines"]


def test_the_plan_of_a_run_is_part_of_the_run_and_no_scenario_in_the_list(folder: Path) -> None:
    run = folder / "runs" / "one"
    run.mkdir(parents=True)
    for place in (run, folder):
        (place / "plan.yaml").write_text("about: x\nmachine:\n", encoding="utf-8")
    before = Folder(folder).scenarios()
    assert "runs/one/plan.yaml" in before
    (run / "results.json").write_text("{}", encoding="utf-8")
    assert set(before) - set(Folder(folder).scenarios()) == {"runs/one/plan.yaml"}


def test_sweeps_are_listed_and_shown_without_scripts(client: TestClient, folder: Path) -> None:
    place = folder / "runs" / "widths"
    words = ["sweep", str(folder / "slot.yaml"), "--vary", "links.slot.width=x4,x8", "--set", "run.repeats=1"]
    done = CliRunner().invoke(app, [*words, "--out", str(place), "--no-cache", "--quiet"])
    assert done.exit_code == 0, done.output
    assert client.get("/api/folder").json()["sweeps"] == ["runs/widths"]
    answer = client.get("/report", params={"run": "runs/widths"})
    assert "<h2>Points</h2>" in answer.text
    assert (
        answer.headers["content-security-policy"] == "sandbox; default-src 'none'; style-src 'unsafe-inline'"
    )


def test_runs_that_are_over_are_forgotten_in_the_end(client: TestClient) -> None:
    keys = []
    for _ in range(MOST_KEPT + 3):
        keys.append(post(client, "/api/runs", path="slot.yaml", sets=["run.repeats=1"])["run"])
        assert events(client, keys[-1])[-1]["kind"] == "done"
    known = [client.get(f"/api/runs/{key}/events").status_code == 200 for key in keys]
    assert known == [False] * 2 + [True] * (MOST_KEPT + 1)


def test_a_reader_who_comes_back_hears_the_rest(client: TestClient) -> None:
    key = post(client, "/api/runs", path="slot.yaml", sets=["run.repeats=1"])["run"]
    whole = events(client, key)
    text = client.get(f"/api/runs/{key}/events", headers={"Last-Event-ID": str(len(whole) - 1)}).text
    assert text.count("data: ") == 1


def test_a_run_is_cancelled_and_keeps_what_is_finished(client: TestClient) -> None:
    sets = ["workloads.read.dma.transfers=2000000", "run.repeats=8", "run.budget=60s"]
    key = post(client, "/api/runs", path="slot.yaml", sets=sets)["run"]
    time.sleep(1.5)
    assert post(client, f"/api/runs/{key}/cancel")["cancelled"]
    last = events(client, key)[-1]
    assert last["kind"] == "failed" or not last["complete"]


def test_names_of_an_author_are_never_markup(client: TestClient) -> None:
    text = SCENARIO.replace("Does this card need all the lanes of this slot?", f"'{HOSTILE}'")
    found = post(client, "/api/check", path="slot.yaml", text=text)
    assert "<script" not in found["topology"]
    assert post(client, "/api/check", path="slot.yaml", text=text.replace("host:", f'"{HOSTILE}":', 1))[
        "diagnostics"
    ]
    post(client, "/api/save", path="slot.yaml", text=text)
    key = post(client, "/api/runs", path="slot.yaml", sets=["run.repeats=1"])["run"]
    report = client.get("/report", params={"run": events(client, key)[-1]["run"]}).text
    assert "<script>alert" not in report
    assert "<img src=x" not in report


def test_nothing_of_the_page_makes_markup_of_texts() -> None:
    scripts = page().text.partition("<script>")[2]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", scripts
    )


def test_what_is_not_as_it_should_be_is_refused(client: TestClient) -> None:
    for body in ("[]", "{", '{"path": "slot.yaml"}', '{"path": "slot.yaml", "text": "", "sets": "x"}'):
        answer = client.post("/api/quick", content=body)
        assert answer.status_code in (400, 422), body
    assert client.post("/api/check", content=b"x" * (LONGEST_REQUEST + 1)).status_code == 400
    assert client.get("/api/runs/none/events").status_code == 404
    assert client.get("/report", params={"run": ".."}).status_code == 404


def test_nothing_that_measures_or_executes_is_served(client: TestClient) -> None:
    paths = {getattr(route, "path", "") for route in client.app.routes}  # type: ignore[attr-defined]
    assert not any(word in path for path in paths for word in ("measure", "exec", "serve"))


def test_parts_and_studies_are_there(client: TestClient) -> None:
    assert len(client.get("/api/parts").json()) > 20
    part = client.get("/api/parts/montage-m88rt51632").json()
    assert any(one["source"] for one in part["parameters"])
    assert {"retimer"} <= {one["name"] for one in client.get("/api/studies").json()}
    assert client.get("/api/templates").json()[0]["text"]
    assert client.get("/api/schema").json()["properties"]["machine"]


@pytest.fixture
def served(folder: Path) -> Iterator[str]:
    """Serve the folder for a browser, in a process of its own, and return the address."""
    command = [sys.executable, "-m", "lanetwin", "ui", str(folder), "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        found = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
        assert found
        yield found[0]
        process.send_signal(signal.SIGINT)
        process.wait(20)


TILE = 'document.querySelector("#answer .tile")'


def test_a_browser_edits_moves_runs_and_goes_back(
    served: str, folder: Path, require_tool: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    chromium = require_tool("chromium")
    with opened(chromium, tmp_path_factory.mktemp("profile")) as page:
        page.size(1280, 900)
        page.open(f"{served}#/edit/slot.yaml")
        page.wait(f'{TILE} && document.querySelector("#picture svg") instanceof SVGSVGElement')
        # a slider: throughput and what binds follow
        start = time.monotonic()
        page.value(
            '(() => { const one = document.querySelector("input[type=range]"); one.value = 0;'
            ' one.dispatchEvent(new Event("input", { bubbles: true })); })()'
        )
        page.wait(f'{TILE}.querySelector("dd small")')
        assert time.monotonic() - start < 1
        # a mistake, and back
        type_in = (
            '(text) => { const one = document.querySelector("#text"); one.value = text(one.value);'
            ' one.dispatchEvent(new Event("input", { bubbles: true })); }'
        )
        page.value(f'({type_in})((text) => text.replace("generic-dma-gen5", "no-such-part"))')
        page.wait('document.querySelector("#found .error strong")?.textContent === "SC011"')
        page.value(f'({type_in})((text) => text.replace("no-such-part", "generic-dma-gen5"))')
        page.wait('document.querySelector("#found .good")')
        # completion from the schema
        page.value(
            '(() => { const one = document.querySelector("#text"); one.focus();'
            ' one.value += "\\nru"; one.setSelectionRange(one.value.length, one.value.length);'
            ' one.dispatchEvent(new KeyboardEvent("keydown", { key: " ", ctrlKey: true })); })()'
        )
        page.wait('document.querySelector("#completions li strong")?.textContent === "run"')
        page.value(f'({type_in})((text) => text.replace(/\\nru$/, "\\n"))')
        page.wait('document.querySelector("#found .good")')
        # a run with six charts, and back again
        page.value('document.querySelector("#run").click()')
        page.wait('document.querySelectorAll(".chart").length === 6 && document.querySelector("#end a")')
        page.value("history.back()")
        page.wait('document.querySelector("#text")')
        page.value('location.hash = "#/compare"')
        page.wait('document.querySelector(".view h1")?.textContent === "Compare two runs"')
        assert not page.complaints
        assert page.value("document.scrollingElement.scrollWidth <= document.scrollingElement.clientWidth")
    assert list(folder.glob("runs/*/results.json"))


def test_on_a_phone_nothing_is_cut_off_and_the_machine_can_be_read(
    served: str, require_tool: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with opened(require_tool("chromium"), tmp_path_factory.mktemp("profile")) as page:
        page.size(390, 844)
        page.open(f"{served}#/edit/slot.yaml")
        page.wait('document.querySelector("#picture svg")')
        # one drawing is shown, in its own size: its words are not scaled down with it
        widths = page.value(
            '[...document.querySelectorAll("#picture svg")]'
            ".map((one) => [one.clientWidth, one.viewBox.baseVal.width])"
        )
        shown = [(client, own) for client, own in widths if client]
        assert len(widths) == 2
        assert len(shown) == 1
        assert shown[0][0] > 0.9 * shown[0][1]
        for view in ("parts", "part/samsung-pm1743", "studies"):
            page.value(f'location.hash = "#/{view}"')
            page.wait('document.querySelector(".words td")')
            assert page.value(
                '((box) => box.scrollWidth <= box.clientWidth)(document.querySelector(".scroll"))'
            )
        assert not page.complaints


def test_six_charts_live_show_each_worker_of_iometer(
    served: str, folder: Path, require_tool: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "iometer").mkdir()
    shutil.copy(SCENARIOS / "iometer" / "two-managers.icf", folder / "iometer")
    text = (SCENARIOS / "iometer-managers.yaml").read_text("utf-8")
    text = text.replace("requests: 4000", "requests: 1500").replace("repeats: 3", "repeats: 6")
    (folder / "managers.yaml").write_text(text, encoding="utf-8")
    with opened(require_tool("chromium"), tmp_path_factory.mktemp("profile")) as page:
        page.size(1280, 900)
        page.open(f"{served}#/edit/managers.yaml")
        page.wait('document.querySelector("#found .good")')
        page.value('document.querySelector("#run").click()')
        # the first repeat is shown while the others go on
        page.wait('document.querySelectorAll(".chart svg").length === 6')
        said = page.value('document.querySelector("#so-far").textContent')
        assert re.fullmatch("After [1-5] of 6 repeats:", said)
        assert not page.value('!!document.querySelector("#end a")')
        shown = page.value(
            '[...document.querySelectorAll(".chart figcaption select")].map((one) => one.value)'
        )
        assert shown == list(FIRST[:CHARTS])
        scopes = page.value('[...document.querySelectorAll(".scope option")].map((one) => one.value)')
        assert {"FILES", "FILES/Readers", "FILES/Readers@ssd1", "BACKUP", "BACKUP/Writer"} <= set(scopes)
        # one worker alone: its bars are others than those of all together
        values = 'querySelectorAll(".value")].map((one) => one.textContent)'
        bars_of_first = f'[...document.querySelector(".chart svg").{values}'
        together = page.value(bars_of_first)
        page.value(
            '(() => { const one = document.querySelector(".scope select"); one.value = "BACKUP/Writer";'
            ' one.dispatchEvent(new Event("change")); })()'
        )
        alone = page.value(bars_of_first)
        assert alone
        assert set(alone).isdisjoint(together)
        # new values leave what its reader has chosen
        page.wait('document.querySelector("#end a")')
        assert page.value('document.querySelector(".scope select").value') == "BACKUP/Writer"
        assert not page.complaints


def test_several_workers_of_iometer_have_bars_of_their_own() -> None:
    metric = {"variant": "v", "workload": "w", "case": "c", "family": "f", "unit": "/s", "value": 3.0}
    metrics = [
        {**metric, "metric": "Total I/Os per Second", **({"of": of} if of else {})}
        for of in ("", "HOST", "HOST/Worker 1", "HOST/Worker 1@ssd")
    ]
    found = bars({"rows": [], "iometer": metrics})  # type: ignore[typeddict-item]
    assert found["targets"] == ["HOST", "HOST/Worker 1", "HOST/Worker 1@ssd"]
    assert [one["target"] for one in found["metrics"]["Total I/Os per Second"]] == ["", *found["targets"]]
