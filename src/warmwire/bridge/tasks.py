"""Documents that are read while nobody waits: a task by its id, from pending to its result, for a bounded while."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from warmwire.documents.result import Document
from warmwire.errors import QueueFullError, WarmwireError

MOST: Final = 64
"""Tasks kept, under way and done; the oldest that is done makes room."""


@dataclass(slots=True)
class Task:
    """One document being read, or read, and the formats it is wanted in. `pages` has a record of each page that is
    done."""

    id: str
    formats: list[str]
    pages: list[dict[str, Any]] = field(default_factory=list)
    document: Document | None = None
    error: WarmwireError | None = None
    seconds: float = 0.0
    work: asyncio.Task[None] | None = None

    @property
    def ended(self) -> bool:
        return self.document is not None or self.error is not None

    @property
    def status(self) -> str:
        """The word that docling-serve has for it."""
        if self.ended:
            return "failure" if self.error is not None else "success"
        return "started" if self.pages else "pending"


class Tasks:
    """The tasks of one bridge. Lives in its event loop."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def begin(self, work: Coroutine[Any, Any, Document], task: Task) -> Task:
        """Start reading. Raises QueueFullError while `MOST` tasks are under way."""
        if len(self._tasks) >= MOST:
            done = next((one.id for one in self._tasks.values() if one.ended), None)
            if done is None:
                work.close()
                raise QueueFullError(f"{MOST} documents are being read; try again later")
            del self._tasks[done]
        self._tasks[task.id] = task
        task.work = asyncio.create_task(self._run(work, task))
        return task

    def get(self, name: str) -> Task | None:
        """The task of that id; None where there is none, or none any more."""
        return self._tasks.get(name)

    async def _run(self, work: Coroutine[Any, Any, Document], task: Task) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            task.document = await work
        except WarmwireError as error:
            task.error = error
        task.seconds = loop.time() - started


def new_task(formats: list[str]) -> Task:
    """A task with an id that nobody guesses."""
    return Task(secrets.token_urlsafe(16), formats)
