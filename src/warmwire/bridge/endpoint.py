"""An endpoint: its body in, its answer out, its client watched; whatever happens is answered and counted once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.types import Receive, Scope, Send

from warmwire.bridge.errors import code_of
from warmwire.bridge.metrics import Metrics, Record
from warmwire.bridge.output import Bounds, Output, read_body, unless_gone
from warmwire.errors import BackendUnavailableError, InternalError, WarmwireError

log = logging.getLogger("warmwire.bridge")

Work = Callable[[HttpRequest, bytes, Output, Record], Coroutine[Any, Any, None]]
"""What an endpoint does with a request and its whole body."""


class Endpoint:
    """An ASGI application for one path."""

    def __init__(self, name: str, work: Work, metrics: Metrics, bounds: Bounds) -> None:
        self._name, self._work, self._metrics, self._bounds = name, work, metrics, bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        output, request = Output(send, self._bounds), HttpRequest(scope, receive)
        failure: WarmwireError | None = None
        with self._metrics.request(self._name) as record:
            try:
                body = await read_body(request, self._bounds)
                await unless_gone(receive, self._work(request, body, output, record))
            except ClientDisconnect:
                record.outcome = "cancelled"
            except asyncio.CancelledError:  # the server has waited long enough
                failure = BackendUnavailableError("the bridge is shutting down")
            except WarmwireError as error:
                failure = error
            except Exception as error:
                log.exception("a request to %s failed", self._name)
                failure = InternalError(f"the bridge failed: {type(error).__name__}")
            if failure is not None:
                record.outcome = code_of(failure)
                with suppress(ClientDisconnect):
                    await output.error(failure)
