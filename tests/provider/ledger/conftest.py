import pytest


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The state folder of each test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "aegis"
