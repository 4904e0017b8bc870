"""What an entry has published of one configuration by name, so that a verdict on its table names nothing else."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from aegis_advisor.evidence import DROP, IDENTITY
from app.entries.model.configurations import GENERATED
from app.entries.model.documents import Document
from app.platform.errors import Fault

#: Masked values that were compared together are written with this between them.
_TOGETHER = " | "
#: Longer texts are cut to so many characters, and end with this; a long list of texts ends with it, too.
_LONG, _MORE = 200, "..."
_STAR = "*"
#: The rule of what is only counted: the texts of the file that the entry does not list.
_UNKNOWN = "unknown"

Difference = Mapping[str, Any]


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
    def of(cls, document: Document, configuration: Document) -> Self:
        """Take the names of a configuration out of a document, which needs no counts."""
        generated = configuration.get("kind") == GENERATED
        chosen = {} if generated else configuration["maskings"]
        shared = [each for each in document["attributes"] if chosen.get(each["name"], DROP) != DROP]
        maskings = {each["name"]: chosen[each["name"]] for each in shared}
        values = {each["name"]: _parts(_domain(each, chosen[each["name"]])) for each in shared}
        return cls(_parts(document["label"]["domain"]), maskings, values)

    def faults(self, differences: Iterable[Difference]) -> Iterator[Fault]:
        """What was not published. Says where it is, and does not repeat it."""
        for place, each in enumerate(differences):
            for member, detail in self._faults(each):
                yield Fault(f"/differences/{place}/{member}", detail)

    def _faults(self, difference: Difference) -> Iterator[tuple[str, str]]:
        names, values, label = difference["attributes"], difference["values"], difference["label"]
        if any(name not in self.maskings for name in names):
            yield "attributes", "The delivered configuration has no such attribute."
        elif [self.maskings[name] for name in names] != list(difference["maskings"]):
            yield "maskings", "These are not the maskings of the delivered configuration, one for each attribute."
        elif not self._has(names, values) or (values and difference["rule"] == _UNKNOWN):
            yield "values", "The entry has no such masked values; say only how many texts are unknown."
        if label is not None and (not _is_made_of(label, self.labels) or difference["rule"] == _UNKNOWN):
            yield "label", "The entry has no such label value; say only how many texts are unknown."

    def _has(self, names: list[str], values: list[str]) -> bool:
        if not values or (not names and values == [_STAR]):
            return True
        known = (_is_made_of(value, self.values[name]) for name, value in zip(names, values, strict=False))
        return len(names) == len(values) and all(known)


def _domain(attribute: Document, masking: str) -> list[str]:
    if masking == IDENTITY:
        return list(attribute["domain"])
    return next(list(each["domain"]) for each in attribute["maskings"] if each["id"] == masking)


def _parts(texts: Iterable[str]) -> frozenset[str]:
    """What the names of these texts, or of several together, can be made of."""
    short = [text if len(text) <= _LONG else text[:_LONG] + _MORE for text in texts]
    return frozenset(part for text in short for part in text.split(_TOGETHER)) | {_MORE}


def _is_made_of(name: str, parts: frozenset[str]) -> bool:
    return all(part in parts for part in name.split(_TOGETHER))
