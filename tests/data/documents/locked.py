"""A PDF file that a password opens, by the standard security handler of PDF 1.4 (revision 2, RC4)."""

from __future__ import annotations

import hashlib

from tests.data.documents.writer import Pdf, prose, text

PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def rc4(key: bytes, data: bytes) -> bytes:
    box, j = list(range(256)), 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)


def encrypted(password: bytes = b"secret") -> bytes:
    """40-bit RC4 (PDF 32000-1, 7.6.3): the user password is "secret"."""
    pdf = Pdf()
    pdf.page(text(72, 700, "Locked page", 20) + prose(72, 660, 8))
    padded, identity = (password + PAD)[:32], b"0123456789abcdef"
    owner = rc4(hashlib.md5(padded).digest()[:5], padded)
    key = hashlib.md5(padded + owner + (-4).to_bytes(4, "little", signed=True) + identity).digest()[:5]
    user = rc4(key, PAD)
    for number, body in enumerate(pdf.objects, 1):
        head, mark, data = body.partition(b"stream\n")
        if mark:
            each = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
            pdf.objects[number - 1] = head + mark + rc4(each, data.removesuffix(b"\nendstream")) + b"\nendstream"
    lock = f"/Encrypt<</Filter/Standard/V 1/R 2/O<{owner.hex()}>/U<{user.hex()}>/P -4>>"
    return pdf.bytes(f"/ID[<{identity.hex()}><{identity.hex()}>]{lock}")
