"""What a masking function does, in a few words, from its name and parameters in the entry."""

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from aegis_sdk.reading.shown import shown
from aegis_sdk.wire import Masking

Parameters: TypeAlias = Mapping[str, object]

_LONGEST = 60


def words_of(masking: Masking) -> str:
    """
    The function in plain words; of one that is not known here, its name and its parameters as the entry has them.

    What the entry does not say is not guessed: without a function, only whether the masking is a function of the value.
    """
    if masking.function is None:
        return "not said" if masking.is_deterministic else f"not said; chance {_chance(masking)} part"
    name, parameters = masking.function.name, masking.function.parameters
    words = _WORDS[name](parameters) if name in _WORDS else None
    return shown(words or as_given(name, parameters), _LONGEST)


def _chance(masking: Masking) -> str:
    return "may take" if masking.transition is None else "takes"


def as_given(name: str, parameters: Parameters) -> str:
    """The name and the parameters of a function, or of a rule, as the entry has them."""
    told = ", ".join(f"{key} {_value(value)}" for key, value in parameters.items())
    return f"{name}: {told}" if told else name


def _value(value: object) -> str:
    """A parameter as text: a list by its items, an object by how many members it has."""
    if isinstance(value, list):
        return " ".join(map(_value, value))
    if isinstance(value, dict):
        return f"of {len(value)}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _bucketize(parameters: Parameters) -> str | None:
    if "equal_frequency" in parameters:
        return f"{_value(parameters['equal_frequency'])} intervals of about equal frequency"
    if "width" in parameters:
        return f"intervals of {_value(parameters['width'])} from {_value(parameters.get('origin', 0))}"
    return f"intervals with edges {_value(parameters['edges'])}" if "edges" in parameters else None


def _hierarchy(parameters: Parameters) -> str | None:
    if not {"file", "level"} <= parameters.keys():
        return None
    return f"level {_value(parameters['level'])} of {_value(parameters['file'])}"


def _round(parameters: Parameters) -> str | None:
    return f"nearest multiple of {_value(parameters['to'])}" if "to" in parameters else None


def _blur(parameters: Parameters) -> str | None:
    if parameters.keys() - {"keep", "character"} or "keep" not in parameters:
        return None
    return f"first {_value(parameters['keep'])} characters, then {_value(parameters.get('character', '*'))}"


def _mapping(parameters: Parameters) -> str | None:
    values = parameters.get("values")
    if not isinstance(values, dict):
        return None
    other = f", every other {shown(_value(parameters['other']))}" if "other" in parameters else ""
    return f"{len(values)} values given one by one{other}"


def _suppress(_: Parameters) -> str:
    return "one masked value for all"


_WORDS: Mapping[str, Callable[[Parameters], str | None]] = {
    "blur": _blur,
    "bucketize": _bucketize,
    "hierarchy": _hierarchy,
    "mapping": _mapping,
    "round": _round,
    "suppress": _suppress,
}
