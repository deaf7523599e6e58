"""Forms as browsers and curl send files in them (multipart/form-data), from bytes that are there already."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from warmwire.errors import InvalidRequestError

_MOST_FILES: Final = 100
_MOST_FIELDS: Final = 200


@dataclass(slots=True)
class Form:
    """What a form holds: files with their names, and fields, which may be given more than once."""

    files: list[tuple[str, bytes]] = field(default_factory=list)
    fields: dict[str, list[str]] = field(default_factory=dict)

    def last(self, name: str, default: str = "") -> str:
        """The last value of a field."""
        return self.fields.get(name, [default])[-1]


async def read_form(headers: Headers, body: bytes) -> Form:
    """Take a form apart. Raises InvalidRequestError for one that is none."""
    if not headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InvalidRequestError("send the file as multipart/form-data, as curl -F files=@scan.pdf does")

    async def whole() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(headers, whole(), max_files=_MOST_FILES, max_fields=_MOST_FIELDS)
    form = Form()
    try:
        parsed = await parser.parse()
    except (MultiPartException, KeyError, UnicodeError) as error:
        raise InvalidRequestError(f"the form cannot be read: {getattr(error, 'message', error)}") from None
    try:
        for name, value in parsed.multi_items():
            if isinstance(value, UploadFile):
                form.files.append((value.filename or "document", await value.read()))
            else:
                form.fields.setdefault(name, []).append(value)
    finally:
        await parsed.close()
    return form
