"""Numbers and references that threads change in one step: Go's sync/atomic.

    from gochan.atomic import Int64

    hits = Int64()
    hits.add(1)                      # never lost, whoever else adds
    hits.load()

`Int64 Uint64 Int32 Uint32` wrap around at their width, as in Go; `Float64`; `Bool`;
`Ref` holds any object; `Value` objects of one type.  All operations are
sequentially consistent.  Operators (``hits += 1``) are not atomic and raise.
"""

from gochan._core import Bool, Float64, Int32, Int64, Ref, Uint32, Uint64, Value

__all__ = [
    "Bool",
    "Float64",
    "Int32",
    "Int64",
    "Ref",
    "Uint32",
    "Uint64",
    "Value",
]
