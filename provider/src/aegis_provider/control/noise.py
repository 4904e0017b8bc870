"""Differential privacy: discrete Laplace noise on every count and on associations of pairs, in one budget.

Only the tables of the label, the maskings and the pairs can declare inexact counts; an entry is reduced to these.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count
from typing import Any, Final, Literal, Self, TypeAlias, TypeVar, get_args

from aegis_provider.control.control import (
    Beside,
    Changes,
    Control,
    ControlError,
    NoisyTable,
    people_within,
    without_unshared,
)
from aegis_provider.control.minimum_cell import MinimumCell
from aegis_provider.control.noisy_association import (
    association_scale,
    key_of,
    laplace,
    named,
    noisy_association,
    scale_for,
    told_pairs,
    without_untold,
)
from aegis_provider.control.rounding import RandomRounding
from aegis_provider.counting.pair_cells import LabelSums
from aegis_provider.counting.pair_tables import PairName
from aegis_provider.errors import needs_extra
from aegis_provider.plan.model import Roles
from aegis_provider.processes import Progress
from aegis_sdk.wire import (
    DROP,
    IDENTITY,
    SUPPRESSED,
    Attribute,
    EntryDocument,
    Masking,
    MaskingFunction,
    Noise,
    Pair,
)

Declared: TypeAlias = tuple[list[list[int]], dict[str, Any]]
"""The counts of a table, and the fields that declare how they were changed."""

_Holder = TypeVar("_Holder", Masking, Pair)

PEOPLE: Final = "people"
"""The name of the number of people in the list of tables."""

_UNMASKED = "unmasked"


def only_declarable(entry: EntryDocument) -> tuple[EntryDocument, tuple[str, ...]]:
    """Return the entry without the tables that cannot declare inexact counts, and the names of these tables.

    Histograms and the numbers of suppressed records and cells are left out. The unmasked joint counts of an attribute
    become those of an extra masking that changes nothing and that no configuration uses, so that they remain available.
    """
    configurations = entry.masked
    tables = [f"histogram of {attribute.name}" for attribute in entry.attributes if attribute.histogram is not None]
    stated = (
        (configuration, name)
        for configuration in configurations
        for name in SUPPRESSED
        if getattr(configuration, name) is not None
    )
    tables += [f"{name} of {each.id}" for each, name in stated]
    changed = {
        "attributes": [_declarable(attribute) for attribute in entry.attributes],
        "configurations": [
            configuration.model_copy(update=dict.fromkeys(SUPPRESSED)) for configuration in configurations
        ],
    }
    return entry.model_copy(update=changed), tuple(tables)


def tables_of(entry: EntryDocument) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield the name and the counts of each table of an entry that has only declarable ones."""
    yield entry.label.name, [entry.label.histogram]
    for attribute in entry.attributes:
        for masking in attribute.maskings:
            if masking.joint is not None:
                yield f"{attribute.name}: {masking.id}", masking.joint
    for pair in entry.pairs:
        if pair.joint is not None:
            yield named(pair), pair.joint


def with_tables(entry: EntryDocument, tables: Iterator[Declared]) -> EntryDocument:
    """Return the entry with these counts and declarations, in the order of `tables_of`.

    `records` becomes the sum of the label's counts.

    Raises:
        ControlError: No record is left.
    """
    [histogram], declared = next(tables)
    if sum(histogram) < 1:
        raise ControlError("no record is left in the label's histogram; the table has too few records for this control")
    attributes = [
        attribute.model_copy(update={"maskings": [_declaring(masking, tables) for masking in attribute.maskings]})
        for attribute in entry.attributes
    ]
    label = entry.label.model_copy(update={**declared, "histogram": histogram})
    changed: dict[str, Any] = {"records": sum(histogram), "label": label, "attributes": attributes}
    if "pairs" in entry.model_fields_set:
        changed["pairs"] = [_declaring(pair, tables) for pair in entry.pairs]
    return entry.model_copy(update=changed)


def _declaring(held: _Holder, tables: Iterator[Declared]) -> _Holder:
    if held.joint is None:
        return held
    joint, declared = next(tables)
    return held.model_copy(update={**declared, "joint": joint})


def _declarable(attribute: Attribute) -> Attribute:
    without = attribute.model_copy(update={"histogram": None, "joint": None})
    if attribute.joint is None:
        return without
    taken = {masking.id for masking in attribute.maskings} | {IDENTITY, DROP}
    candidates = (_UNMASKED if number == 1 else f"{_UNMASKED}-{number}" for number in count(1))
    unmasked = Masking(
        id=next(name for name in candidates if name not in taken),
        function=MaskingFunction(name=IDENTITY, parameters={}),
        domain=attribute.domain,
        mapping=list(range(len(attribute.domain))),
        joint=attribute.joint,
    )
    return without.model_copy(update={"maskings": [*attribute.maskings, unmasked]})


Split: TypeAlias = Literal["equal", "cube_root"]

_EPSILONS: Final = (1e-6, 1e6)
"""The smallest and the largest epsilon: below, noise exceeds any possible count; above, there is none."""


@dataclass(frozen=True)
class LaplaceNoise(Control):
    """Noise on every count, including 0: differential privacy of all tables together.

    Neighbouring tables differ by one record, which is in one cell of each counted table, pair counts included, where
    all records are counted and both tables list and map the same values. Each table therefore has sensitivity 1, and
    together they use the sum of their epsilons (Dwork and Roth 2014, theorem 3.16). The association of a pair with the
    label takes a share like a table (`noisy_association`). Negative counts of the label become 0, which uses no more
    epsilon (theorem 2.1: post-processing).

    Where the entry counts people, neighbouring tables differ by one person: by up to `rows_per_person` records, since
    which records of a person are counted depends on no other's. Noise for so many times less epsilon per record then
    spends epsilon per person (group privacy: theorem 2.2). The number of people takes a share like a table.

    Attributes:
        epsilon: The budget of all tables together.
        split: The rule that divides it among them.
        open_answers: Let all who see the entry read full answers; these reveal no more than the noisy counts.
        sums: By pair, the label sums. Associations of pairs without them are left out.

    Raises:
        ControlError: Epsilon is out of range or the split is unknown.
        AegisError: OpenDP is not installed.
    """

    epsilon: float
    split: Split = "equal"
    open_answers: bool = False
    sums: Mapping[PairName, LabelSums] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        least, most = _EPSILONS
        if not (math.isfinite(self.epsilon) and least <= self.epsilon <= most):
            raise ControlError(f"epsilon is {self.epsilon:g}; choose a number from {least:g} to {most:g}")
        if self.split not in get_args(Split):
            raise ControlError(f"the split is {self.split!r}; choose one of {', '.join(get_args(Split))}")
        with needs_extra("noise"):
            import opendp  # noqa: F401, PLC0415 - report that it is missing before counting a table

    def declared(self) -> dict[str, Any]:
        """Return epsilon and its split, and whether answers are open."""
        opened = {"open_answers": True} if self.open_answers else {}
        return {"epsilon": self.epsilon, "split": self.split, **opened}

    def in_words(self) -> str:
        """Describe what the control did, in words that follow `with`."""
        return f"noise of an epsilon of {self.epsilon:g}"

    def knowing(self, beside: Beside) -> Self:
        """Return the control with the label sums of pairs."""
        return replace(self, sums=beside.told.sums)

    def conflict_with(self, other: Control) -> str | None:
        """Return why noise cannot be combined with merging by exact counts or with rounding."""
        if isinstance(other, MinimumCell):
            return "a minimum cell count depends on exact counts, which epsilon does not cover; choose one of the two"
        if isinstance(other, RandomRounding):
            return "noise already hides what rounding would hide; choose an epsilon or a base, not both"
        return None

    def apply(self, entry: EntryDocument, roles: Roles, progress: Progress) -> tuple[EntryDocument, Changes]:  # noqa: ARG002 - the signature of every control
        """Return the entry with noise on all its counts, and the changes.

        Tables that cannot declare noise are left out.

        Raises:
            ControlError: There are random maskings. One more record may change all other draws.
        """
        for attribute in entry.attributes:
            for masking in attribute.maskings:
                if masking.deterministic is False:
                    raise ControlError(
                        f"{attribute.name!r}: masking {masking.id!r} is random or was done elsewhere, so one record "
                        "may change several of its counts and its epsilon is unknown; remove it from the plan"
                    )
        pairs, lost = without_untold(entry.pairs, self.sums)
        of_others = sum(len(pair.with_labels) for pair in pairs)
        pairs = [pair.model_copy(update={"with_labels": {}}) for pair in pairs] if of_others else pairs
        told: dict[str, Any] = {"joint_trace": None, "joint_traces": {}} | (
            {"pairs": pairs} if lost or of_others else {}
        )
        declarable, left_out = only_declarable(without_unshared(entry.model_copy(update=told)))
        tables = noisy_tables(declarable, self.epsilon, self.split)
        noisy = with_tables(declarable, _noisy(declarable, tables, progress))
        noisy = noisy.model_copy(update=_noisy_people(noisy, tables[-1].scale))
        more = (f"the association of {lost} pairs with the label (with_label)",) * bool(lost)
        more += (f"{of_others} associations of pairs with other labels (with_labels)",) * bool(of_others)
        more += ("the trace of the unmasked table (joint_trace)",) * (entry.joint_trace is not None)
        return self._with_noisy_associations(noisy, tables), Changes(tables=(*left_out, *more), noise=tuple(tables))

    def _with_noisy_associations(self, entry: EntryDocument, tables: Sequence[NoisyTable]) -> EntryDocument:
        """Return an entry with noisy counts, with noise in the associations of its pairs, too."""
        shares = iter(tables[sum(1 for _ in tables_of(entry)) :])
        pairs = []
        for pair in entry.pairs:
            if pair.with_label is not None:
                share, sums = next(shares), self.sums[key_of(pair)]
                noisy = noisy_association(pair.with_label, sums, entry.label.histogram, share.scale, share.epsilon)
                pair = pair.model_copy(update={"with_label": noisy})  # noqa: PLW2901 - the same, with noise
            pairs.append(pair)
        return entry.model_copy(update={"pairs": pairs}) if pairs else entry

    def suppressed(self, number: int) -> None:  # noqa: ARG002 - the signature of every control
        """Return nothing: epsilon does not cover an exact number of records or cells."""
        return

    def caveats(self) -> Iterator[str]:
        """Yield a sentence on what epsilon does not cover."""
        yield (
            "epsilon covers only the counts, which are of all records, and what is computed from them: types, domains "
            "(also values of suppressed records), masked values, bins (equal frequencies, fitted edges), and so which "
            "tables are counted, privacy numbers and the share of records that are alone are the table's own, and so "
            "is what the plan and the records of each person were chosen by"
        )


def noisy_tables(entry: EntryDocument, epsilon: float, split: Split) -> list[NoisyTable]:
    """Return the share of epsilon and the noise scale of each table of an entry that has only declarable ones.

    The associations of pairs follow the counts: as many cells as labels, and one for the number of combinations. Last
    is the number of people, if the entry has one.
    """
    labels, rows = len(entry.label.domain), entry.rows_per_person or 1
    counted = [(name, len(counts) * len(counts[0])) for name, counts in tables_of(entry)]
    sized = [*counted, *((name, labels + 1) for name, _ in told_pairs(entry))]
    of_people = [] if entry.people is None else [(PEOPLE, 1)]
    shares = shares_of(epsilon, [cells for _, cells in [*sized, *of_people]], split)
    scales = [
        scale_for(share / rows) if place < len(counted) else association_scale(share / rows, labels)
        for place, share in enumerate(shares[: len(sized)])
    ]
    scales += [scale_for(share) for share in shares[len(sized) :]]  # a person is one, whatever the records
    both = zip([*sized, *of_people], shares, scales, strict=True)
    return [NoisyTable(*each, share, scale) for each, share, scale in both]


def _noisy_people(entry: EntryDocument, scale: float) -> dict[str, int]:
    """Return the number of people of an entry with noisy counts, with noise of this scale, if it has one."""
    if entry.people is None or entry.rows_per_person is None:
        return {}
    [drawn] = laplace(scale)([entry.people])
    return {"people": people_within(drawn, entry.records, entry.rows_per_person)}


def shares_of(epsilon: float, cells: Sequence[int], split: Split) -> list[float]:
    """Return each table's share of epsilon by its number of cells; as doubles, their exact sum is at most epsilon.

    `cube_root` minimises the variance of all counts together. A count of table t has a variance of nearly 2 / e_t^2, so
    `sum_t c_t 2 / e_t^2` is minimised for a given `sum_t e_t`. By Lagrange's condition, `4 c_t / e_t^3` is the same for
    all t, so e_t is proportional to the cube root of c_t.
    """
    weights = [1.0 if split == "equal" else math.cbrt(cell) for cell in cells]
    shares = [epsilon * weight / math.fsum(weights) for weight in weights]
    while sum(map(Fraction, shares)) > Fraction(epsilon):
        shares = [math.nextafter(share, 0.0) for share in shares]
    return shares


def _noisy(entry: EntryDocument, tables: Sequence[NoisyTable], progress: Progress) -> Iterator[Declared]:
    done, total = 0, sum(each.cells for each in tables)
    for place, ((_, counts), table) in enumerate(zip(tables_of(entry), tables, strict=False)):
        width = len(counts[0])
        drawn = laplace(table.scale)([count for row in counts for count in row])
        noisy = drawn
        if place == 0:  # no count of the label is below 0, and at least one record is left
            noisy = [max(number, 0) for number in drawn]
            if not any(noisy):
                noisy[drawn.index(max(drawn))] = 1
        rows = [noisy[start : start + width] for start in range(0, len(noisy), width)]
        yield rows, {"noise": Noise(kind="laplace", scale=table.scale, epsilon=table.epsilon)}
        done += table.cells
        progress(done, total)
