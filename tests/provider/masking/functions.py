"""All masking functions."""

from dataclasses import is_dataclass

from aegis_provider.masking import Function


def concrete_functions(base=Function):
    """Return every concrete class of the package that extends the base."""
    for each in base.__subclasses__():
        yield from concrete_functions(each)
        if is_dataclass(each) and not each.__abstractmethods__ and each.__module__.startswith("aegis_provider."):
            yield each
