"""The application: addresses and their handlers. Everything except the first page is JSON, or a report."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from lanetwin import engine
from lanetwin.errors import LanetwinError
from lanetwin.ui import editing, first_page, quick, reading
from lanetwin.ui.folder import Folder
from lanetwin.ui.guard import Guard
from lanetwin.ui.running import Runs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from starlette.requests import Request

LONGEST_REQUEST = 1 << 20
"""Maximum size of a request's body: a scenario and its sliders [bytes]."""


def application(root: Path, port: int | None = None) -> Starlette:
    """Return the live view of a folder; `port` is the port on which it is served."""
    runs = Runs(root.resolve())
    handlers = _Handlers(Folder(root.resolve()), runs)

    @asynccontextmanager
    async def session(_: Starlette) -> AsyncIterator[None]:
        yield
        await runs.stop()

    routes = [
        Route("/", handlers.first),
        Route("/api/folder", _answers(handlers.folder_list)),
        Route("/api/scenario", _answers(handlers.scenario)),
        Route("/api/save", _answers(handlers.save), methods=["POST"]),
        Route("/api/check", _answers(handlers.check), methods=["POST"]),
        Route("/api/quick", _answers(handlers.quick), methods=["POST"]),
        Route("/api/schema", handlers.schema),
        Route("/api/runs", _answers(handlers.start), methods=["POST"]),
        Route("/api/runs/{key}/events", handlers.events),
        Route("/api/runs/{key}/cancel", _answers(handlers.cancel), methods=["POST"]),
        Route("/api/compare", _answers(handlers.compare)),
        Route("/api/parts", _answers(handlers.parts)),
        Route("/api/parts/{name}", _answers(handlers.part)),
        Route("/api/studies", _answers(handlers.studies)),
        Route("/api/templates", _answers(handlers.templates)),
        Route("/report", handlers.report),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard, port=port)], lifespan=session)


def _answers(handler: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn a handler's answer into JSON, and an error of the user into JSON with its diagnostics."""

    async def answer(request: Request) -> Response:
        try:
            return JSONResponse(await handler(request))
        except LanetwinError as error:
            found = [asdict(one) for one in error.diagnostics]
            return JSONResponse({"error": str(error), "diagnostics": found}, 422)
        except (KeyError, TypeError, ValueError) as error:
            return JSONResponse({"error": f"the request is not as it should be: {error}"}, 400)

    return answer


async def _body(request: Request) -> dict[str, Any]:
    """Read the body of a request: a JSON object of limited size."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_REQUEST:
            raise ValueError(f"it is longer than {LONGEST_REQUEST} bytes")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise TypeError("it is no object")
    return found


def _texts(body: dict[str, Any], key: str) -> list[str]:
    found = body.get(key) or []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise TypeError(f"`{key}` is no list of texts")
    return found


class _Handlers:
    """The handlers of all addresses."""

    def __init__(self, folder: Folder, runs: Runs) -> None:
        self.folder = folder
        self.runs = runs
        self.turn = asyncio.Lock()
        """First previews run one after the other: two at once would only be slower."""
        self.second_turn = asyncio.Lock()
        """Second previews, which take longer, run one after the other beside them."""
        self.asked = 0
        """Number of requested previews."""

    async def first(self, _: Request) -> Response:
        """Return the single page, which loads the rest as data."""
        page = first_page.page()
        return HTMLResponse(page.text, headers={"Content-Security-Policy": page.policy})

    async def folder_list(self, _: Request) -> Any:
        """List scenarios, runs and sweeps."""
        return await run_in_threadpool(
            lambda: {
                "scenarios": self.folder.scenarios(),
                "runs": self.folder.runs(),
                "sweeps": self.folder.sweeps(),
            }
        )

    async def scenario(self, request: Request) -> Any:
        """Return the text of a scenario."""
        return {"text": await run_in_threadpool(self.folder.read, request.query_params["path"])}

    async def save(self, request: Request) -> Any:
        """Write a scenario."""
        body = await _body(request)
        await run_in_threadpool(self.folder.write, str(body["path"]), str(body["text"]))
        return {"saved": body["path"]}

    async def check(self, request: Request) -> Any:
        """Check a draft."""
        body = await _body(request)
        place = self.folder.scenario(str(body["path"]))
        return await run_in_threadpool(
            editing.checked, place, str(body["text"]), str(body.get("variant") or "")
        )

    async def quick(self, request: Request) -> Any:
        """Run a preview of a draft; a second one is omitted if newer ones have been requested."""
        body = await _body(request)
        place = self.folder.scenario(str(body["path"]))
        moved, is_whole = _texts(body, "sets"), body.get("whole") is True
        self.asked += 1
        own = self.asked
        async with self.second_turn if is_whole else self.turn:
            if is_whole and own != self.asked:
                return {"is_late": True}
            ask = partial(quick.answered, is_whole=is_whole)
            return await run_in_threadpool(
                ask, place, str(body["text"]), moved, str(body.get("variant") or "")
            )

    async def schema(self, _: Request) -> Response:
        """Return the schema for completion."""
        return Response(engine.schema(), media_type="application/schema+json")

    async def start(self, request: Request) -> Any:
        """Start the run of a stored scenario."""
        body = await _body(request)
        path = self.folder.scenario(str(body["path"]))
        if not path.is_file():
            raise LanetwinError("save the scenario first")
        return {"run": self.runs.start(path, _texts(body, "sets"))}

    async def events(self, request: Request) -> Response:
        """Report the progress of a run as server-sent events; a client that reconnects gets the rest."""
        job = self.runs.jobs.get(request.path_params["key"])
        if job is None:
            return JSONResponse({"error": "there is no such run"}, 404)
        heard = request.headers.get("last-event-id", "0")
        after = int(heard) if heard.isdigit() else 0

        async def lines() -> AsyncIterator[str]:
            async for nth, line in job.watch(after):
                yield f"id: {nth}\nevent: {line['kind']}\ndata: {json.dumps(line)}\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    async def cancel(self, request: Request) -> Any:
        """Request that a run stops."""
        job = self.runs.jobs.get(request.path_params["key"])
        if job is None:
            raise LanetwinError("there is no such run")
        await job.cancel()
        return {"cancelled": True}

    async def compare(self, request: Request) -> Any:
        """Compare two runs of the folder."""
        a, b = (self.folder.inside(request.query_params[key]) for key in ("a", "b"))
        return await run_in_threadpool(reading.compared, a, b)

    async def parts(self, _: Request) -> Any:
        """List the parts."""
        return await run_in_threadpool(reading.parts)

    async def part(self, request: Request) -> Any:
        """Return a part with the source of every number."""
        return await run_in_threadpool(reading.part, request.path_params["name"])

    async def studies(self, _: Request) -> Any:
        """List the studies."""
        return await run_in_threadpool(reading.studies)

    async def templates(self, _: Request) -> Any:
        """Return the templates of scenarios."""
        found = await run_in_threadpool(engine.templates)
        return [{**one, "text": engine.template(one["name"])} for one in found]

    async def report(self, request: Request) -> Response:
        """Show the report of a run or a sweep."""
        try:
            folder = self.folder.inside(request.query_params["run"])
            text, policy = await run_in_threadpool(reading.page, folder)
        except (KeyError, LanetwinError) as error:
            return Response(f"no report: {error}", 404, media_type="text/plain")
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})
