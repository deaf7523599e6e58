"""What happens to a model's text between its tokens and the wire.

Text comes in pieces that end anywhere. Each filter here takes pieces and gives back what can be passed on already; it
holds back only what the next piece may still change, and gives that up at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)


class WholeCharacters:
    """Joins characters beyond the BMP that a JSON stream has cut into two surrogate escapes.

    A half that stays alone becomes U+FFFD: it has no UTF-8, so it could not travel on.
    """

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """The text that is whole so far."""
        if not self._half and text.isascii():
            return text
        text = self._half + text
        self._half = text[-1] if text and ord(text[-1]) in _HIGH else ""
        text = text[: len(text) - len(self._half)]
        if any(ord(char) in _HIGH or ord(char) in _LOW for char in text):
            return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return text

    def end(self) -> str:
        """What was held back."""
        half, self._half = self._half, ""
        return "\ufffd" if half else ""


class StopStrings:
    """Ends a text at the first stop string, wherever the pieces cut it; nothing from it on is passed."""

    def __init__(self, stops: Iterable[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.found = ""

    def feed(self, text: str) -> str:
        """The text that can no longer turn out to belong to a stop string; nothing once one is `found`."""
        if self.found:
            return ""
        text = self._held + text
        places = [(at, stop) for stop in self._stops if (at := text.find(stop)) >= 0]
        if places:
            at, self.found = min(places)
            self._held = ""
            return text[:at]
        keep = max((self._overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def end(self) -> str:
        """What was held back: the beginning of a stop string that did not come."""
        held, self._held = self._held, ""
        return held

    @staticmethod
    def _overlap(text: str, stop: str) -> int:
        """How many characters at the end of the text may be the beginning of the stop string."""
        for size in range(min(len(text), len(stop) - 1), 0, -1):
            if text.endswith(stop[:size]):
                return size
        return 0


_PLACES: Final = re.compile(r"<loc_\d+>")
_SUFFIX: Final = 24


class Repetition:
    """Notices that a model has begun to repeat itself and would go on to its token limit.

    It has, when the last `window` characters are one passage at least `times` times over. Places (`<loc_…>`) are left
    out: a page model in a loop invents new boxes for the same words. The window is wide because real pages repeat
    too: a row of dots, a table of empty cells.
    """

    def __init__(self, window: int = 3000, times: int = 8) -> None:
        self._window, self._longest = window, window // times
        self._tail = ""
        self._unseen = 0
        self._raw = ""

    def feed(self, text: str) -> bool:
        """Whether the text so far ends in a loop. Looks once in a while only."""
        self._raw += text
        self._unseen += len(text)
        if self._unseen < self._window // 8:
            return False
        self._unseen = 0
        cut = self._raw.rfind("<") if len(self._raw) - self._raw.rfind("<") < 12 else len(self._raw)
        self._tail = (self._tail + _PLACES.sub("", self._raw[:cut]))[-self._window :]
        self._raw = self._raw[cut:]
        return len(self._tail) == self._window and self._period() is not None

    def _period(self) -> int | None:
        """Length of the passage that the tail consists of, if it is short enough."""
        tail = self._tail
        suffix = tail[-_SUFFIX:]
        end = len(tail) - 1
        while True:
            at = tail.rfind(suffix, 0, end)
            period = len(tail) - _SUFFIX - at
            if at < 0 or period > self._longest:
                return None
            if tail.startswith(tail[period:]):
                return period
            end = at + _SUFFIX - 1
