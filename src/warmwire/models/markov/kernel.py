# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The loops of the Markov model, in Cython's pure-Python mode.

This file is compiled when a C compiler is there and imported as it is when not; both give the same bytes. Every
function works on flat arrays (anything with a buffer) and trusts its caller for their sizes, except `verify`, which
trusts nothing. The theory, once:

*Order.* Contexts are compared from their last byte back. Read as little-endian words from the end, that is plain
integer order: eight bytes at a time, and a training position becomes one sortable number.

*Records.* A model stays as its file's bytes: u8 weights-1, `depth` context bytes, then (u8 byte, u32 count) each.
`index` holds the offset of every eighth record, so that a context is found by bisection and a short scan.

*Graph.* For speed, contexts with a choice become blocks of 64-bit words: a header (total, n), then per choice
(cumulative count, next block) and a run: the byte and up to six more that follow without a choice. A step is one
block, one random number and one eight-byte store. A block with n = 1 continues a long run; block 0 means "look the
context up".
"""

import cython

if cython.compiled:
    from cython.cimports.libc.math import pow as power_of
    from cython.cimports.libc.string import memcpy
else:
    power_of = pow

COMPILED = cython.compiled

# Typed names, because a literal over 31 bits would be a Python object.
MOST = cython.declare(cython.ulonglong, 0xFFFFFFFF)
NONE = cython.declare(cython.uint, 0xFFFFFFFF)
CHOICE = cython.declare(cython.ulonglong, 1 << 40)
GOLDEN = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def wrap(x: cython.ulonglong) -> cython.ulonglong:
    """`x` modulo 2**64, which C does by itself."""
    if cython.compiled:
        return x
    return x & 0xFFFFFFFFFFFFFFFF


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def low(x: cython.ulonglong) -> cython.ulonglong:
    """The lower half of `x`."""
    return x & MOST


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def load8(a: cython.uchar[::1], o: cython.Py_ssize_t) -> cython.ulonglong:
    w: cython.ulonglong = 0
    if cython.compiled:
        memcpy(cython.address(w), cython.address(a[o]), 8)
        return w
    return int.from_bytes(a[o : o + 8], "little")


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def load4(a: cython.uchar[::1], o: cython.Py_ssize_t) -> cython.ulonglong:
    w: cython.uint = 0
    if cython.compiled:
        memcpy(cython.address(w), cython.address(a[o]), 4)
        return w
    return int.from_bytes(a[o : o + 4], "little")


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def store8(a: cython.uchar[::1], o: cython.Py_ssize_t, w: cython.ulonglong) -> cython.void:
    if cython.compiled:
        memcpy(cython.address(a[o]), cython.address(w), 8)
    else:
        a[o : o + 8] = w.to_bytes(8, "little")


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def store4(a: cython.uchar[::1], o: cython.Py_ssize_t, w: cython.uint) -> cython.void:
    if cython.compiled:
        memcpy(cython.address(a[o]), cython.address(w), 4)
    else:
        a[o : o + 4] = w.to_bytes(4, "little")


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def order(
    a: cython.uchar[::1], i: cython.Py_ssize_t, b: cython.uchar[::1], j: cython.Py_ssize_t, depth: cython.Py_ssize_t
) -> cython.int:
    """-1, 0 or 1: the `depth` bytes before `a[i]` against those before `b[j]`, last byte first.

    Reads up to seven bytes further to the left than the contexts reach.
    """
    x: cython.ulonglong
    y: cython.ulonglong
    while depth > 0:
        x = load8(a, i - 8)
        y = load8(b, j - 8)
        if depth < 8:
            x = x >> (64 - 8 * depth)
            y = y >> (64 - 8 * depth)
        if x != y:
            return -1 if x < y else 1
        i -= 8
        j -= 8
        depth -= 8
    return 0


# ---------------------------------------------------------------------------------------------------------- training


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


def emit(
    keys: cython.ulonglong[::1],
    last: cython.ulonglong,
    depth: cython.Py_ssize_t,
    text: cython.uchar[::1],
    places: cython.uint[::1],
    span: cython.Py_ssize_t,
    out: cython.uchar[::1],
) -> None:
    """Write the records of a sorted piece whose contexts all end in `last`. `out` needs eight bytes to spare.

    `span` 0 means plain keys; otherwise `places[r]` is a position whose `span` preceding bytes have rank r.
    """
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t
    o: cython.Py_ssize_t = 0
    head: cython.Py_ssize_t
    late: cython.Py_ssize_t
    early: cython.Py_ssize_t
    n: cython.Py_ssize_t = keys.shape[0]
    key: cython.ulonglong
    context: cython.ulonglong
    count: cython.uint
    with cython.nogil:
        while i < n:
            context = keys[i] >> 8
            head = o
            if span == 0:
                store8(out, o + 1, ((last << 56) | context) >> (64 - 8 * depth))
            else:
                late = places[context >> 28]
                early = places[context & 0xFFFFFFF]
                for j in range(0, span, 8):  # spans are whole words
                    store8(out, o + 1 + j, load8(text, early - span + j))
                for j in range(0, span, 8):
                    store8(out, o + 1 + depth - span + j, load8(text, late - span + j))
            o += 1 + depth
            while i < n and (keys[i] >> 8) == context:
                key = keys[i]
                count = 0
                while i < n and keys[i] == key:
                    count += 1
                    i += 1
                out[o] = key & 255
                store4(out, o + 1, count)
                o += 5
            out[head] = (o - head - 1 - depth) // 5 - 1


def merge(
    data: cython.uchar[::1],
    cursors: cython.longlong[::1],
    ends: cython.longlong[::1],
    scales: cython.double[::1],
    depth: cython.Py_ssize_t,
    sums: cython.ulonglong[::1],
    out: cython.uchar[::1],
    tally: cython.longlong[::1],
) -> int:
    """Merge verified runs of records, lying in `data` from `cursors` to `ends`, until `out` may not hold one more.

    Counts are multiplied by their run's scale (and stay at least 1) and added; a context whose total would not fit
    32 bits has its counts halved until it does. Returns the bytes written, 0 at the end; adds to `tally`
    [contexts, weights]. `sums` is scratch for 256 numbers, zero on entry and exit.
    """
    k: cython.Py_ssize_t
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    o: cython.Py_ssize_t = 0
    head: cython.Py_ssize_t
    best: cython.Py_ssize_t
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    runs: cython.Py_ssize_t = cursors.shape[0]
    room: cython.Py_ssize_t = out.shape[0] - (1 + depth + 5 * 256)
    total: cython.ulonglong
    count: cython.ulonglong
    with cython.nogil:
        while o <= room:
            best = -1
            for k in range(runs):
                if cursors[k] < ends[k] and (
                    best < 0 or order(data, cursors[k] + 1 + depth, data, cursors[best] + 1 + depth, depth) < 0
                ):
                    best = k
            if best < 0:
                break
            head = o
            at = cursors[best] + 1
            for j in range(depth):
                out[o + 1 + j] = data[at + j]
            o += 1 + depth
            at += depth
            total = 0
            first = 255
            last = 0
            for k in range(best, runs):
                if cursors[k] < ends[k] and order(data, cursors[k] + 1 + depth, data, at, depth) == 0:
                    j = cursors[k] + 1 + depth
                    cursors[k] = j + 5 * (data[cursors[k]] + 1)
                    first = min(first, data[j])
                    last = max(last, data[cursors[k] - 5])
                    while j < cursors[k]:
                        count = cython.cast(cython.ulonglong, load4(data, j + 1) * scales[k] + 0.5)
                        if count == 0:
                            count = 1
                        sums[data[j]] += count
                        total += count
                        j += 5
            while total > MOST:
                total = 0
                for j in range(first, last + 1):
                    if sums[j] > 1:
                        sums[j] >>= 1
                    total += sums[j]
            for j in range(first, last + 1):
                if sums[j] != 0:
                    out[o] = j
                    store4(out, o + 1, sums[j])
                    sums[j] = 0
                    o += 5
            out[head] = (o - head - 1 - depth) // 5 - 1
            tally[0] += 1
            tally[1] += (o - head - 1 - depth) // 5
    return o


# ----------------------------------------------------------------------------------------------------- reading a model


def verify(
    data: cython.uchar[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    nodes: cython.Py_ssize_t,
    depth: cython.Py_ssize_t,
    index: cython.longlong[::1],
) -> int:
    """Check `nodes` records from `start`, which must end at `stop`, and fill `index`. At least 8 bytes precede `start`.

    Returns -1 when all is well, else 8 * record + fault: 1 runs past the end, 2 contexts not ascending, 3 bytes not
    ascending, 4 a count of zero, 5 counts over 32 bits together, 6 bytes left over.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    o: cython.Py_ssize_t = start
    end: cython.Py_ssize_t
    before: cython.Py_ssize_t = 0
    fault: cython.longlong = 0
    count: cython.ulonglong
    total: cython.ulonglong
    top: cython.ulonglong
    highest: cython.ulonglong = 0
    shift: cython.int = 64 - 8 * depth if depth < 8 else 0
    with cython.nogil:
        for i in range(nodes):
            if i & 7 == 0:
                index[i >> 3] = o
            end = o + 1 + depth
            if end + 5 > stop:
                fault = 8 * i + 1
                break
            # The latest eight bytes nearly always decide.
            top = load8(data, end - 8) >> shift
            if top <= highest and i > 0 and (top < highest or order(data, before, data, end, depth) >= 0):
                fault = 8 * i + 2
                break
            highest = top
            before = end
            total = load4(data, end + 1)
            if total == 0:
                fault = 8 * i + 4
                break
            if data[o] == 0:  # a branch of its own, so that the next record need not wait for this byte
                o = end + 5
                continue
            j = end + 5
            end += 5 * (data[o] + 1)
            if end > stop:
                fault = 8 * i + 1
                break
            while j < end and fault == 0:
                count = load4(data, j + 1)
                total += count
                if data[j] <= data[j - 5]:
                    fault = 8 * i + 3
                elif count == 0:
                    fault = 8 * i + 4
                j += 5
            if fault == 0 and total > MOST:
                fault = 8 * i + 5
            if fault != 0:
                break
            o = end
        if fault == 0 and o != stop:
            fault = 8 * nodes + 6
    return fault if fault != 0 else -1


def link(
    data: cython.uchar[::1],
    start: cython.Py_ssize_t,
    depth: cython.Py_ssize_t,
    offsets: cython.longlong[::1],
    successors: cython.uint[::1],
    hops: cython.ulonglong[::1],
    tiers: cython.uchar[::1],
    cursors: cython.longlong[::1],
    ends: cython.longlong[::1],
) -> None:
    """Prepare the graph: per record `offsets`, `hops` and `tiers`, per weight `successors` (2**32 - 1: none).

    A hop is what `layout` needs of a record, in one word: without a choice its successor and, from bit 32 on, its
    byte; with one the number of its first weight and the flag CHOICE. A tier is 0 without a choice, else the bit
    length of the total count. For one produced byte, successors ascend as contexts do: 256 cursors (`cursors`,
    `ends`, zeroed) walk the model once.
    """
    nodes: cython.Py_ssize_t = offsets.shape[0]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    end: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    weight: cython.Py_ssize_t = 0
    o: cython.Py_ssize_t = start
    b: cython.uchar
    found: cython.int
    total: cython.ulonglong
    with cython.nogil:
        for i in range(nodes):
            offsets[i] = o
            b = data[o + depth]
            if ends[b] == 0:
                cursors[b] = i
            ends[b] = i + 1
            o += 1 + depth + 5 * (data[o] + 1)
        for i in range(nodes):
            o = offsets[i]
            end = o + 1 + depth
            stop = end + 5 * (data[o] + 1)
            hops[i] = CHOICE | weight
            total = 0
            for j in range(end, stop, 5):
                b = data[j]
                total += load4(data, j + 1)
                k = cursors[b]
                found = 1
                while k < ends[b]:
                    found = order(data, offsets[k] + depth, data, end, depth - 1)
                    if found >= 0:
                        break
                    k += 1
                cursors[b] = k
                successors[weight] = k if k < ends[b] and found == 0 else NONE
                weight += 1
            tiers[i] = 0
            if data[o] == 0:
                hops[i] = (cython.cast(cython.ulonglong, data[end]) << 32) | successors[weight - 1]
            else:
                while total != 0:
                    tiers[i] += 1
                    total >>= 1


def layout(
    data: cython.uchar[::1],
    depth: cython.Py_ssize_t,
    offsets: cython.longlong[::1],
    successors: cython.uint[::1],
    hops: cython.ulonglong[::1],
    sequence: cython.uint[::1],
    blocks: cython.uint[::1],
    passed: cython.uchar[::1],
    graph: cython.ulonglong[::1],
) -> int:
    """Build `graph`; `blocks[record]` becomes its block or 0. Returns the words used.

    `sequence` lists the records with a choice in the order to lay them out; `blocks` and `passed` are zeroed;
    `graph` has room for 1 word, 1 + 2n per choice of n, and 2 per other record.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    n: cython.Py_ssize_t
    o: cython.Py_ssize_t
    x: cython.Py_ssize_t
    weight: cython.Py_ssize_t
    free: cython.Py_ssize_t = 1
    total: cython.ulonglong
    with cython.nogil:
        graph[0] = 0
        for j in range(sequence.shape[0]):
            blocks[sequence[j]] = free
            free += 3 + 2 * cython.cast(cython.Py_ssize_t, data[offsets[sequence[j]]])
        for j in range(sequence.shape[0]):
            i = sequence[j]
            x = blocks[i]
            n = cython.cast(cython.Py_ssize_t, data[offsets[i]]) + 1
            o = offsets[i] + 1 + depth
            weight = low(hops[i])
            total = 0
            for k in range(n):
                total += load4(data, o + 5 * k + 1)
                free = run(
                    hops, blocks, passed, graph, x + 1 + 2 * k, total, data[o + 5 * k], successors[weight + k], free
                )
            graph[x] = (total << 32) | n
        for i in range(offsets.shape[0]):
            if hops[i] < CHOICE and passed[i] == 0 and blocks[i] == 0:
                # Nothing with a choice leads here: a beginning, or a ring that never branches.
                blocks[i] = free
                free = chain(hops, blocks, passed, graph, i, free + 2)
    return free


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def run(
    hops: cython.ulonglong[::1],
    blocks: cython.uint[::1],
    passed: cython.uchar[::1],
    graph: cython.ulonglong[::1],
    e: cython.Py_ssize_t,
    high: cython.ulonglong,
    byte: cython.ulonglong,
    node: cython.uint,
    free: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Write one choice at word e: `high`, the block it ends in, and its run, from `byte` on, which leads into `node`.

    Follows contexts without a choice for up to seven bytes; if one is still not the end, it gets a block of its own.
    Returns the next free word.
    """
    length: cython.int = 1
    text: cython.ulonglong = byte << 8
    while node != NONE and length < 7 and hops[node] < CHOICE:
        passed[node] = 1
        length += 1
        text |= (hops[node] >> 32) << (8 * length)
        node = low(hops[node])
    graph[e + 1] = text | length
    if node == NONE:
        graph[e] = high << 32
    elif blocks[node] != 0:
        graph[e] = (high << 32) | blocks[node]
    else:
        blocks[node] = free
        graph[e] = (high << 32) | free
        free = chain(hops, blocks, passed, graph, node, free + 2)
    return free


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def chain(
    hops: cython.ulonglong[::1],
    blocks: cython.uint[::1],
    passed: cython.uchar[::1],
    graph: cython.ulonglong[::1],
    node: cython.uint,
    free: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Fill the block of `node`, which has no choice, and the blocks after it until one exists already."""
    x: cython.Py_ssize_t
    length: cython.int
    text: cython.ulonglong
    while True:
        x = blocks[node]
        length = 0
        text = 0
        while node != NONE and length < 7 and hops[node] < CHOICE:
            passed[node] = 1
            length += 1
            text |= (hops[node] >> 32) << (8 * length)
            node = low(hops[node])
        graph[x + 1] = text | length
        if node == NONE:
            graph[x] = 1
            return free
        if blocks[node] != 0:
            graph[x] = (cython.cast(cython.ulonglong, blocks[node]) << 32) | 1
            return free
        blocks[node] = free
        graph[x] = (cython.cast(cython.ulonglong, free) << 32) | 1
        free += 2


# ---------------------------------------------------------------------------------------------------------- generation


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def draw(s: cython.ulonglong[::1]) -> cython.ulonglong:
    """64 random bits: xoshiro256++ (Blackman and Vigna), state in s[0] to s[3]."""
    a: cython.ulonglong = s[0]
    b: cython.ulonglong = s[1]
    c: cython.ulonglong = s[2] ^ a
    d: cython.ulonglong = s[3] ^ b
    r: cython.ulonglong = wrap(a + s[3])
    r = wrap((wrap(r << 23) | (r >> 41)) + a)
    s[0] = a ^ d
    s[1] = b ^ c
    s[2] = c ^ wrap(b << 17)
    s[3] = wrap(d << 45) | (d >> 19)
    return r


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def below(s: cython.ulonglong[::1], total: cython.ulonglong) -> cython.ulonglong:
    """A number from 0 to total - 1, each equally likely (Lemire); 1 <= total < 2**32."""
    m: cython.ulonglong = (draw(s) >> 32) * total
    short: cython.ulonglong
    if low(m) < total:
        short = (MOST + 1 - total) % total
        while low(m) < short:
            m = (draw(s) >> 32) * total
    return m >> 32


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pick(
    data: cython.uchar[::1], o: cython.Py_ssize_t, n: cython.Py_ssize_t, s: cython.ulonglong[::1], power: cython.double
) -> cython.Py_ssize_t:
    """Which of the n weights at offset o comes next: by count ** power; a negative power means the largest count."""
    k: cython.Py_ssize_t
    best: cython.Py_ssize_t = 0
    total: cython.ulonglong = 0
    most: cython.ulonglong = 0
    mass: cython.double = 0.0
    at: cython.double
    if n == 1:
        return 0
    for k in range(n):
        total += load4(data, o + 5 * k + 1)
        if load4(data, o + 5 * k + 1) > most:
            most = load4(data, o + 5 * k + 1)
            best = k
    if power < 0:
        return best
    if power == 1:
        total = below(s, total)
        for k in range(n - 1):
            if total < load4(data, o + 5 * k + 1):
                return k
            total -= load4(data, o + 5 * k + 1)
        return n - 1
    for k in range(n):
        mass += power_of(load4(data, o + 5 * k + 1) / cython.cast(cython.double, most), power)
    at = (draw(s) >> 11) * 1.1102230246251565e-16 * mass
    for k in range(n):
        at -= power_of(load4(data, o + 5 * k + 1) / cython.cast(cython.double, most), power)
        if at < 0:
            return k
    return best


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def seek(
    data: cython.uchar[::1],
    index: cython.longlong[::1],
    nodes: cython.Py_ssize_t,
    depth: cython.Py_ssize_t,
    buf: cython.uchar[::1],
    pos: cython.Py_ssize_t,
    s: cython.ulonglong[::1],
) -> cython.Py_ssize_t:
    """The offset of the first record not below the context before buf[pos], or -1.

    Leaves its number in s[6] and in s[7] whether it is that very context.
    """
    low: cython.Py_ssize_t = 0
    high: cython.Py_ssize_t = (nodes + 7) >> 3
    middle: cython.Py_ssize_t
    i: cython.Py_ssize_t
    o: cython.Py_ssize_t
    c: cython.int
    while high - low > 1:
        middle = (low + high) >> 1
        if order(data, index[middle] + 1 + depth, buf, pos, depth) <= 0:
            low = middle
        else:
            high = middle
    o = index[low]
    for i in range(8 * low, nodes):
        c = order(data, o + 1 + depth, buf, pos, depth)
        if c >= 0:
            s[6] = i
            s[7] = c == 0
            return o
        o += 1 + depth + 5 * (data[o] + 1)
    return -1


def walk(
    data: cython.uchar[::1],
    index: cython.longlong[::1],
    nodes: cython.Py_ssize_t,
    depth: cython.Py_ssize_t,
    graph: cython.ulonglong[::1],
    blocks: cython.uint[::1],
    s: cython.ulonglong[::1],
    buf: cython.uchar[::1],
    pos: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    power: cython.double,
    exact: cython.bint,
) -> int:
    """Generate into buf[pos:stop], up to six bytes further, and return the new position.

    `buf` holds at least depth + 7 bytes before `pos`, of which the last `depth` are the state, and 8 to spare after
    `stop`. `s` is [4 words of random state, block, ended, scratch, scratch]. Without a graph `blocks` is empty.
    """
    x: cython.Py_ssize_t = s[4]
    e: cython.Py_ssize_t
    o: cython.Py_ssize_t
    n: cython.Py_ssize_t
    r: cython.ulonglong
    with cython.nogil:
        while pos < stop:
            if x == 0:
                o = seek(data, index, nodes, depth, buf, pos, s)
                if o < 0 or (s[7] == 0 and (exact or data[o + depth] != buf[pos - 1])):
                    s[5] = 1
                    break
                if s[7] != 0 and blocks.shape[0] != 0:
                    x = blocks[s[6]]
                    if x != 0:
                        continue
                n = data[o]
                o += 1 + depth
                buf[pos] = data[o + 5 * pick(data, o, n + 1, s, power)]
                pos += 1
                continue
            r = graph[x]
            if low(r) == 1:
                e = x
                x = r >> 32
            else:
                r = below(s, r >> 32)
                e = x + 1
                while (graph[e] >> 32) <= r:
                    e += 2
                x = low(graph[e])
            r = graph[e + 1]
            store8(buf, pos, r >> 8)
            pos += r & 255
    s[4] = x
    return pos
