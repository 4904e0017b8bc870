from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Compute with a single thread, as workers do; for such small matrices, synchronising threads takes longer."""
    with threadpool_limits(1):
        yield
