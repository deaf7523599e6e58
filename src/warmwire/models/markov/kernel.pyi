# What mypy sees of kernel.py, whose annotations are C types. Arrays are anything with a contiguous buffer of the
# element type the comment names; `memoryview`s, so that the interpreted file gets plain integers.

COMPILED: bool
"""Whether these functions are machine code."""

U8 = memoryview
U32 = memoryview
U64 = memoryview
I64 = memoryview
F64 = memoryview

def histogram(text: U8, ranges: I64, depth: int, counts: I64) -> None: ...
def scatter(text: U8, ranges: I64, depth: int, cursors: I64, steps: I64, keys: U64) -> None: ...
def scatter_ranks(
    text: U8, ranges: I64, ranks: U32, span: int, depth: int, cursors: I64, steps: I64, keys: U64
) -> None: ...
def sort(keys: U64, scratch: U64, counts: I64) -> None: ...
def words(text: U8, out: U64) -> None: ...
def pairs(ranks: U32, span: int, out: U64) -> None: ...
def dedupe(values: U64) -> int: ...
def rank(values: U64, unique: U64, slots: U32, bits: int, ranks: U32) -> None: ...
def locate(ranks: U32, span: int, places: U32) -> None: ...
def count_records(keys: U64, tally: I64) -> None: ...
def emit(keys: U64, last: int, depth: int, text: U8, places: U32, span: int, out: U8) -> None: ...
def merge(data: U8, cursors: I64, ends: I64, scales: F64, depth: int, sums: U64, out: U8, tally: I64) -> int: ...
def verify(data: U8, start: int, stop: int, nodes: int, depth: int, index: I64) -> int: ...
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
