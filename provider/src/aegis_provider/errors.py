"""Errors in a provider's files and machine. Each message is one line: what is wrong, where, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.util import find_spec

from aegis_sdk._errors import AegisError
from aegis_sdk.programs import how_to_install

CONVERT = "convert the file first, from Windows by `iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW`, or save it as CSV UTF-8"
"""What to do with a text file that is not UTF-8."""

_NAMES_SHOWN = 20
_SHOWN = 60


class ProviderError(AegisError, ValueError):
    """An unusable plan, table or hierarchy; the text is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class PlanError(ProviderError):
    """The plan file, or a file it names, breaks a rule; the text begins with the place."""


class TableError(ProviderError):
    """The table cannot be read, or does not fit the plan."""


class EntryError(ProviderError):
    """The counts of the entry contradict each other, or it lacks counts for the question."""


class PlotError(ProviderError):
    """The entry or the advice does not contain what a figure shows."""


class OutputError(ProviderError):
    """The output cannot be written."""


class PublishingError(ProviderError):
    """The service would refuse the entry, so no release is made; the text begins with its address."""


class ServiceError(AegisError):
    """The service does not respond, or does not let the caller publish; the text has its address."""


class InUseError(ServiceError):
    """Another program on this machine works in the same folder."""


class NothingHoldsError(AegisError):
    """No configuration of the plan meets the requirements. This is a result: table and plan are valid."""


class PromiseError(AegisError):
    """The masked table lacks the promised privacy; the files are valid.

    Attributes:
        can_be_forced: Whether --force can write the table anyway.
    """

    def __init__(self, message: str, *, can_be_forced: bool = False) -> None:
        super().__init__(" ".join(message.split()))
        self.can_be_forced = can_be_forced


class IdentifierError(AegisError):
    """Shared values identify persons, by name or otherwise, and the provider did not accept that."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(f"{message}. --accept-identifiers shares it anyway".split()))


class MachineError(AegisError):
    """This machine lacks resources, such as memory or disk; the file may be valid."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class SmallCountsError(AegisError):
    """An entry gives away small counts, or may do so. This is a result: the entry is valid."""


class UnmaskableValueError(ValueError):
    """A masking function has no masked value for `text`; `reason` ends the sentence "'x' ..."."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{shortened(text)} {reason}")
        self.text = text
        self.reason = reason


def shortened(text: str) -> str:
    """Quote a name or a value for a message, cut if it is long."""
    return repr(_cut(text))


def nearest(name: str, known: list[str]) -> str:
    """Return the end of a message about an unknown name: the closest known name, or all known names."""
    close = get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {shortened(close[0])}?"
    more = f" and {len(known) - _NAMES_SHOWN} more" if len(known) > _NAMES_SHOWN else ""
    return f"available: {', '.join(map(_cut, known[:_NAMES_SHOWN])) or 'none'}{more}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_LIBRARIES = {
    "noise": ("opendp",),
    "independence": ("ortools",),
    "storage": ("obstore",),
    "check": ("loky", "sklearn", "threadpoolctl"),
    "synth": ("chex", "jax", "loky", "mbi", "opendp", "optax", "sklearn"),
}


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Wrap an import that needs the extra.

    Raises:
        AegisError: A library of the extra is not installed; the text names the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES[extra]:
            raise
        raise _missing(error.name, extra) from error


def refuse_without(extra: str) -> None:
    """Fail before work that needs the extra; slow libraries are looked up, not imported.

    Raises:
        AegisError: As for `needs_extra`.
    """
    for library in _LIBRARIES[extra]:
        if find_spec(library) is None:
            raise _missing(library, extra)


def _missing(library: str | None, extra: str) -> AegisError:
    return AegisError(f"{library} is not installed: {how_to_install(f'aegis-masking-provider[{extra}]')}")
