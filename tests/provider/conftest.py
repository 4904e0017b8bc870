from pathlib import Path

import pytest

from aegis_provider import load_plan
from tests.provider.released_tables import made, records_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "health"


@pytest.fixture
def write(tmp_path):
    """Write a file and return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def plan_of(write):
    """Return a plan of a few attributes with these maskings and these configurations."""

    def load(attributes, configurations="{c: {}}", label="y"):
        text = f"label: {label}\nattributes: {attributes}\nconfigurations: {configurations}\n"
        return load_plan(write("plan.yaml", text))

    return load


@pytest.fixture(scope="session")
def health_table():
    return EXAMPLE / "health.csv"


@pytest.fixture(scope="session")
def health_plan():
    return load_plan(EXAMPLE / "plan.yaml")


@pytest.fixture
def people():
    """Return texts of people; see `released_tables.made`."""
    return made


@pytest.fixture
def as_records():
    """Return records of texts."""
    return records_of
