"""Arrays in one block of memory."""

from __future__ import annotations

import numpy as np

from luna_ai.memory import LINE, moved_together, zeros_together


def test_every_array_begins_at_a_cache_line():
    kinds = {
        "bytes": ((3,), np.int8),
        "none": ((0,), np.float32),
        "table": ((5, 7), np.float64),
        "last": ((), np.int16),
    }
    found = zeros_together(kinds)
    assert {name: (array.shape, array.dtype.type) for name, array in found.items()} == kinds
    assert all(array.ctypes.data % LINE == 0 for array in found.values() if array.size)
    for number, array in enumerate(found.values()):
        assert not array.any()  # nobody else writes here
        array[...] = number + 1
    assert [int(array.max()) for array in found.values() if array.size] == [1, 3, 4]


def test_copies_are_equal_and_apart():
    given = [np.arange(12.0).reshape(3, 4)[:, ::2], np.array([7], dtype=np.uint16)]
    copies = moved_together(given)
    assert all(
        np.array_equal(one, other) and one.dtype == other.dtype for one, other in zip(given, copies, strict=True)
    )
    assert all(copy.flags.c_contiguous and copy.ctypes.data % LINE == 0 for copy in copies)
    given[1][0] = 8
    assert copies[1][0] == 7
