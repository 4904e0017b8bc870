"""The masking functions that there are."""

from aegis_provider.masking import Function


def concrete_functions(base=Function):
    """Every class of the package that can be made, among those that extend the base."""
    for each in base.__subclasses__():
        yield from concrete_functions(each)
        if not each.__abstractmethods__ and each.__module__.startswith("aegis_provider."):
            yield each
