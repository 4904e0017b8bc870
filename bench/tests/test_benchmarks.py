"""Benchmarks run rarely, so renamed parts of the product would go unnoticed."""

import pkgutil
from importlib import import_module

import pytest

import bench


@pytest.mark.parametrize("name", [one.name for one in pkgutil.walk_packages(bench.__path__, "bench.")])
def test_what_a_benchmark_uses_is_there(name):
    assert import_module(name)
