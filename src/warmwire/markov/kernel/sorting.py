# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sorting positions of a text by the context before them: the loops of training."""

import cython

if cython.compiled:
    from cython.cimports.warmwire.markov.kernel.memory import load8, wrap
else:
    from warmwire.markov.kernel.memory import load8, wrap

COMPILED = cython.compiled

# A typed name, because a literal over 31 bits would be a Python object.
GOLDEN = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)


def histogram(
    text: cython.uchar[::1], ranges: cython.longlong[::1], depth: cython.Py_ssize_t, counts: cython.longlong[::1]
) -> None:
    """Count the positions of `ranges` (pairs begin, end) by bucket: the last context byte, then the one before it."""
    k: cython.Py_ssize_t
    p: cython.Py_ssize_t
    second: cython.int = 255 if depth > 1 else 0
    with cython.nogil:
        for k in range(0, ranges.shape[0], 2):
            for p in range(ranges[k], ranges[k + 1]):
                counts[(text[p - 1] << 8) | (text[p - 2] & second)] += 1


def scatter(
    text: cython.uchar[::1],
    ranges: cython.longlong[::1],
    depth: cython.Py_ssize_t,
    cursors: cython.longlong[::1],
    steps: cython.longlong[::1],
    keys: cython.ulonglong[::1],
) -> None:
    """Write one key per position into its bucket; depth 1 to 8, text[p - 8] must exist.

    A key is the context bytes but the last, the latest highest, then the byte that follows in the low eight bits.
    A bucket is written from its cursor on, in its step: 1, or 0 to write every key of it to one place, unwanted.
    """
    k: cython.Py_ssize_t
    p: cython.Py_ssize_t
    bucket: cython.Py_ssize_t
    key: cython.ulonglong
    w: cython.ulonglong
    mask: cython.ulonglong = 0
    for k in range(depth - 1):
        mask |= cython.cast(cython.ulonglong, 255) << (56 - 8 * k)
    with cython.nogil:
        for k in range(0, ranges.shape[0], 2):
            for p in range(ranges[k], ranges[k + 1]):
                w = load8(text, p - 8)
                key = (wrap(w << 8) & mask) | text[p]
                bucket = ((w >> 56) << 8) | (key >> 56)
                keys[cursors[bucket]] = key
                cursors[bucket] += steps[bucket]


def scatter_ranks(
    text: cython.uchar[::1],
    ranges: cython.longlong[::1],
    ranks: cython.uint[::1],
    span: cython.Py_ssize_t,
    depth: cython.Py_ssize_t,
    cursors: cython.longlong[::1],
    steps: cython.longlong[::1],
    keys: cython.ulonglong[::1],
) -> None:
    """`scatter` for deep contexts: a key is the ranks of their latest and of their earliest `span` bytes, 28 bits each.

    `ranks[p - span]` is the rank of the `span` bytes before position p; the two spans may overlap.
    """
    k: cython.Py_ssize_t
    p: cython.Py_ssize_t
    bucket: cython.Py_ssize_t
    late: cython.ulonglong
    early: cython.ulonglong
    with cython.nogil:
        for k in range(0, ranges.shape[0], 2):
            for p in range(ranges[k], ranges[k + 1]):
                bucket = (text[p - 1] << 8) | text[p - 2]
                late = ranks[p - span]
                early = ranks[p - depth]
                keys[cursors[bucket]] = (late << 36) | (early << 8) | text[p]
                cursors[bucket] += steps[bucket]


def sort(keys: cython.ulonglong[::1], scratch: cython.ulonglong[::1], counts: cython.longlong[::1]) -> None:
    """Sort by one byte after the other, from the lowest; bytes in which no two keys differ cost nothing.

    `scratch` is at least as long; `counts` are 2048 zeros, and are again afterwards.
    """
    n: cython.Py_ssize_t = keys.shape[0]
    i: cython.Py_ssize_t
    b: cython.Py_ssize_t
    at: cython.longlong
    here: cython.longlong
    w: cython.ulonglong
    digit: cython.int
    moved: cython.int = 0
    with cython.nogil:
        for i in range(n):
            w = keys[i]
            for digit in range(8):
                counts[256 * digit + cython.cast(cython.Py_ssize_t, (w >> (8 * digit)) & 255)] += 1
        w = keys[0]
        for digit in range(8):
            if counts[256 * digit + cython.cast(cython.Py_ssize_t, (w >> (8 * digit)) & 255)] == n:
                continue
            at = 0
            for b in range(256 * digit, 256 * digit + 256):
                here = counts[b]
                counts[b] = at
                at += here
            if moved:
                deal(scratch, keys, n, counts, digit)
            else:
                deal(keys, scratch, n, counts, digit)
            moved = 1 - moved
        if moved:
            for i in range(n):
                keys[i] = scratch[i]
        for b in range(2048):
            counts[b] = 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def deal(
    source: cython.ulonglong[::1],
    target: cython.ulonglong[::1],
    n: cython.Py_ssize_t,
    places: cython.longlong[::1],
    digit: cython.int,
) -> cython.void:
    """Move n keys to the places that their byte `digit` has, in order."""
    i: cython.Py_ssize_t
    b: cython.Py_ssize_t
    for i in range(n):
        b = 256 * digit + cython.cast(cython.Py_ssize_t, (source[i] >> (8 * digit)) & 255)
        target[places[b]] = source[i]
        places[b] += 1


def words(text: cython.uchar[::1], out: cython.ulonglong[::1]) -> None:
    """The eight bytes before each position from 8 on, as numbers in context order."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(out.shape[0]):
            out[i] = load8(text, i)


def pairs(ranks: cython.uint[::1], span: cython.Py_ssize_t, out: cython.ulonglong[::1]) -> None:
    """From the ranks of `span` bytes to keys of twice as many: the later half decides first."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(out.shape[0]):
            out[i] = (cython.cast(cython.ulonglong, ranks[i + span]) << 32) | ranks[i]


def dedupe(values: cython.ulonglong[::1]) -> int:
    """Move the distinct values of a sorted, non-empty array to its front; return how many there are."""
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t = 1
    with cython.nogil:
        for i in range(1, values.shape[0]):
            if values[i] != values[n - 1]:
                values[n] = values[i]
                n += 1
    return n


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def slot(value: cython.ulonglong, bits: cython.int) -> cython.Py_ssize_t:
    return wrap(value * GOLDEN) >> (64 - bits)


def rank(
    values: cython.ulonglong[::1],
    unique: cython.ulonglong[::1],
    slots: cython.uint[::1],
    bits: cython.int,
    ranks: cython.uint[::1],
) -> None:
    """ranks[i] = the place of values[i] in `unique`. `slots` is a zeroed hash table of 2**bits > len(unique) places."""
    i: cython.Py_ssize_t
    h: cython.Py_ssize_t
    last: cython.Py_ssize_t = slots.shape[0] - 1
    with cython.nogil:
        for i in range(unique.shape[0]):
            h = slot(unique[i], bits)
            while slots[h] != 0:
                h = (h + 1) & last
            slots[h] = i + 1
        for i in range(values.shape[0]):
            h = slot(values[i], bits)
            while unique[slots[h] - 1] != values[i]:
                h = (h + 1) & last
            ranks[i] = slots[h] - 1


def locate(ranks: cython.uint[::1], span: cython.Py_ssize_t, places: cython.uint[::1]) -> None:
    """places[r] = a position whose `span` preceding bytes have rank r."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(ranks.shape[0]):
            places[ranks[i]] = i + span


def count_records(keys: cython.ulonglong[::1], tally: cython.longlong[::1]) -> None:
    """tally = [contexts, weights] of a sorted piece."""
    i: cython.Py_ssize_t
    nodes: cython.longlong = 1
    weights: cython.longlong = 1
    with cython.nogil:
        for i in range(1, keys.shape[0]):
            weights += keys[i] != keys[i - 1]
            nodes += (keys[i] >> 8) != (keys[i - 1] >> 8)
    tally[0] = nodes
    tally[1] = weights
