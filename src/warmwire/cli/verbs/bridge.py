"""`warmwire bridge`: OpenAI-compatible HTTP in front of hosts' sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warmwire.cli.console.options import FleetConfig


def bridge(
    socket: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Use the host at this socket, and no others; may be repeated.",
            show_default="all hosts of yours",
        ),
    ] = None,
    config: FleetConfig = None,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Address to listen at; port 0 takes a free port.")
    ] = "127.0.0.1:8080",
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="VAR", help="Name of the environment variable with the API key that clients must send."),
    ] = None,
) -> None:
    """Put an OpenAI-compatible HTTP server in front of all your hosts, until SIGTERM or Ctrl-C.

    A request names its model. The bridge finds all hosts that you run, and knows the models that your configuration
    declares (models.toml in your folder of settings, unless --config or --socket is given): those it starts when they
    are asked for, and unloads when nobody has asked for a while. With a single --socket, any name means that host.

    Without an API key it listens on addresses of this machine only. Images are sent as data URIs; URLs are never
    fetched.
    """
    import logging

    from warmwire.bridge.fleet.config import Settings, load_settings
    from warmwire.errors import UsageError
    from warmwire.host.notify import notify
    from warmwire.transport.listen import raise_descriptor_limit
    from warmwire.transport.paths import check_path, default_directory

    try:
        from warmwire.bridge.fleet.fleet import Fleet
        from warmwire.bridge.router import Router
        from warmwire.bridge.serve import key_from, run_bridge
    except ImportError as error:
        raise UsageError(
            f"the bridge needs {error.name}, which is not installed; install it with: pip install 'warmwire[bridge]'"
        ) from None

    paths = [check_path(path) for path in socket or ()]
    hosts: str | Router
    if len(paths) == 1 and config is None:
        hosts = where = paths[0]
    else:
        settings = load_settings(config) if config or not paths else Settings()
        hosts, where = Fleet(settings, paths), ", ".join(paths) or str(default_directory())
        if settings.models:
            where += f" and {len(settings.models)} declared model{'s' if len(settings.models) > 1 else ''}"
    raise_descriptor_limit()
    logging.basicConfig(level=logging.WARNING, format="warmwire: %(message)s")

    def ready(url: str) -> None:
        typer.echo(f"warmwire: bridge to {where} is ready at {url}", err=True)
        notify(READY=1)

    run_bridge(hosts, listen, key=key_from(api_key_env), on_ready=ready)
