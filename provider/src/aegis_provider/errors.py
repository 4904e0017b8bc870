"""What can be wrong with a provider's files, each fault in one line: what, where, and what to do."""

from difflib import get_close_matches

from aegis_sdk._errors import AegisError

_NAMES_SHOWN = 20
_SHOWN = 60


class ProviderError(AegisError, ValueError):
    """A plan, a table or a hierarchy that cannot be used as it is; the text is one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class PlanError(ProviderError):
    """The plan file, or a file it names, breaks a rule; the text begins with the place."""


class TableError(ProviderError):
    """The table cannot be read, or it does not fit the plan."""


class EntryError(ProviderError):
    """The counts of the entry contradict each other, or it lacks what is asked about."""


class PlotError(ProviderError):
    """The entry or the advice does not hold what a figure is to show."""


class OutputError(ProviderError):
    """The result has nowhere to go."""


class NothingHoldsError(AegisError):
    """No configuration of the plan holds what is required: an answer, of a table and a plan that are in order."""


class PromiseError(AegisError):
    """The masked table does not have the privacy that its configuration promises; nothing is wrong with the files."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class SmallCountsError(AegisError):
    """An entry gives away small counts for certain, or may: an answer, of an entry that is in order."""


class UnmaskableValueError(ValueError):
    """A masking function has no masked value for `text`; `reason` ends the sentence "'x' ..."."""

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{shortened(text)} {reason}")
        self.text = text
        self.reason = reason


def shortened(text: str) -> str:
    """A name or a value as a sentence quotes it: of a long one the beginning."""
    return repr(_cut(text))


def nearest(name: str, known: list[str]) -> str:
    """The end of a sentence that complains of an unknown name: what was meant, or what there is."""
    close = get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {shortened(close[0])}?"
    more = f" and {len(known) - _NAMES_SHOWN} more" if len(known) > _NAMES_SHOWN else ""
    return f"there is {', '.join(map(_cut, known[:_NAMES_SHOWN])) or 'none'}{more}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
