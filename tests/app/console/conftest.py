import pytest

from app.pages import viewers


@pytest.fixture(name="seen_by")
def _seen_by(monkeypatch):
    """Has pages shown to a caller instead of the developer."""
    return lambda caller: monkeypatch.setattr(viewers, "DEVELOPER", caller)
