# What mypy sees of records.py, whose annotations are C types. Arrays are anything with a contiguous buffer of the
# element type the comment names; `memoryview`s, so that the interpreted file gets plain integers.

COMPILED: bool
"""Whether these functions are machine code."""

U8 = memoryview
U32 = memoryview
U64 = memoryview
I64 = memoryview
F64 = memoryview

def emit(keys: U64, last: int, depth: int, text: U8, places: U32, span: int, out: U8) -> None: ...
def merge(
    data: U8, cursors: I64, ends: I64, scales: F64, depth: int, heap: I64, sums: U64, out: U8, tally: I64
) -> int: ...
def verify(data: U8, filled: int, stop: int, nodes: int, depth: int, progress: I64, index: I64) -> int: ...
