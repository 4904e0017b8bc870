"""The registry of masking functions by their names in plans and entries. To add one, add its class and a line here."""

from collections.abc import Iterable
from dataclasses import replace

from aegis_provider.errors import nearest
from aegis_provider.masking.function import Function
from aegis_provider.masking.hierarchy import Hierarchy
from aegis_provider.masking.lookup import Mapped, MaskedTable
from aegis_provider.masking.microaggregate import Microaggregate
from aegis_provider.masking.numbers import Bucketize, Round, TopBottom
from aegis_provider.masking.randomisation import Noise, Pram, RandomisedResponse, Shuffle
from aegis_provider.masking.texts import Blur, Suppress, Token
from aegis_provider.yaml_file import Element


def by_name(functions: Iterable[type[Function]]) -> dict[str, type[Function]]:
    """Return the functions by name.

    Raises:
        ValueError: Two functions have the same name.
    """
    named: dict[str, type[Function]] = {}
    for function in functions:
        if named.setdefault(function.name, function) is not function:
            raise ValueError(f"two masking functions are called {function.name!r}")
    return named


FUNCTIONS = by_name(
    (
        Hierarchy,
        Bucketize,
        Blur,
        Round,
        TopBottom,
        Microaggregate,
        Suppress,
        Mapped,
        Token,
        Noise,
        RandomisedResponse,
        Pram,
        Shuffle,
        MaskedTable,
    )
)


def read_function(masking: Element) -> Function:
    """Read the one masking function that a plan states, such as `{bucketize: {width: 5}}`.

    Raises:
        PlanError: The function is invalid; the message names the place.
    """
    stated = dict(masking.items())
    beside = {key for name in stated if name in FUNCTIONS for key in FUNCTIONS[name].keys_beside}
    names = [name for name in stated if name not in beside]
    if len(names) != 1:
        masking.fail(f"expected exactly one of {', '.join(FUNCTIONS)}")
    [name] = names
    if name not in FUNCTIONS:
        masking.fail(f"unknown masking function {name!r}; {nearest(name, list(FUNCTIONS))}")
    parameters = replace(stated[name], beside={key: stated[key] for key in beside if key in stated})
    with parameters.naming_faults():
        return FUNCTIONS[name].read(parameters)


def names_file(name: str, key: str) -> bool:
    """Return whether this key of the masking function names a file to read with the plan."""
    return name in FUNCTIONS and key in FUNCTIONS[name].file_keys
