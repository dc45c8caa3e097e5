"""What limits a case, and what is closest behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lanetwin.binding import bindings

if TYPE_CHECKING:
    from lanetwin.results import Results


def test_links_of_which_as_much_is_in_use_are_counted(results: Results) -> None:
    place = {"variant": "as-is", "workload": "w", "case": "c"}
    shares = {"up": 1.0, "bay1": 0.25, "bay2": 0.25, "bay3": 0.249, "slow": 0.244}
    idle = {"dllp": 0.0, "skp": 0.0, "replay": 0.0}
    links: Any = [
        {**place, "link": link, "direction": "a → b", "tlp": tlp, **idle} for link, tlp in shares.items()
    ]
    limit: Any = [{**place, "name": "up: a → b", "why": "it is busy"}]
    results["utilisation"], results["bottlenecks"], results["components"] = links, limit, []
    (binding,) = bindings(results).values()
    assert str(binding.next) == "bay1: a → b, 25\u202f% (2 more alike)"
    results["utilisation"] = [one for one in links if one["link"] not in ("bay2", "bay3")]
    (binding,) = bindings(results).values()
    assert str(binding.next) == "bay1: a → b, 25\u202f%"
