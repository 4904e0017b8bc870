"""Studies run rarely, so what they use of the product could be renamed unnoticed."""

import pkgutil
from importlib import import_module

import pytest

import research


@pytest.mark.parametrize("name", [one.name for one in pkgutil.walk_packages(research.__path__, "research.")])
def test_what_a_study_uses_is_there(name):
    assert import_module(name)
