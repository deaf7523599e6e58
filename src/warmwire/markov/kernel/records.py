# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The records of a model's file: writing them from sorted keys, merging, checking."""

import cython

if cython.compiled:
    from cython.cimports.warmwire.markov.kernel.memory import load4, load8, order, store4, store8
else:
    from warmwire.markov.kernel.memory import load4, load8, order, store4, store8

COMPILED = cython.compiled

# A typed name, because a literal over 31 bits would be a Python object.
MOST = cython.declare(cython.ulonglong, 0xFFFFFFFF)


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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def sift(
    heap: cython.longlong[::1],
    live: cython.Py_ssize_t,
    i: cython.Py_ssize_t,
    data: cython.uchar[::1],
    cursors: cython.longlong[::1],
    depth: cython.Py_ssize_t,
) -> cython.void:
    """Let the run at place i of the heap sink below those whose next context comes before its own."""
    j: cython.Py_ssize_t
    k: cython.longlong = heap[i]
    head: cython.Py_ssize_t = 1 + depth
    while 2 * i + 1 < live:
        j = 2 * i + 1
        if j + 1 < live and order(data, cursors[heap[j + 1]] + head, data, cursors[heap[j]] + head, depth) < 0:
            j += 1
        if order(data, cursors[heap[j]] + head, data, cursors[k] + head, depth) >= 0:
            break
        heap[i] = heap[j]
        i = j
    heap[i] = k


def merge(
    data: cython.uchar[::1],
    cursors: cython.longlong[::1],
    ends: cython.longlong[::1],
    scales: cython.double[::1],
    depth: cython.Py_ssize_t,
    heap: cython.longlong[::1],
    sums: cython.ulonglong[::1],
    out: cython.uchar[::1],
    tally: cython.longlong[::1],
) -> int:
    """Merge verified runs of records, lying in `data` from `cursors` to `ends`, until `out` may not hold one more.

    Counts are multiplied by their run's scale (and stay at least 1) and added; a context whose total would not fit
    32 bits has its counts halved until it does. Returns the bytes written, 0 at the end; adds to `tally`
    [contexts, weights]. `heap` is scratch for a number per run, `sums` for 256, zero on entry and exit.
    """
    k: cython.Py_ssize_t
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    o: cython.Py_ssize_t = 0
    head: cython.Py_ssize_t
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    live: cython.Py_ssize_t = 0
    room: cython.Py_ssize_t = out.shape[0] - (1 + depth + 5 * 256)
    total: cython.ulonglong
    count: cython.ulonglong
    with cython.nogil:
        for k in range(cursors.shape[0]):
            if cursors[k] < ends[k]:
                heap[live] = k
                live += 1
        for k in range(live // 2 - 1, -1, -1):
            sift(heap, live, k, data, cursors, depth)
        while live > 0 and o <= room:
            head = o
            at = cursors[heap[0]] + 1
            for j in range(depth):
                out[o + 1 + j] = data[at + j]
            o += 1 + depth
            at += depth
            total = 0
            first = 255
            last = 0
            while live > 0:
                k = heap[0]
                if order(data, cursors[k] + 1 + depth, data, at, depth) != 0:
                    break
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
                if cursors[k] == ends[k]:
                    live -= 1
                    heap[0] = heap[live]
                sift(heap, live, 0, data, cursors, depth)
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


def verify(
    data: cython.uchar[::1],
    filled: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    nodes: cython.Py_ssize_t,
    depth: cython.Py_ssize_t,
    progress: cython.longlong[::1],
    index: cython.longlong[::1],
) -> int:
    """Check the records that have arrived of `nodes`, the last of which must end at `stop`, and fill `index`.

    `filled` bytes of `data` are there; until all are, the last few records wait for the next call. `progress` is
    [offset of the next record, its number, the end of the context before it] and starts as [offset of the first, 0,
    0]; at least 8 bytes precede the first.

    Returns -1 when all is well, else 8 * record + fault: 1 runs past the end, 2 contexts not ascending, 3 bytes not
    ascending, 4 a count of zero, 5 counts over 32 bits together, 6 bytes left over.
    """
    o: cython.Py_ssize_t = progress[0]
    i: cython.Py_ssize_t = progress[1]
    before: cython.Py_ssize_t = progress[2]
    # No record that starts here or earlier is cut off.
    latest: cython.Py_ssize_t = stop if filled >= stop else filled - (1 + depth + 5 * 256)
    j: cython.Py_ssize_t
    end: cython.Py_ssize_t
    fault: cython.longlong = 0
    count: cython.ulonglong
    total: cython.ulonglong
    top: cython.ulonglong
    highest: cython.ulonglong = 0
    shift: cython.int = 64 - 8 * depth if depth < 8 else 0
    with cython.nogil:
        if i > 0:
            highest = load8(data, before - 8) >> shift
        while i < nodes and o <= latest:
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
                i += 1
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
            i += 1
        if fault == 0 and i == nodes and o != stop:
            fault = 8 * nodes + 6
    progress[0] = o
    progress[1] = i
    progress[2] = before
    return fault if fault != 0 else -1
