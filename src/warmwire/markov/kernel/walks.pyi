# What mypy sees of walks.py, whose annotations are C types. Arrays are anything with a contiguous buffer of the
# element type the comment names; `memoryview`s, so that the interpreted file gets plain integers.

COMPILED: bool
"""Whether these functions are machine code."""

U8 = memoryview
U32 = memoryview
U64 = memoryview
I64 = memoryview

def walk(
    data: U8,
    index: I64,
    nodes: int,
    depth: int,
    graph: U64,
    blocks: U32,
    s: U64,
    buf: U8,
    pos: int,
    stop: int,
    power: float,
    exact: bool,
) -> int: ...
