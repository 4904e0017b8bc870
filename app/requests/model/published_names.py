"""What an entry has published of one configuration by name, so that a verdict on its table names nothing else."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from aegis_advisor.evidence import DROP, IDENTITY, AttributeContent, ConfigurationContent, EntryContent
from app.platform.errors import Fault

#: Masked values that were compared together are written with this between them.
_TOGETHER = " | "
#: Longer texts are cut to so many characters, and end with this; a long list of texts ends with it, too.
_LONG, _MORE = 200, "..."
_STAR = "*"
#: The rule of what is only counted: the texts of the file that the entry does not list.
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class _Difference:
    """Where a cell of the masked table differs."""

    rule: str
    attributes: list[str]
    maskings: list[str]
    values: list[str]
    label: str | None = None


@dataclass(frozen=True, slots=True)
class PublishedNames:
    """The names of a configuration.

    Attributes:
        labels: the label's values, and parts of them.
        maskings: the masking of each attribute that the masked table has.
        values: the masked values of each, and parts of them.
    """

    labels: frozenset[str]
    maskings: Mapping[str, str]
    values: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, entry: EntryContent, configuration: ConfigurationContent) -> Self:
        """Take the names of a configuration out of an entry, which needs no counts."""
        chosen = configuration.maskings
        shared = [each for each in entry.attributes if chosen.get(each.name, DROP) != DROP]
        maskings = {each.name: chosen[each.name] for each in shared}
        values = {each.name: _parts(_domain(each, chosen[each.name])) for each in shared}
        return cls(_parts(entry.label.domain), maskings, values)

    def faults(self, differences: Iterable[Mapping[str, Any]]) -> Iterator[Fault]:
        """What was not published. Says where it is, and does not repeat it."""
        for place, each in enumerate(differences):
            for member, detail in self._faults(msgspec.convert(each, _Difference)):
                yield Fault(f"/differences/{place}/{member}", detail)

    def _faults(self, difference: _Difference) -> Iterator[tuple[str, str]]:
        names, values, label = difference.attributes, difference.values, difference.label
        if any(name not in self.maskings for name in names):
            yield "attributes", "The delivered configuration has no such attribute."
        elif [self.maskings[name] for name in names] != difference.maskings:
            yield "maskings", "These are not the maskings of the delivered configuration, one for each attribute."
        elif not self._has(names, values) or (values and difference.rule == _UNKNOWN):
            yield "values", "The entry has no such masked values; say only how many texts are unknown."
        if label is not None and (not _is_made_of(label, self.labels) or difference.rule == _UNKNOWN):
            yield "label", "The entry has no such label value; say only how many texts are unknown."

    def _has(self, names: list[str], values: list[str]) -> bool:
        if not values or (not names and values == [_STAR]):
            return True
        known = (_is_made_of(value, self.values[name]) for name, value in zip(names, values, strict=False))
        return len(names) == len(values) and all(known)


def _domain(attribute: AttributeContent, masking: str) -> Sequence[str]:
    return attribute.domain if masking == IDENTITY else attribute.masking(masking).domain


def _parts(texts: Iterable[str]) -> frozenset[str]:
    """What the names of these texts, or of several together, can be made of."""
    short = [text if len(text) <= _LONG else text[:_LONG] + _MORE for text in texts]
    return frozenset(part for text in short for part in text.split(_TOGETHER)) | {_MORE}


def _is_made_of(name: str, parts: frozenset[str]) -> bool:
    return all(part in parts for part in name.split(_TOGETHER))
