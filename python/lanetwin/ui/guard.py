"""Admits only requests from a browser on this machine, on a page of lanetwin.

A web page may send requests to a server on its reader's machine (DNS rebinding, forged requests). So the Host
and the Origin of a request have to be ours, and every request that reads or changes something needs a cookie
that requests from other sites do not carry (SameSite=Strict) and no script can read. Addresses contain no
token, which would be in the browser's history and in its Referer. Other users of the machine are recognised
by the owner of the connection's other end, if the system provides it (Linux).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from lanetwin.ui import peer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine for itself."""
COOKIE = "lanetwin-ui"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every answer."""
NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""The default content security policy of answers."""


@dataclass
class Guard:
    """Passes a request to the application, or answers it with 403."""

    app: ASGIApp
    port: int | None
    """The served port; None in tests without a port."""
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refused = "no such protocol" if scope["type"] != "http" else self._refusal(scope)
        if refused and scope["type"] == "http":
            await PlainTextResponse(refused, 403, dict(HEADERS))(scope, receive, send)
            return
        if refused:
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", NOTHING)
                if scope["path"] == "/":
                    headers.append("Set-Cookie", f"{COOKIE}={self.secret}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        await self.app(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> str:
        """Return why a request is refused; empty if it is not."""
        if peer.is_of_another(scope.get("client")):
            return "this is the live view of another user"
        headers = Headers(scope=scope)
        hosts = {name if self.port is None else f"{name}:{self.port}" for name in LOOPBACK}
        host = headers.get("host", "")
        if host not in hosts:
            return "this is not the name of the machine"
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return "the request comes from another site"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "the request comes from another site"
        if scope["method"] not in ("GET", "HEAD") and origin is None:
            return "a request that changes something has to say where it comes from"
        if scope["path"] != "/" and not self._knows(headers.get("cookie", "")):
            return "open the first page before others"
        return ""

    def _knows(self, cookies: str) -> bool:
        morsel = SimpleCookie(cookies).get(COOKIE)
        return morsel is not None and secrets.compare_digest(morsel.value, self.secret)
