"""Documents given as URLs: `file:` is a path, `data:` holds its bytes itself, anything else would have to be fetched.

Fetching is left to programs made for it: they know proxies, certificates and cookies, and a reader of files that opens
connections by itself would surprise whoever gives it a list of names.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from typing import Final
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from warmwire.errors import InputError

_URL: Final = re.compile(r"(file|data|https?|ftp|s3):", re.IGNORECASE)


def scheme_of(path: str) -> str:
    """The scheme of a URL in small letters, "" for a path, also one that looks like a URL and exists."""
    match = _URL.match(path)
    return match[1].lower() if match and not os.path.lexists(path) else ""


def file_path(url: str) -> str:
    """The path that a `file:` URL means. Raises InputError for one on another machine, and for what is no URL."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InputError(f"{url}: is no URL ({error}); a file: URL of this machine starts with file:///") from None
    if parts.netloc not in ("", "localhost"):
        raise InputError(f"{url}: is on another machine; a file: URL of this one starts with file:///")
    return unquote(parts.path)


def data_of(url: str) -> bytes:
    """The bytes in a `data:` URL. Raises InputError where they are malformed."""
    head, comma, body = url.partition(",")
    if not comma:
        raise InputError("a data: URL without a comma holds no data")
    raw = unquote_to_bytes(body)
    if not head.lower().endswith(";base64"):
        return raw
    try:
        return base64.b64decode(raw, validate=True)
    except binascii.Error:
        raise InputError("the data: URL is not valid base64") from None


def refuse(url: str) -> InputError:
    """What is said of a URL whose document is not here."""
    return InputError(f"{url}: is not on this machine, and nothing is fetched; download it first: curl -LO '{url}'")
