"""The share of records that are alone in a release: no other record has the same values in all shared columns.

If the plan says whose a record is, people are counted: who has a record like nobody else's is alone.

The promises of a plan hold against an attacker who knows its quasi-identifiers. One who knows more can single out
records that are alone on all shared columns. The label is ignored, as attackers do not know it yet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np

from aegis_provider.counting.coded_table import Combinations
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords, MaskedDomain
from aegis_provider.counting.counts import Partition, Places, common_refinement
from aegis_provider.plan.model import DROP, IDENTITY, Configuration, Plan
from aegis_provider.privacy import PrivacyTable, class_of_each
from aegis_provider.privacy.cells import Suppressed
from aegis_provider.release.blocks import Release
from aegis_provider.release.promise import Promise, records_of
from aegis_provider.table import Source, Table, open_table
from aegis_sdk.reading import LEAST_SHARE, Alone

_LEAST: Final = Fraction(str(LEAST_SHARE))
_FEW: Final = 5
"""Steps of shares cover more records than this, so that neither a count of 1 to 4 follows, nor a difference of two."""

_STEPS: Final = tuple(Fraction(digit, 10**place) for place in (3, 2, 1) for digit in (1, 2, 5))
_TENTH: Final = Fraction(1, 10)


@dataclass(frozen=True)
class CountedAlone:
    """The number of records, or people, of a release that are alone on all shared columns, without the label."""

    alone: int
    records: int

    @property
    def share(self) -> float:
        """The share to publish: rounded up to at most two digits; 0 only if nobody is alone.

        Steps are at least 0.1 % and wider than five records, so the share gives away no count of 1 to 4: neither of the
        records alone, nor of all others, nor the difference of two configurations.
        """
        if not self.alone:
            return 0.0
        exact = Fraction(self.alone, self.records)
        finest = _LEAST if exact < _TENTH else _TENTH / 10
        step = next((each for each in _STEPS if each >= finest and each * self.records > _FEW), Fraction(1))
        steps = ceil(exact / step)
        if exact == _LEAST and step == _LEAST:
            steps += 1  # the smallest share means "less than this"
        return float(min(Fraction(1), steps * step))


def alone_in(written: Table, label: str | None, person: str | None = None) -> CountedAlone:
    """Count the records that are alone in a written masked table.

    Args:
        person: The column that says whose a record is, if people are counted; never shared.

    Raises:
        TableError: The table cannot be read.
    """
    names = [name for name in written.columns if name not in {label, person}]
    if person is not None:
        return CountedAlone(*written.people_alone(names, person))
    if not names:
        records = written.records()
        return CountedAlone(int(records == 1), records)
    return CountedAlone(*written.alone(names))


def alone_in_releases(
    table: Source | Table, plan: Plan, *, delimiter: str = ",", memory_limit: str = "1GB"
) -> dict[str, float | None]:
    """Return for each configuration of a plan, by id, the share of its records that are alone.

    It is 0, without reading the table, if all shared columns are quasi-identifiers and records are suppressed until `k`
    is at least 2. It is `None` if a column was masked elsewhere, as only that table shows it.

    Args:
        table: Anything that `open_table` accepts.
        plan: The plan of the table.

    Raises:
        TableError: The table cannot be read, or does not fit the plan.
    """
    if all(is_nobody_alone(plan, configuration) for configuration in plan.configurations):
        return {configuration.id: 0.0 for configuration in plan.configurations}
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        return shares_alone(CountedTable.of(opened, plan), plan)


def alone_in_table(table: Source, roles: Plan, name: str, *, delimiter: str = ",", memory_limit: str = "1GB") -> Alone:
    """Return the records that are alone in a table without a plan, such as a masked one: all columns are shared.

    Args:
        table: Anything that `open_table` accepts.
        roles: A plan of the columns with a role. A sensitive one is treated as the label.
        name: The name of the table in messages.
        delimiter: Separator of the fields of a CSV table.

    Raises:
        TableError: The table cannot be read.
    """
    label = roles.sensitive[0] if len(roles.sensitive) == 1 else None
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        shared = [column for column in opened.columns if column != label]
        share = alone_in(opened, label).share
    known = None if set(shared) <= set(roles.quasi_identifiers) else roles.quasi_identifiers
    return Alone(label, {name: share}, known, name, len(shared), len(shared), is_table=True)


def shares_alone(counted: CountedTable, plan: Plan) -> dict[str, float | None]:
    """Return the shares of `alone_in_releases` for a counted table.

    Raises:
        TableError: The table cannot be read.
    """
    open_ones = [configuration for configuration in plan.configurations if not is_nobody_alone(plan, configuration)]
    shares: dict[str, float | None] = {configuration.id: 0.0 for configuration in plan.configurations}
    if counted.person is None and counted.table.in_memory([plan.label]) is None:
        by_value = [one for one in open_ones if _masks_by_value(plan, one)]
        shares |= _shares_of_codes(counted, plan, by_value) if by_value else {}
        open_ones = [one for one in open_ones if one not in by_value]
    if open_ones:
        columns = [column for column in plan.columns if any(column in shared_columns(plan, one) for one in open_ones)]
        roles = [name for name in (*plan.quasi_identifiers, *plan.sensitive) if name not in columns]
        table = PrivacyTable.of(counted, plan, [*columns, *roles] or [plan.label])
        shares |= {one.id: _share(table, counted, plan, one) for one in open_ones}
    return shares


def is_nobody_alone(plan: Plan, configuration: Configuration) -> bool:
    """Whether suppression for `k` certainly leaves nobody alone, since all shared columns may be known."""
    enforced = configuration.suppresses and configuration.privacy.get("k", 1) > 1
    return enforced and set(shared_columns(plan, configuration)) <= set(plan.roles[0].quasi_identifiers)


def shared_columns(plan: Plan, configuration: Configuration) -> tuple[str, ...]:
    """Return the columns that a configuration shares, without the label."""
    return tuple(attribute.name for attribute in plan.attributes if configuration.maskings[attribute.name] != DROP)


def known_of(plan: Plan) -> tuple[str, ...] | None:
    """Return what an attacker on the label may know if a configuration shares other columns too; `None` if not."""
    shared = {name for configuration in plan.configurations for name in shared_columns(plan, configuration)}
    known = plan.roles[0].quasi_identifiers
    return None if shared <= set(known) else known


def told_alone(plan: Plan, shares: Mapping[str, float | None], configuration: str | None = None) -> Alone:
    """Return the records alone in a configuration of a plan, or in all, given the share of each."""
    about = Alone(plan.label, shares, known_of(plan), configuration, of_people=plan.person is not None)
    named = configuration or about.worst
    return about if named is None else about.sharing(plan.configuration(named).maskings)


def _share(table: PrivacyTable, counted: CountedTable, plan: Plan, configuration: Configuration) -> float | None:
    if table.masked_elsewhere(configuration):
        return None
    if table.left_to_chance(configuration):
        return _as_drawn(counted, plan, configuration).share
    return _as_masked(table, configuration, shared_columns(plan, configuration)).share


def _masks_by_value(plan: Plan, configuration: Configuration) -> bool:
    """Whether masked values depend only on a record's own values, and no record is suppressed."""
    choices = (attribute.masking(configuration.maskings[attribute.name]) for attribute in plan.attributes)
    return not configuration.suppresses and all(choice is None or choice.is_by_value for choice in choices)


def _shares_of_codes(
    counted: CountedTable, plan: Plan, configurations: Sequence[Configuration]
) -> dict[str, float | None]:
    """Return the shares of configurations that mask by value, with the table in memory as small integers."""
    views = {place: _views_of(counted, place, configurations) for place in range(len(counted.attributes))}
    atoms = {place: common_refinement([*each.values()]) for place, each in views.items() if each}
    combinations = Combinations.of(counted, plan.label, atoms)
    shares: dict[str, float | None] = {}
    for one in configurations:
        chosen = {place: views[place].get(one.maskings[plan.attributes[place].name]) for place in atoms}
        coarse = {
            place: Partition(view.per_group_of(atoms[place]), view.size)
            for place, view in chosen.items()
            if view is not None
        }
        shares[one.id] = CountedAlone(combinations.alone(coarse), counted.records).share
    return shares


def _views_of(counted: CountedTable, place: int, configurations: Sequence[Configuration]) -> dict[str, Partition]:
    """Return the groups of an attribute's values, by the choices of configurations that share it."""
    one = counted.attributes[place]
    used = {configuration.maskings[one.attribute.name] for configuration in configurations}
    masked = {masking.id: masking for masking in one.attribute.maskings if masking.id in used}
    views = {name: MaskedDomain.of(counted.masked(one, each)).partition() for name, each in masked.items()}
    return views | ({IDENTITY: Partition.identity(len(one.domain))} if IDENTITY in used else {})


def _as_drawn(counted: CountedTable, plan: Plan, configuration: Configuration) -> CountedAlone:
    """Count in the release itself, whose random maskings give the same records each time."""
    release = Release.of(counted, plan, configuration)
    promise = Promise.of(release, plan, configuration)
    blocks = release.by_person().blocks()
    if configuration.suppresses:
        suppression = promise.suppression(promise.judged.blocks())
        release, blocks = suppression.release, suppression.applied(release.by_person().blocks())
    shared = [name for name in release.names if name != plan.label]
    of = (release.by_person().names, release.domains, shared)
    records = records_of(blocks, *of, by_person=counted.person is not None).records
    return _alone_among(records, *class_of_each(records, {}, shared))


def _as_masked(table: PrivacyTable, configuration: Configuration, shared: Sequence[str]) -> CountedAlone:
    """Count the records that are alone once each value is masked, and records and cells are suppressed."""
    records, mappings, counts = table.records, table.mappings_of(configuration), table.records.counts
    if configuration.suppresses:
        suppressed = table.suppressed(configuration)
        counts = counts.copy()
        counts[suppressed.places[suppressed.left_out]] = 0
        if suppressed.stars.any():
            records, mappings = _starred(records, mappings, suppressed)
    records = replace(records, counts=counts)
    return _alone_among(records, *class_of_each(records, mappings, shared))


def _alone_among(records: DistinctRecords, groups: Places, size: int) -> CountedAlone:
    """Count the records, or people, that are alone in their group; `groups`: (combinations,) the group of each."""
    if records.people is None:
        sizes = np.bincount(groups, records.counts, size).astype(np.int64)
        return CountedAlone(int((sizes == 1).sum()), int(records.counts.sum()))
    left = records.counts > 0
    people, many = records.people[left], int(records.people.max(initial=0)) + 1
    pairs = np.unique(groups[left] * many + people)
    single = np.bincount(pairs // many, minlength=size) == 1
    return CountedAlone(len(np.unique(pairs[single[pairs // many]] % many)), len(np.unique(people)))


def _starred(
    records: DistinctRecords, mappings: Mapping[str, Places], suppressed: Suppressed
) -> tuple[DistinctRecords, dict[str, Places]]:
    """Return the records with an additional value for `*` in suppressed columns, and mappings extended by it."""
    codes, known = records.codes.copy(), dict(mappings)
    for name, stars in zip(suppressed.columns, suppressed.stars.T, strict=True):
        place = records.columns.index(name)
        values = len(records.domains[place])
        mapping = known.get(name, np.arange(values))
        known[name] = np.append(mapping, mapping.max() + 1)
        codes[suppressed.places[stars], place] = values
    return replace(records, codes=codes), known
