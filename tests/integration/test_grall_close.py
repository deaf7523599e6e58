"""Closing a grall client from one thread while another waits for the server."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from tests.markov_support import GrallHostThread, chain
from warmwire.client import GrallClient, StreamLostError, WarmwireError


def test_a_ping_under_way_ends_with_the_client(tmp_path: Path) -> None:
    """The server says its first pong and then nothing: only closing can end the ping."""
    path = str(tmp_path / "g.sock")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        client = GrallClient(path)
        pinged = threading.Event()

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                peer.sendall(b"\x01")
                while data := peer.recv(16):
                    if b"\x01" in data:
                        pinged.set()

        threading.Thread(target=serve, daemon=True).start()
        outcome: list[object] = []

        def ping() -> None:
            try:
                outcome.append(client.ping())
            except Exception as error:
                outcome.append(error)

        pinging = threading.Thread(target=ping, daemon=True)
        pinging.start()
        assert pinged.wait(20)
        client.close()
        pinging.join(20)
        assert not pinging.is_alive()
        assert isinstance(outcome[0], WarmwireError), outcome
        with pytest.raises(WarmwireError):
            raise outcome[0]


def test_a_client_closed_as_it_is_asked(path: str) -> None:
    """What another thread closed between finding the connection and using it is said, and not waited for."""
    host = GrallHostThread(chain("rep_d8"), path)
    client = GrallClient(path)
    link = client._open()
    client.close()
    with pytest.raises(StreamLostError, match="closed by this side"):
        client._run(link.ping())
    host.stop()
