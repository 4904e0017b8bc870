from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import throwaway_directory


@pytest.fixture
def directory() -> Iterator[Path]:
    with throwaway_directory() as directory:
        yield directory
