"""The type checker sees all names that the packages export lazily."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.for_each import for_each


@for_each("package", ["aegis_provider", "aegis_sdk"])
def test_every_public_name_is_there_and_the_type_checker_knows_it(package):
    module = import_module(package)
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    [typed] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {alias.asname or alias.name: node.module for node in typed.body for alias in node.names}
    assert set(seen) == set(module.__all__)
    for name, where in seen.items():
        assert getattr(module, name) is getattr(import_module(where), name)


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'open_tabel'"):
        import_module("aegis_provider").open_tabel  # noqa: B018 - reading it is the test


@for_each("package", ["aegis_provider", "aegis_sdk"])
def test_public_names_are_listed_and_modules_are_attributes(package):
    module = import_module(package)
    assert set(module.__all__) <= set(dir(module))
    check = f"import {package}; assert {package}.{'wire' if package == 'aegis_sdk' else 'plan'}"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
