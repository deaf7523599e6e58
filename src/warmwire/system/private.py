"""A folder for the sockets of one process, which nobody else needs to find."""

from __future__ import annotations

import os
import tempfile
from typing import Final

from warmwire.errors import WarmwireError

_LONGEST: Final = 64
"""Bytes of a folder's path under which a socket's path stays below the 104 that some systems allow."""


def private_directory() -> str:
    """A new directory that only we can enter, for a socket; its path is short enough for one.

    Raises WarmwireError where the system gives no place for it, as on a full disk.
    """
    try:
        base = tempfile.gettempdir()
        return tempfile.mkdtemp(prefix="warmwire-", dir=base if len(os.fsencode(base)) <= _LONGEST else "/tmp")
    except OSError as error:
        raise WarmwireError(
            f"there is no room for a temporary folder ({error.strerror or error}); make some, or set TMPDIR to a folder"
            " that can be written to"
        ) from None
