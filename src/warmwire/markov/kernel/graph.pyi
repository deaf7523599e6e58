# What mypy sees of graph.py, whose annotations are C types. Arrays are anything with a contiguous buffer of the
# element type the comment names; `memoryview`s, so that the interpreted file gets plain integers.

COMPILED: bool
"""Whether these functions are machine code."""

U8 = memoryview
U32 = memoryview
U64 = memoryview
I64 = memoryview

def link(
    data: U8,
    start: int,
    depth: int,
    offsets: I64,
    successors: U32,
    hops: U64,
    tiers: U8,
    cursors: I64,
    ends: I64,
) -> None: ...
def layout(
    data: U8,
    depth: int,
    offsets: I64,
    successors: U32,
    hops: U64,
    sequence: U32,
    blocks: U32,
    passed: U8,
    graph: U64,
) -> int: ...
