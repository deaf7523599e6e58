# cython: boundscheck=False, wraparound=False, initializedcheck=False
# The compiled loops' memory.py; what the functions promise is said there. Without the line above each access is checked.

from libc.string cimport memcpy

ctypedef unsigned long long u64


cdef inline u64 wrap(u64 x) noexcept nogil:
    return x


cdef inline u64 low(u64 x) noexcept nogil:
    return x & 0xFFFFFFFFU


cdef inline u64 load8(unsigned char[::1] a, Py_ssize_t o) noexcept nogil:
    cdef u64 w
    memcpy(&w, &a[o], 8)
    return w


cdef inline u64 load4(unsigned char[::1] a, Py_ssize_t o) noexcept nogil:
    cdef unsigned int w
    memcpy(&w, &a[o], 4)
    return w


cdef inline void store8(unsigned char[::1] a, Py_ssize_t o, u64 w) noexcept nogil:
    memcpy(&a[o], &w, 8)


cdef inline void store4(unsigned char[::1] a, Py_ssize_t o, unsigned int w) noexcept nogil:
    memcpy(&a[o], &w, 4)


cdef inline int order(
    unsigned char[::1] a, Py_ssize_t i, unsigned char[::1] b, Py_ssize_t j, Py_ssize_t depth
) noexcept nogil:
    cdef u64 x, y
    while depth > 0:
        x = load8(a, i - 8)
        y = load8(b, j - 8)
        if depth < 8:
            x >>= 64 - 8 * depth
            y >>= 64 - 8 * depth
        if x != y:
            return -1 if x < y else 1
        i -= 8
        j -= 8
        depth -= 8
    return 0
