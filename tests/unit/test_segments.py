"""Blobs in shared memory: what is kept, what is given back, what a worker may do with them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tests.support import open_descriptors
from warmwire.host.workers.segments import Segment, SegmentPool, map_private


@pytest.fixture
def pool() -> Iterator[SegmentPool]:
    pool = SegmentPool()
    yield pool
    pool.close()


@pytest.mark.parametrize("size", [0, 1, 6, 4095, 4096, 11_220_000])
def test_a_view_has_exactly_its_size_and_is_shared_by_descriptor(pool: SegmentPool, size: int) -> None:
    view = pool.allocate(size)
    assert len(view) == size
    view[:] = bytes([7]) * size
    assert isinstance(view.obj, Segment)
    if size:
        mapped = map_private(os.dup(view.obj.fd), size)
        assert mapped[:] == bytes([7]) * size
        mapped[0] = 9  # a worker's writes are its own
        assert view[0] == 7
    pool.free(view)


def test_a_used_segment_is_used_again(pool: SegmentPool) -> None:
    first = pool.allocate(1000)
    segment = first.obj
    pool.free(first)
    assert pool.allocate(900).obj is segment
    assert pool.allocate(900).obj is not segment


def test_a_small_blob_takes_no_large_segment(pool: SegmentPool) -> None:
    large = pool.allocate(10 << 20)
    pool.free(large)
    assert pool.allocate(100).obj is not large.obj


def test_bytes_and_descriptors_that_are_kept_are_bounded(pool: SegmentPool) -> None:
    before = open_descriptors()
    views = [pool.allocate(6) for _ in range(200)] + [pool.allocate(20 << 20) for _ in range(6)]
    for view in views:
        pool.free(view)
    del views, view
    assert pool.bytes <= 64 << 20
    assert open_descriptors() <= before + 2 * 32
    pool.close()
    assert open_descriptors() == before


def test_other_data_is_not_its_business(pool: SegmentPool) -> None:
    pool.free(b"bytes")
    pool.free(memoryview(b"bytes"))
    pool.free(bytearray(3))
    assert pool.count == 0


def test_a_segment_that_is_too_short_is_not_mapped(pool: SegmentPool) -> None:
    view = pool.allocate(10)
    fd = os.dup(view.obj.fd)
    with pytest.raises(ValueError, match="cannot hold 4097"):
        map_private(fd, 4097)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
    pool.free(view)


def test_no_more_are_kept_than_were_in_use_together(pool: SegmentPool) -> None:
    """Each page is larger than all before it, and then they come in any order."""
    rng = random.Random(5)
    for size in [*range(1000, 400_000, 10_000), *(rng.randint(1, 480_000) for _ in range(300))]:
        pool.free(pool.allocate(size))
        assert pool.count == 1
    views = [pool.allocate(size) for size in (10, 100_000, 400_000)]
    for view in views:
        pool.free(view)
    assert pool.count == 3
