import pytest

from tests.provider.released_tables import made, records_of


@pytest.fixture
def people():
    return made


@pytest.fixture
def as_records():
    return records_of
