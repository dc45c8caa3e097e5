"""A scenario as an object: from a file or a dictionary, changed by paths, run and swept."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lanetwin import engine, store
from lanetwin.outcome import Points, Run
from lanetwin.search import Goals, Prices, Search, search
from lanetwin.sweep.cache import Cache
from lanetwin.sweep.running import Asked, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lanetwin.engine import Checked, Granularity, Progress
    from lanetwin.search import Searched
    from lanetwin.sweep.executors import Executor


@dataclass(frozen=True)
class Scenario:
    """A scenario. It never changes: `set` returns another one.

    ``Scenario("slot.yaml")`` reads a file when it is run. ``Scenario({...})`` is a document as a dictionary,
    whose files have to be under ``files:``; `name` is the name of its results.
    """

    source: str | Path | Mapping[str, Any]
    name: str = "scenario"
    sets: tuple[str, ...] = field(default=())
    """Changes, each ``path=value``."""

    def set(self, path: str | Mapping[str, Any], value: Any = None) -> Self:
        """Return the scenario with another value at a path, or with other values at several.

        A value is text as in a scenario (``"x8"``, ``"128KiB"``), a number, a list or a dictionary; ``None``
        removes the value.
        """
        changes = {path: value} if isinstance(path, str) else path
        return replace(self, sets=(*self.sets, *(f"{at}={_written(of)}" for at, of in changes.items())))

    def check(self) -> Checked:
        """Check it without running it; its mistakes are in the answer, not raised."""
        with self._file() as path:
            return engine.check(path, self.sets)

    def plan(self) -> dict[str, Any]:
        """Return it with every default filled in.

        Raises `LanetwinError` with all its mistakes.
        """
        with self._file() as path:
            document: dict[str, Any] = json.loads(engine.planned(path, self.sets))
            return document

    def run(
        self,
        *,
        seed: int | None = None,
        granularity: Granularity = "train",
        threads: int | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Run:
        """Simulate every variant and workload.

        Raises `LanetwinError` with all mistakes of the scenario.
        """
        with self._file() as path:
            results = engine.run(
                path,
                sets=self.sets,
                seed=seed,
                granularity=granularity,
                threads=threads,
                progress=progress,
            )
        if not isinstance(self.source, str | Path):
            results["scenario"]["path"] = f"{self.name}.yaml"
        return Run(results)

    def sweep(
        self,
        vary: Mapping[str, Any] | None = None,
        *,
        zipped: Mapping[str, Any] | None = None,
        sample: int | None = None,
        seed: int | None = None,
        executor: Executor | None = None,
        cache: Path | str | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Points:
        """Run it at many values: those under its ``sweep:``, and of these paths.

        A path has a list of values, a range (``{"from": 1, "to": 256, "times": 2}``) or any other form of a
        scenario. The paths of `zipped` change together. With `sample`, this many points are drawn. The
        default of `executor` is `lanetwin.sweep.executors.Threads`. With `cache`, results are kept in that
        file, and points in it are not simulated again.

        Raises `LanetwinError` if something is wrong with the sweep or the scenario.
        """
        kept = Cache(None if cache is None else Path(cache))
        with self._file() as path:
            asked = Asked(path, self.sets, _varied(vary), _varied(zipped), sample, seed)
            swept = sweep(asked, executor=executor, cache=kept, progress=progress)
        if not isinstance(self.source, str | Path):
            swept.asked = replace(swept.asked, path=f"{self.name}.yaml")
        return Points(swept)

    def search(
        self,
        *,
        maximize: str | Sequence[str] = (),
        minimize: str | Sequence[str] = (),
        require: str | Sequence[str] = (),
        vary: Mapping[str, Any] | None = None,
        prices: Prices | None = None,
        trials: int | None = None,
        seed: int | None = None,
        executor: Executor | None = None,
        storage: Path | None = None,
        cache: Path | str | None = None,
    ) -> Searched:
        """Search for the best of the values under its ``search:`` or ``sweep:``, and of these paths.

        `maximize` and `minimize` name metrics (``"latency p99@WORKLOAD"``, ``"cost"``), `require` has limits
        (``"throughput >= 6000"``), each replacing the key of ``search:``. `prices` override those of
        ``prices:``. At most `trials` points are tried (100); `seed` is that of the proposals (0). A search
        continues with its `storage`, a file of SQLite.

        Raises `LanetwinError` if Optuna is not installed, or the scenario or a goal is wrong.
        """
        maximized, minimized, required = map(_several, (maximize, minimize, require))
        goals = Goals(maximized, minimized, required, trials, seed, prices)
        kept = Cache(None if cache is None else Path(cache))
        with self._file() as path:
            wanted = Search.of(Asked(path, self.sets, _varied(vary)), goals)
            return search(wanted, storage=storage, cache=kept, executor=executor)

    @contextmanager
    def _file(self) -> Iterator[str]:
        """Yield the path of a file with its contents."""
        if isinstance(self.source, str | Path):
            yield str(self.source)
            return
        with tempfile.TemporaryDirectory(prefix="lanetwin-") as folder:
            # a document of JSON is one of YAML
            file = Path(folder) / f"{store.slug(self.name)}.yaml"
            file.write_text(json.dumps(self.source), encoding="utf-8")
            yield str(file)


def _several(texts: str | Sequence[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _written(value: Any) -> str:
    """Write a value so that the engine reads it as YAML.

    >>> _written("x8"), _written(4), _written(None), _written(["64B"]), _written(True)
    ('"x8"', '4', 'null', '["64B"]', 'true')
    """
    return json.dumps(value, ensure_ascii=False)


def _varied(paths: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Write paths and their values as on a command line.

    >>> _varied({"links.slot.width": ["x4", "x8"]}), _varied({"a.b": "1..8*2"})
    (('links.slot.width=["x4", "x8"]',), ('a.b=1..8*2',))
    """
    return tuple(
        f"{path}={values if isinstance(values, str) else _written(values)}"
        for path, values in (paths or {}).items()
    )
