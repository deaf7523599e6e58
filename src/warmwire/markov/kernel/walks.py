# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Walks through a model, on its graph where there is one: the loop of generation."""

import cython

if cython.compiled:
    from cython.cimports.libc.math import pow as power_of
    from cython.cimports.warmwire.markov.kernel.memory import load4, low, order, store8, wrap
else:
    from warmwire.markov.kernel.memory import load4, low, order, store8, wrap

    power_of = pow

COMPILED = cython.compiled

# A typed name, because a literal over 31 bits would be a Python object.
MOST = cython.declare(cython.ulonglong, 0xFFFFFFFF)


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
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def count(
    data: cython.uchar[::1],
    o: cython.Py_ssize_t,
    graph: cython.ulonglong[::1],
    x: cython.Py_ssize_t,
    k: cython.Py_ssize_t,
) -> cython.ulonglong:
    """The count of choice k of the block at x; where x is 0, of weight k of the record whose weights begin at o."""
    if x == 0:
        return load4(data, o + 5 * k + 1)
    if k == 0:
        return graph[x + 1] >> 32
    return (graph[x + 1 + 2 * k] >> 32) - (graph[x - 1 + 2 * k] >> 32)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pick(
    data: cython.uchar[::1],
    o: cython.Py_ssize_t,
    graph: cython.ulonglong[::1],
    x: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    s: cython.ulonglong[::1],
    power: cython.double,
) -> cython.Py_ssize_t:
    """Which of n continuations (see `count`) comes next: by count ** power; a negative power means the largest."""
    k: cython.Py_ssize_t
    best: cython.Py_ssize_t = 0
    total: cython.ulonglong = 0
    here: cython.ulonglong
    most: cython.ulonglong = 0
    mass: cython.double = 0.0
    at: cython.double
    if n == 1:
        return 0
    for k in range(n):
        here = count(data, o, graph, x, k)
        total += here
        if here > most:
            most = here
            best = k
    if power < 0:
        return best
    if power == 1:
        total = below(s, total)
        for k in range(n - 1):
            here = count(data, o, graph, x, k)
            if total < here:
                return k
            total -= here
        return n - 1
    for k in range(n):
        mass += power_of(count(data, o, graph, x, k) / cython.cast(cython.double, most), power)
    at = (draw(s) >> 11) * 1.1102230246251565e-16 * mass
    for k in range(n):
        at -= power_of(count(data, o, graph, x, k) / cython.cast(cython.double, most), power)
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
                buf[pos] = data[o + 5 * pick(data, o, graph, 0, n + 1, s, power)]
                pos += 1
                continue
            r = graph[x]
            if low(r) == 1:
                e = x
                x = r >> 32
            else:
                if power == 1:
                    r = below(s, r >> 32)
                    e = x + 1
                    while (graph[e] >> 32) <= r:
                        e += 2
                else:
                    e = x + 1 + 2 * pick(data, 0, graph, x, low(r), s, power)
                x = low(graph[e])
            r = graph[e + 1]
            store8(buf, pos, r >> 8)
            pos += r & 255
    s[4] = x
    return pos
