from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """As workers compute; the threads of linear algebra take longer to agree than such small matrices to factorise."""
    with threadpool_limits(1):
        yield
