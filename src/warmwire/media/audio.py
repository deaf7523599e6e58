"""Sound as attachments: mono samples, little-endian float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from warmwire.errors import InvalidRequestError
from warmwire.wire.generation.messages import Attachment


def audio_attachment(id: str, samples: Any, sample_rate: int) -> Attachment:
    """An attachment of mono samples, shape (n,): floats from -1 to 1, or int16, which is scaled to that.

    `sample_rate` is in Hz and must be the one the host advertises; nothing is resampled here. Raises
    InvalidRequestError for samples of another shape or kind, or a rate that is none.
    """
    sound = np.asarray(samples)
    if sound.ndim != 1 or not sound.size:
        raise InvalidRequestError(f"audio {id!r}: shape {sound.shape} is not (n,) mono samples")
    if sound.dtype == np.int16:
        sound = sound / np.float32(32768)
    elif sound.dtype.kind != "f":
        raise InvalidRequestError(f"audio {id!r}: samples must be floats or int16, not {sound.dtype}")
    if not 0 < sample_rate < 1 << 32:
        raise InvalidRequestError(f"audio {id!r}: {sample_rate} is no sample rate")
    data = np.ascontiguousarray(sound, dtype="<f4")
    return Attachment("audio", id, sample_rate=sample_rate, data=data.data.cast("B"))
