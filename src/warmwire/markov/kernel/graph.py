# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The graph of a model: contexts with a choice, and the runs of bytes between them."""

import cython

if cython.compiled:
    from cython.cimports.warmwire.markov.kernel.memory import load4, low, order
else:
    from warmwire.markov.kernel.memory import load4, low, order

COMPILED = cython.compiled

# Typed names, because a literal over 31 bits would be a Python object.
NONE = cython.declare(cython.uint, 0xFFFFFFFF)
CHOICE = cython.declare(cython.ulonglong, 1 << 40)


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
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def follow(
    hops: cython.ulonglong[::1],
    passed: cython.uchar[::1],
    graph: cython.ulonglong[::1],
    e: cython.Py_ssize_t,
    node: cython.uint,
    text: cython.ulonglong,
    length: cython.int,
) -> cython.uint:
    """Write the bytes of contexts without a choice to word e, from `node` on, behind the `length` already in `text`.

    A word holds seven bytes and, lowest, their number. Returns the context that the bytes lead to.
    """
    while node != NONE and length < 7 and hops[node] < CHOICE:
        passed[node] = 1
        length += 1
        text |= (hops[node] >> 32) << (8 * length)
        node = low(hops[node])
    graph[e] = text | length
    return node


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
    node = follow(hops, passed, graph, e + 1, node, byte << 8, 1)
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
    while True:
        x = blocks[node]
        node = follow(hops, passed, graph, x + 1, node, 0, 0)
        if node == NONE:
            graph[x] = 1
            return free
        if blocks[node] != 0:
            graph[x] = (cython.cast(cython.ulonglong, blocks[node]) << 32) | 1
            return free
        blocks[node] = free
        graph[x] = (cython.cast(cython.ulonglong, free) << 32) | 1
        free += 2
