"""Random rounding: every count is rounded up or down at random to a multiple of a base, without bias."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import AttributeEvidence, evidence_of, masked_records
from aegis_provider.control.control import (
    Beside,
    Changes,
    Control,
    ControlError,
    people_within,
    refuse_parameter,
    without_unshared,
)
from aegis_provider.control.counted_together import Masked, Pools, counted_together
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.control.lasting import LastingRandomness
from aegis_provider.control.noisy_association import key_of
from aegis_provider.control.rounded_labels import RoundedLabels
from aegis_provider.control.rounded_pairs import known_pairs, masked_of, masked_texts
from aegis_provider.control.rounded_statistics import rounded_association, rounded_traces
from aegis_provider.counting.counts import Counts, Partition
from aegis_provider.counting.pair_cells import LabelAssociation
from aegis_provider.entry import content_of
from aegis_provider.masking import MaskedTable
from aegis_provider.plan.model import Roles
from aegis_provider.processes import Progress
from aegis_sdk import wire
from aegis_sdk.wire import Attribute, Configuration, DisclosureControl, EntryDocument, Label, Masking, Pair

_MANY_RECORDS: Final = 5_000
_BASES: Final = (3, 5)
"""The bases for tables with fewer records than this, and for all others."""


def base_for(records: int) -> int:
    """Return the base by which the counts of a table of this size are rounded by default."""
    few, many = _BASES
    return many if records >= _MANY_RECORDS else few


@dataclass(frozen=True)
class RandomRounding(Control):
    """Rounding of every count to a multiple of `base`, up or down at random.

    The joint counts of an attribute are rounded once, and all its other counts are sums of these
    (`rounded_once`): averaging overlapping tables reveals nothing more.

    Attributes:
        base: The base of the multiples; by default chosen by the number of records (`base_for`).
        chance: The randomness; by default a fresh one. Anyone who can predict it can undo the rounding.
        beside: The knowledge beyond the entry: the associations of frequent combinations are published instead of those
            of all, and promises of configurations are not rounded.

    Raises:
        ControlError: The base is not a valid count of at least 2.
    """

    base: int
    chance: LastingRandomness = field(default_factory=LastingRandomness, compare=False, repr=False)
    beside: Beside = field(default_factory=Beside, compare=False, repr=False)

    def __post_init__(self) -> None:
        refuse_parameter("base", self.base)

    def knowing(self, beside: Beside) -> Self:
        """Return the control with the associations of pairs and the promises."""
        return replace(self, beside=beside)

    def drawing_from(self, chance: LastingRandomness) -> Self:
        """Return the control with this randomness."""
        return replace(self, chance=chance)

    def of_people(self, rows: int) -> Self:
        """Return the control with a base that hides a person as this one hides a record."""
        return replace(self, base=self.base * rows)

    def declared(self) -> dict[str, Any]:
        """Return the base, and that rounding was drawn once."""
        return {"rounded_to": self.base, "rounding": "once"}

    def in_words(self) -> str:
        """Describe what the control did, in words that follow `with`."""
        return f"counts rounded to multiples of {self.base}"

    def apply(self, entry: EntryDocument, roles: Roles, progress: Progress) -> tuple[EntryDocument, Changes]:  # noqa: ARG002 - the signature of every control
        """Return the entry with all counts rounded, and the changes.

        The histogram of an attribute without joint counts is left out.

        Raises:
            ControlError: No record is left, or a masking of a pair does not count all records.
        """
        labels = np.array(entry.label.histogram, dtype=np.int64)
        if entry.records < self.base:
            raise ControlError(
                f"with {_records(entry.records)}, rounding to multiples of {self.base} leaves none: choose a smaller "
                "base, or publish exact counts if they disclose nobody"
            )
        several = self._several(entry)
        up = self._some(
            labels, self.chance.of("label"), entry.label.domain
        )  # some records must remain of a small table
        histogram = labels - labels % self.base + self.base * up
        if several is not None:
            histogram = several.records[entry.label.name]
        left_out = tuple(
            f"histogram of {attribute.name}"
            for attribute in entry.attributes
            if attribute.joint is None and attribute.histogram is not None
        )
        changed: dict[str, Any] = {
            "records": int(histogram.sum()),
            **self._people(entry, int(histogram.sum())),
            "label": entry.label.model_copy(update={"histogram": histogram.tolist()}),
            "attributes": [self._attribute(attribute, up, entry.label, several) for attribute in entry.attributes],
            **rounded_traces(entry, self.beside.told, self.base, self.chance.of("joint_trace")),
        }
        if entry.configurations is not None:
            rows = entry.rows_per_person or 1
            changed["configurations"] = [self._configuration(configuration, rows) for configuration in entry.masked]
        rounded = entry.model_copy(update=changed)
        if "pairs" in entry.model_fields_set:
            rounded = rounded.model_copy(update={"pairs": self._pairs(entry, rounded, several)})
        return rounded, Changes(tables=left_out)

    def _several(self, entry: EntryDocument) -> RoundedLabels | None:
        """Return the rounded tables of an entry with several labels."""
        if entry.labels is None:
            return None
        return RoundedLabels.of(entry, self.beside.told.with_others, self.base, self.chance)

    def suppressed(self, number: int) -> int:
        """Return the rounded number of suppressed records or cells.

        It is rounded up where its remainder exceeds a threshold, the same for all. Otherwise several configurations
        that suppress the same records would round their number independently, and the mean would disclose it.
        """
        remainder = number % self.base
        return number - remainder + self.base * (remainder > self.base * self.chance.number("suppressed"))

    def _people(self, entry: EntryDocument, records: int) -> dict[str, int]:
        """Return the rounded number of people, as many as can have these records."""
        if entry.people is None or entry.rows_per_person is None:
            return {}
        base = self.base // entry.rows_per_person
        below = entry.people - entry.people % base
        up = base * (entry.people % base > base * self.chance.number("people"))
        return {"people": people_within(below + up, records, entry.rows_per_person)}

    def _configuration(self, configuration: Configuration, rows: int) -> Configuration:
        """Return the configuration with the part of `k` beyond the promise rounded down, at least 1.

        That part was measured, and with it `k` may be the size of a class. `rows`: the most records of a person.
        """
        promised = self.beside.promised.get(configuration.id, {}).get("k", 0)

        def rounded(k: float) -> float:
            return max(1.0, k - (k - promised) % (self.base // rows))

        vouched, by_label = configuration.privacy or {}, configuration.privacy_by_label
        changes: dict[str, Any] = {"privacy": {**vouched, "k": rounded(vouched["k"])}} if "k" in vouched else {}
        if by_label:
            numbers = {label: {"k": rounded(each["k"])} if "k" in each else {} for label, each in by_label.items()}
            changes["privacy_by_label"] = {label: {**each, **numbers[label]} for label, each in by_label.items()}
        return configuration.model_copy(update=changes)

    def _attribute(
        self, attribute: Attribute, up: NDArray[np.bool_], label: Label, several: RoundedLabels | None
    ) -> Attribute:
        if attribute.joint is None:
            maskings = [self._by_itself(attribute.name, masking, up, label) for masking in attribute.maskings]
            return attribute.model_copy(update={"histogram": None, "maskings": maskings})
        views = [
            Partition(np.array(masking.mapping, dtype=np.intp), len(masking.domain))
            for masking in attribute.maskings
            if masking.mapping is not None
        ]
        if several is None:
            exact = np.array(attribute.joint, dtype=np.int64)
            drawn = self.chance.of("attribute", attribute.name)
            joint = rounded_once(exact, views, self.base, up, drawn, attribute.domain, label.domain)
        else:
            joint = several.joint(attribute.name, label.name)
        histogram = {} if attribute.histogram is None else {"histogram": joint.sum(axis=1).tolist()}
        maskings = []
        for masking in attribute.maskings:
            if masking.mapping is None or masking.joint is None:  # its counts are not sums of these
                maskings.append(self._by_itself(attribute.name, masking, up, label))
                continue
            sums = np.zeros((len(masking.domain), joint.shape[1]), dtype=np.int64)
            np.add.at(sums, masking.mapping, joint)
            maskings.append(masking.model_copy(update={"joint": sums.tolist()}))
        return attribute.model_copy(update={**histogram, "joint": joint.tolist(), "maskings": maskings})

    def _by_itself(self, name: str, masking: Masking, up: NDArray[np.bool_], label: Label) -> Masking:
        """Return the masking with its own rounding; one that counts all records has the same sums as other tables.

        If rounding leaves no records, it is drawn again.
        """
        if masking.joint is None:
            return masking
        exact = np.array(masking.joint, dtype=np.int64)
        sums = exact.sum(axis=0)
        if sums.sum() < self.base:
            few = f"{masking.id!r} counts {_records(int(sums.sum()))}, fewer than the base {self.base}"
            raise ControlError(f"{few}: remove it from the plan")
        drawn = self.chance.of("masking", name, drawn_for(masking))
        ups = up if np.array_equal(sums, label.histogram) else self._some(sums, drawn.of("label"), label.domain)
        rounded = rounded_once(exact, [], self.base, ups, drawn, masking.domain, label.domain)
        records = {} if masking.records is None else {"records": int(rounded.sum())}
        return masking.model_copy(update={"rounded_to": self.base, "joint": rounded.tolist(), **records})

    def _some(self, sums: Counts, chance: LastingRandomness, names: Sequence[str]) -> NDArray[np.bool_]:
        """Draw which sums are rounded up, until some records are left."""
        up = rounded_up(sums, self.base, chance, names)
        for again in count():
            if (sums - sums % self.base + self.base * up).any():
                break
            up = rounded_up(sums, self.base, chance.of(str(again)), names)
        return up

    def _pairs(self, entry: EntryDocument, rounded: EntryDocument, several: RoundedLabels | None) -> list[Pair]:
        """Return the rounded pairs.

        Where a reader would know a small count, twice as many records are counted together in all pairs of the two
        maskings.

        Args:
            entry: The exact entry.
            rounded: The entry with all other counts rounded.
            several: The tables with labels, of which the counts of pairs with a label are sums.
        """
        histograms = {entry.label.name: np.array(rounded.label.histogram)} if several is None else several.records
        of_labels = dict[int, Counts]()
        for place, pair in enumerate(entry.pairs if several is not None else ()):
            joint = None if several is None else several.of_pair(pair)
            if joint is not None:
                of_labels[place] = joint
        others = [place for place in range(len(entry.pairs)) if place not in of_labels]
        pools = self._pools([entry.pairs[place] for place in others], rounded)
        published = self._evidence(without_unshared(rounded))  # exactly the tables that readers get
        texts, pairs, again = masked_texts(entry), dict[int, Pair](), set(others)
        while again:
            pairs |= {place: self._pair(entry.pairs[place], pools, texts) for place in again}
            known = {masked for place in known_pairs(entry, published, pairs) for masked in masked_of(pairs[place])}
            few = {masked for masked in known if pools.times[masked] < entry.records}
            pools.times |= {masked: 2 * pools.times[masked] for masked in few}
            again = {place for place, pair in pairs.items() if few.intersection(masked_of(pair))}
        for place, joint in of_labels.items():
            pair = entry.pairs[place]
            pairs[place] = pair if pair.joint is None else pair.model_copy(update={"joint": joint.tolist()})
        return [self._associated(pairs[place], histograms, entry) for place in range(len(entry.pairs))]

    def _pools(self, pairs: Sequence[Pair], rounded: EntryDocument) -> Pools:
        evidence = {attribute.name: attribute for attribute in self._evidence(rounded)}
        partners: dict[Masked, int] = defaultdict(int)
        for pair in pairs:
            for masked, (name, other) in zip(masked_of(pair), masked_of(pair)[::-1], strict=True):
                partners[masked] = max(partners[masked], evidence[name].groups_of(other))
        records = {(name, masking): masked_records(evidence[name], masking) for name, masking in partners}
        return Pools(self.base, rounded.records, records, partners)

    def _evidence(self, rounded: EntryDocument) -> list[AttributeEvidence]:
        declared = rounded.model_copy(update={"disclosure_control": DisclosureControl(**self.declared())})
        return list(evidence_of(content_of(declared)))

    def _pair(self, pair: Pair, pools: Pools, texts: Mapping[Masked, Sequence[str]]) -> Pair:
        """Return the pair with rounded counts."""
        if pair.joint is None:
            return pair
        masked = rows, columns = masked_of(pair)
        exact, chance = np.array(pair.joint, dtype=np.int64), self.chance.of("pair", *sorted(pair.attributes))
        together = counted_together(exact, masked, pools, chance, (texts[rows], texts[columns]))
        return pair.model_copy(update=dict(together))

    def _associated(self, pair: Pair, histograms: Mapping[str, Counts], entry: EntryDocument) -> Pair:
        """Return the pair with rounded associations with the labels, whose published records are `histograms`.

        The number of combinations of two columns has one draw for all labels: they would be as many looks at it.
        """
        told, default, changed = self.beside.told, entry.label.name, dict[str, Any]()

        def drawn(columns: Iterable[str]) -> LastingRandomness:
            return self.chance.of("pair", *sorted(columns), "with label")

        chance = drawn(pair.attributes)
        if pair.with_label is not None:
            known = told.frequent.get(key_of(pair), pair.with_label)
            own = chance.of(default) if entry.labels else chance
            changed["with_label"] = self._association(known, histograms[default], own, chance)
        for name, exact in pair.with_labels.items():
            known = told.of_others[name].frequent.get(key_of(pair), exact)
            columns = drawn(default if each == name else each for each in pair.attributes)
            association = self._association(known, histograms[name], chance.of(name), columns)
            changed.setdefault("with_labels", {})[name] = association
        return pair.model_copy(update=changed)

    def _association(
        self,
        known: LabelAssociation | wire.LabelAssociation,
        label: Counts,
        chance: LastingRandomness,
        of_columns: LastingRandomness,
    ) -> wire.LabelAssociation:
        return rounded_association(known.chi_square, known.combinations, label.tolist(), self.base, chance, of_columns)


def drawn_for(masking: Masking) -> str:
    """Return the name of a masking's own draws: what it does, so that another id is not another look at its counts.

    What it does is unknown if it was made elsewhere; then it is the id.
    """
    if masking.function is None or masking.function.name == MaskedTable.name:
        return masking.id
    return json.dumps([masking.function.name, masking.function.parameters], sort_keys=True)


def _records(number: int) -> str:
    return f"{number} record{'s' * (number != 1)}"
