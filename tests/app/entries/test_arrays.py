import pickle
import zlib

import numpy as np
import pytest

from app.platform.database.arrays import PackedArray, pack, unpack


@pytest.mark.parametrize("array", [[], [0, 255], [-1, 2**40], [[1, 2], [3, 4]], [0.5, 1e300]], ids=str)
def test_an_array_comes_back_as_it_was(array):
    assert unpack(pack(np.array(array))).tolist() == array


@pytest.mark.parametrize("dtype", ["O", "|O8", "(2,)O", "i4,O"])
def test_stored_bytes_never_become_objects(dtype):
    stored = zlib.compress(pickle.dumps([len]).ljust(64, b"\0"))
    with pytest.raises(ValueError, match="OBJECT"):
        unpack(PackedArray(dtype, (1,), stored))
