"""What a missing library is called, in this process; commands without libraries are started in the long suite."""

import sys
from importlib import import_module

import pytest

from aegis_provider.errors import needs_extra, refuse_without
from aegis_sdk import AegisError
from tests.for_each import for_each


@for_each(("library", "extra"), [("opendp", "noise"), ("ortools", "independence")])
def test_a_missing_library_is_named_with_its_extra(monkeypatch, library, extra):
    said = rf"^{library} is not installed: install 'aegis-masking-provider\[{extra}\]' from where you got Aegis$"
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(AegisError, match=said), needs_extra(extra):
        import_module(library)
    with pytest.raises(AegisError, match=said):
        refuse_without(extra)


def test_a_library_of_no_extra_is_an_error_like_any_other():
    with pytest.raises(ModuleNotFoundError, match="nowhere"), needs_extra("noise"):
        import_module("nowhere")
