"""An engine that answers from memory, for tests of what stands around the engine."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from lanetwin.results import Results

FORMS = [
    {
        "name": "link-throughput",
        "about": "Payload throughput of one direction of a link.",
        "formula": "payload = raw · MPS / (MPS + overhead)",
        "arguments": [
            {
                "name": "gen",
                "about": "PCIe generation",
                "default": None,
                "required": True,
                "looks_like": "a number",
            },
            {
                "name": "max_payload",
                "about": "MPS",
                "default": "256B",
                "required": False,
                "looks_like": "a size such as [`512B`]",
            },
        ],
    },
    {"name": "littles-law", "about": "Requests in flight.", "formula": "N = X · R", "arguments": []},
]

CONFIGURATION: dict[str, Any] = {
    "version": "1.1.0",
    "setup": {
        "description": "four [bold] loads",
        "run_time": {"hours": 0, "minutes": 1, "seconds": 30},
        "ramp_up_s": 5,
        "test_type": "NORMAL",
    },
    "specs": [
        {
            "name": "mixed",
            "lines": [
                {"size": 2097152, "share": 67, "reads": 100, "random": 0},
                {"size": 65536, "share": 33, "reads": 0, "random": 0},
            ],
        }
    ],
    "managers": [
        {
            "name": "HOST",
            "workers": [
                {
                    "name": "Worker 1",
                    "kind": {"disk": {}},
                    "outstanding": 8,
                    "targets": [{"name": "E:"}, {"name": "F:"}],
                    "specs": ["mixed"],
                }
            ],
        }
    ],
}
for _line in CONFIGURATION["specs"][0]["lines"]:
    _line.update({"delay_ms": 0, "burst": 1, "align": 0, "reply": 0})

DECLARED = [
    {"claim": "cmm-h", "about": "A module", "bar": "within 2 %", "cpu_seconds": 120},
    {"claim": "pcie-bench", "about": "A card", "bar": "within 8 %", "cpu_seconds": 2},
    {"claim": "section-i", "about": "A formula", "bar": "within 0.2 %", "cpu_seconds": 1},
]

VALIDATION: dict[str, Any] = {
    "complete": True,
    "rows": [
        {
            "claim": "pcie-bench",
            "case": "bdw read 64 B",
            "quantity": "throughput",
            "unit": "Gb/s",
            "published": 32.5,
            "predicted": 32.1,
            "low": 32.0,
            "high": 32.2,
            "error_pct": -1.23,
            "role": "predicted",
            "free_parameters": 6,
            "baseline_error_pct": 4.5,
            "source": "SIGCOMM 2018",
            "run_digest": "7c19e04b5d2f8a36",
        },
        {
            "claim": "pcie-bench",
            "case": "snb read 64 B",
            "quantity": "throughput",
            "unit": "Gb/s",
            "published": 32.1,
            "predicted": 32.1,
            "low": None,
            "high": None,
            "error_pct": 0.0,
            "role": "calibrated",
            "free_parameters": 6,
            "baseline_error_pct": None,
            "source": "SIGCOMM 2018",
            "run_digest": "7c19e04b5d2f8a36",
        },
    ],
    "claims": [
        {
            "claim": "pcie-bench",
            "about": "DMA of a network card in two hosts",
            "bar": "below its baseline",
            "met": True,
            "mape_pct": 1.23,
            "baseline_mape_pct": 4.5,
            "free_parameters": 6,
            "predicted_rows": 1,
        }
    ],
}

JOB_FILE = {
    "diagnostics": [],
    "file": {
        "jobs": [
            {
                "name": "small [bold] reads",
                "phase": 0,
                "group": 0,
                "rw": "randread",
                "reads": "4096 B",
                "writes": "–",
                "iodepth": 32,
                "numjobs": 16,
                "size": "all",
                "spread": "zipf",
                "runtime": "60 s",
                "not_modelled": ["fsync", "verify"],
            }
        ]
    },
}


class FakeCore:
    """Stands in for `lanetwin._core`: answers from memory and remembers what it was asked."""

    def __init__(self, answer: Results) -> None:
        self.answer: Any = answer
        self.asked: list[tuple[Any, ...]] = []
        self.raises: BaseException | None = None
        self.configuration: dict[str, Any] = {"diagnostics": [], "config": CONFIGURATION}
        host = {"host": "host", "drawing": "-[0000:00]---00.0  host\n", "listing": "01:00.0 Endpoint: card\n"}
        self.trees: list[dict[str, Any]] | None = [{"variants": ["as-is"], "hosts": [host]}]
        self.checked: dict[str, Any] = {"diagnostics": [], "plan": {"links": {"slot": {"gen": 3}}}}
        self.validation = copy.deepcopy(VALIDATION)
        self.declared = DECLARED

    def _said(self, *question: Any) -> None:
        self.asked.append(question)
        if self.raises:
            raise self.raises

    def version(self) -> str:
        return "0.1.0"

    def tree(self, path: str, sets: list[str], _outside: bool = False) -> str:
        self._said("tree", path, sets)
        return json.dumps({"diagnostics": [], "trees": self.trees})

    def check(self, path: str, sets: list[str], _outside: bool = False) -> str:
        self._said("check", path, sets)
        return json.dumps(self.checked)

    def run(self, path: str, options: str, progress: Callable[[str], object] | None = None) -> str:
        self._said("run", path, json.loads(options))
        if progress:
            progress(json.dumps({"done": 1, "total": 2, "variant": "as-is"}))
        return json.dumps(self.answer)

    def compare(self, a: str, b: str, options: str) -> str:
        self._said("compare", json.loads(a).get("name"), json.loads(b).get("name"), json.loads(options))
        return json.dumps(self.answer)

    def validate(self, claims: list[str], progress: Callable[[str], object] | None = None) -> str:
        self._said("validate", claims)
        return json.dumps(self.validation)

    def claims_list(self) -> str:
        self._said("claims_list")
        return json.dumps(self.declared)

    def parts_list(self, beside: str | None = None) -> str:
        self._said("parts_list")
        return json.dumps(
            [{"name": "nfp-6000", "kind": "card", "about": "An FPGA-like [bold] card", "grade": "calibrated"}]
        )

    def parts_show(self, name: str, beside: str | None = None) -> str:
        self._said("parts_show", name)
        rows = [
            {
                "calibrated to": "64 B reads",
                "kind": "calibrated",
                "note": "a [guess]",
                "parameter": "issue",
                "source": "nobody",
                "value": "80 ns",
            }
        ]
        return json.dumps({"about": "A card", "name": name, "parameters": rows, "validated": ""})

    def fio_show(self, path: str) -> str:
        self._said("fio_show", path)
        return json.dumps(JOB_FILE)

    def iometer_show(self, path: str) -> str:
        self._said("iometer_show", path)
        return json.dumps(self.configuration)

    def calc_list(self) -> str:
        return json.dumps(FORMS)

    def calc(self, name: str, arguments: str) -> str:
        self._said("calc", name, json.loads(arguments))
        return json.dumps(
            {"rows": [{"name": "payload", "value": 26.7263, "unit": "Gb/s", "how": "raw × 256/280"}]}
        )

    def explain(self, code: str) -> str:
        self._said("explain", code)
        return f"# {code}\n\nA part is not in the catalogue.\n"

    def explain_list(self) -> str:
        return json.dumps([{"code": "SC001", "title": "unknown part"}])

    def templates(self) -> str:
        return json.dumps([{"name": "slot", "about": "one card in one slot"}])

    def template(self, name: str) -> str:
        self._said("template", name)
        return "about: a question\n"

    def schema(self) -> str:
        return '{"$schema": "https://json-schema.org/draft/2020-12/schema"}'

    def replay(self, capsule: str) -> str:
        self._said("replay", capsule)
        return json.dumps({"path": "host/root-port-0", "time": "1 ns"})
