"""`warmwire bridge`: OpenAI-compatible HTTP in front of a host's socket."""

from __future__ import annotations

from typing import Annotated

import typer

from warmwire.cli.console.options import HostSocket


def bridge(
    socket: HostSocket = None,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address to listen at; port 0 takes a free port.")
    ] = "127.0.0.1:8080",
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="VAR", help="Name of the environment variable with the API key that clients must send."),
    ] = None,
) -> None:
    """Put an OpenAI-compatible HTTP server in front of a running host, until SIGTERM or Ctrl-C.

    Without an API key it listens on addresses of this machine only. Images are sent as data URIs; URLs are never
    fetched.
    """
    import logging

    from warmwire.errors import UsageError
    from warmwire.host.notify import notify
    from warmwire.transport.listen import raise_descriptor_limit
    from warmwire.transport.paths import check_path, default_addr

    try:
        from warmwire.bridge.serve import key_from, run_bridge
    except ImportError as error:
        raise UsageError(
            f"the bridge needs {error.name}, which is not installed; install it with: pip install 'warmwire[bridge]'"
        ) from None

    addr = check_path(socket or default_addr())
    raise_descriptor_limit()
    logging.basicConfig(level=logging.WARNING, format="warmwire: %(message)s")

    def ready(url: str) -> None:
        typer.echo(f"warmwire: bridge to {addr} is ready at {url}", err=True)
        notify(READY=1)

    run_bridge(addr, listen, key=key_from(api_key_env), on_ready=ready)
