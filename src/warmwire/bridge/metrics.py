"""What the bridge counts, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_SECONDS: Final = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)


class Record:
    """One request as it goes."""

    def __init__(self, first: Histogram) -> None:
        self._first = first
        self._start = time.perf_counter()
        self._begun = False
        self.outcome = "ok"
        """ok, cancelled (the client left), or an error's code."""

        self.input_tokens = self.output_tokens = 0

    @property
    def seconds(self) -> float:
        """Since the request came."""
        return time.perf_counter() - self._start

    def delta(self) -> None:
        """Something of an answer has come from the host."""
        if not self._begun:
            self._begun = True
            self._first.observe(self.seconds)


class Metrics:
    """The counters of one bridge."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "warmwire_bridge_requests",
            "Requests by how they ended: ok, cancelled (the client left), or an error code.",
            ("endpoint", "outcome"),
            registry=registry,
        )
        self._running = Gauge(
            "warmwire_bridge_requests_in_progress", "Requests that have not ended.", ("endpoint",), registry=registry
        )
        self._seconds = Histogram(
            "warmwire_bridge_request_seconds",
            "From the request to the end of its answer.",
            ("endpoint",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._first = Histogram(
            "warmwire_bridge_first_delta_seconds",
            "From the request to the first piece of a generated answer: queue, prompt, first token.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._tokens = Counter(
            "warmwire_bridge_tokens", "Tokens as the model counts them.", ("direction",), registry=registry
        )
        self._ready = Gauge("warmwire_bridge_host_ready", "Whether the host takes requests now.", registry=registry)

    @contextmanager
    def request(self, endpoint: str) -> Iterator[Record]:
        """Count a request for the time of the block."""
        record = Record(self._first)
        running = self._running.labels(endpoint)
        running.inc()
        try:
            yield record
        finally:
            running.dec()
            self._requests.labels(endpoint, record.outcome).inc()
            self._seconds.labels(endpoint).observe(record.seconds)
            self._tokens.labels("input").inc(record.input_tokens)
            self._tokens.labels("output").inc(record.output_tokens)

    def text(self, ready: bool) -> bytes:
        """Everything in Prometheus' text format."""
        self._ready.set(ready)
        return generate_latest(self._registry)
