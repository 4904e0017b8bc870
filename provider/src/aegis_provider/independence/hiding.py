"""Hiding: makes attributes of a table independent of others by masking few of their values (Tao et al. 2010)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from aegis_advisor.measures import mutual_information
from aegis_provider.counting.counts import Counts, tally
from aegis_provider.errors import OutputError, ProviderError, TableError, nearest, shortened
from aegis_provider.files import none_if_refused, refuse_overwriting, written_whole
from aegis_provider.identifiers import (
    Replayed,
    accepted_beside,
    identifying,
    refuse_identifiers,
    texts_written,
    values_of,
)
from aegis_provider.independence.clustered_table import Cluster, ClusteredTable, read_columns
from aegis_provider.independence.grouping import SOLVERS, Grouping, Solver, group
from aegis_provider.independence.output_files import (
    CLUSTER,
    MaskedRecords,
    is_parquet,
    write_cluster_extents,
    write_cluster_values,
)
from aegis_provider.independence.vectors import IntArray, is_independent, require_ortools
from aegis_provider.plan.model import IDENTITY, Plan
from aegis_provider.processes import Progress, after
from aegis_provider.table import Source, Table, open_table
from aegis_provider.table.notation import plainly
from aegis_provider.table.values import ValueType

STAR: Final = "*"
"""The default text for masked values."""


@dataclass(frozen=True)
class Association:
    """The mutual information of two vectors of attributes, in bits.

    Attributes:
        before: The information in the original table; `None` if not measured, since a column has too many values.
        after: The information in the published table; `None` as above.
        in_clusters: Whether `second` is represented by its cluster both before and after, so that any loss is due to
            masked values.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    before: float | None
    after: float | None
    in_clusters: bool = False


@dataclass(frozen=True)
class Hidden:
    """The result of hiding, and its cost.

    Attributes:
        hidden: The attributes with masked values.
        cluster: The name of the column of clusters.
        others: The unchanged columns.
        clusters_output: The file that describes each cluster.
        exact_values: Whether that file has the exact values.
        dropped: The number of records dropped at random so that all clusters are of equal size.
        lower_bound: A lower bound on the stars of any independent table with these clusters.
        unmasked: (vectors, clusters) The number of records with each combination of the hidden attributes' values,
            before masking.
        associations: The attributes' information before and after hiding; empty unless measured.
        accepted: The columns with accepted identifying values, and the kinds of these.
    """

    hidden: tuple[str, ...]
    from_: tuple[str, ...]
    cluster: str
    others: tuple[str, ...]
    output: Path
    clusters_output: Path
    exact_values: bool
    clusters: tuple[Cluster, ...]
    records: int
    dropped: int
    seed: int
    groups: int
    stars_by_attribute: Mapping[str, int]
    lower_bound: int
    solver: Solver
    unmasked: IntArray = field(compare=False, repr=False)
    associations: tuple[Association, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)

    @property
    def stars(self) -> int:
        """The number of masked values."""
        return sum(self.stars_by_attribute.values())

    @property
    def values(self) -> int:
        """The number of values of the hidden attributes, masked or not."""
        return self.records * len(self.hidden)


def hide(
    table: Source,
    *,
    hide: Sequence[str],
    from_: Sequence[str],
    clusters: int,
    output: Path,
    clusters_output: Path | None = None,
    exact_values: bool = False,
    plan: Plan | None = None,
    keep: Sequence[str] = (),
    ordered: Sequence[str] = (),
    solver: Solver = "best",
    seed: int = 0,
    seconds: float | None = None,
    star: str = STAR,
    keep_order: bool = False,
    measure: bool = False,
    accept_identifiers: bool = False,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> Hidden:
    """Write the table so that the attributes to `hide` are exactly independent of the attributes in `from_`.

    The attributes in `from_` become one column with the number of a cluster, 1 to `clusters`, all of equal size. Some
    values of the attributes to hide become the `star`. All other columns and the order of the records stay unchanged.
    At most `clusters` - 1 records, drawn by the seed, are dropped. Missing values are treated like others. The written
    table is read back and checked for independence in exact integers. Both files appear, or none.

    Values are treated as categories without order, since a number may be a code. Attributes that the plan types as
    `integer`, `number` or `date`, and those named in `ordered`, make clusters that are intervals.

    Source: Tao et al., Correlation hiding by independence masking (ICDE 2010), section IV and problem 1.

    Args:
        hide: The attributes to hide by masking some of their values.
        from_: The attributes from which they are hidden.
        clusters: The number of clusters that these become.
        output: The masked table: Parquet if it ends in `.parquet`, otherwise CSV.
        clusters_output: The file that describes each cluster; by default `masked.clusters.csv` beside `masked.csv`.
        exact_values: Whether that file lists every value of each cluster, sorted; otherwise it describes them in words,
            without any value.
        plan: A plan that protects its label, and attributes that it shares unmasked and that are neither
            quasi-identifiers nor sensitive. Its types say which values have an order.
        keep: Other columns that must stay unchanged.
        ordered: The attributes in `from_` whose values are numbers or dates, not categories.
        solver: The solver that groups the records (`group`).
        seconds: The time that the solver `best` may spend on improvements.
        keep_order: Whether the records keep the order of the table, which can identify people.
        measure: Whether to measure the effect on the attributes' information as well (`associations`).
        accept_identifiers: Whether columns that stay may identify persons.

    Raises:
        ProviderError: The attributes, the clusters, the solver or the seed are invalid, or a column that must stay
            would change, or says whose a record is.
        TableError: The table cannot be read, lacks a column, or has a value that is not of its type.
        IdentifierError: A column of the output identifies persons, and that is not accepted.
        OutputError: The output cannot be written, or would overwrite an input.
        AegisError: The extra `independence` is not installed.
    """
    require_ortools()
    _refuse_unsound(hide, from_, clusters, solver, seed)
    stays = _stays(plan, keep, [*hide, *from_])
    types = _types(plan, from_, ordered)
    inputs = table, *(() if plan is None else plan.files)
    refuse_overwriting(output, *inputs)
    values = clusters_output or output.with_name(f"{output.stem}.clusters{output.suffix}")
    if output.resolve() == values.resolve():
        raise OutputError(f"{output}: the table and the values of its clusters need separate files")
    refuse_overwriting(values, *inputs)
    with (
        none_if_refused(output, values),
        written_whole(values) as values_part,
        written_whole(output) as part,
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as given,
    ):
        opened = given if plan is None else plainly(given, plan.writings)
        _refuse_columns(opened, from_, plan)
        opened.positions([*hide, *from_, *stays])
        random = np.random.default_rng(seed)
        clustered = ClusteredTable.of(opened, hide, from_, clusters, random, progress, types)
        clustered.refuse_star(star)
        stay = [column for column in opened.columns if column not in from_]
        reasons = identifying(opened, values_of(opened, stay))
        if not accept_identifiers:
            refuse_identifiers(opened, opened.name, stay, "leave it out", known=reasons)
        grouping = group(clustered.codes, clustered.cluster_of_record, solver, random, progress, after(seconds))
        records = MaskedRecords.of(clustered, grouping.group_of_record, star)
        records.write(part, progress, parquet=is_parquet(output), keep_order=keep_order)
        separator = opened.delimiter or ","
        with open_table(part, delimiter=separator, memory_limit=memory_limit) as written:
            refuse_dependent(written, records, output)
            accepted = accepted_beside(texts_written(written), Replayed({}), reasons) if accept_identifiers else {}
        if exact_values:
            write_cluster_values(
                values_part, clustered.basis, clustered.kept, records.clusters, separator, parquet=is_parquet(values)
            )
        else:
            write_cluster_extents(values_part, clustered.clusters(), separator, parquet=is_parquet(values))
    hidden = _hidden(clustered, records, grouping, (output, values), seed, exact_values, accepted)
    if not measure:
        return hidden
    measured = associations(table, hidden, delimiter=delimiter, memory_limit=memory_limit, progress=progress)
    return replace(hidden, associations=measured)


def _refuse_columns(table: Table, from_: Sequence[str], plan: Plan | None) -> None:
    """Refuse a column that is called as that of the clusters would be, and one that says whose a record is."""
    if CLUSTER in (table.columns if len(from_) > 1 else from_):
        raise TableError(f"{table.name}: a column is already called {CLUSTER!r}; rename it")
    if plan is not None and plan.person in table.columns:
        would = f"records are counted here, not people, and {shortened(plan.person)} would stay"
        raise ProviderError(f"{plan.source}: person: {would}; take the column out of the table first")


def _refuse_unsound(hide: Sequence[str], from_: Sequence[str], clusters: int, solver: str, seed: int) -> None:
    if not hide or not from_:
        raise ProviderError("name at least one attribute to hide and one to hide it from")
    seen: set[str] = set()
    for name in (*hide, *from_):
        if name in seen:
            raise ProviderError(f"{shortened(name)} is named twice; name each attribute once")
        seen.add(name)
    if clusters < 1:
        raise ProviderError(f"the number of clusters must be 1 or more, not {clusters}")
    if seed < 0:
        raise ProviderError(f"the seed must be 0 or more, not {seed}")
    if solver not in SOLVERS:
        raise ProviderError(f"unknown solver {shortened(solver)}; {nearest(solver, list(SOLVERS))}")


def _stays(plan: Plan | None, keep: Sequence[str], changed: Sequence[str]) -> list[str]:
    """Return the columns that must stay unchanged, unless one of them would be `changed`."""
    stays = dict.fromkeys(keep, "is to be kept")
    if plan is not None:
        roles = {*plan.quasi_identifiers, *plan.sensitive}
        shared = [
            attribute.name
            for attribute in plan.attributes
            if attribute.default == IDENTITY and attribute.name not in roles
        ]
        stays |= dict.fromkeys(shared, f"is shared unmasked by {plan.source}")
        stays[plan.label] = f"is the label of {plan.source}"
    for name in changed:
        if name in stays:
            raise ProviderError(
                f"{shortened(name)} {stays[name]}; it cannot be hidden, and nothing can be hidden from it"
            )
    return list(stays)


def _types(plan: Plan | None, from_: Sequence[str], ordered: Sequence[str]) -> dict[str, ValueType | None]:
    """Return the types of attributes whose values may have an order; `None` leaves the type to the texts."""
    attributes = plan.attributes if plan is not None else ()
    types = {attribute.name: ValueType.NUMBER for attribute in attributes if attribute.discretization is not None}
    types |= {attribute.name: attribute.value_type for attribute in attributes if attribute.value_type is not None}
    for name in ordered:
        if name not in from_:
            raise ProviderError(f"{shortened(name)} is named as ordered, but nothing is hidden from it")
    return types | {name: types.get(name) for name in ordered}


def refuse_dependent(written: Table, records: MaskedRecords, output: Path) -> None:
    """Read the written table back and check its independence, so that no solver has to be trusted.

    The check is `P[a, b] = P[a] P[b]` for every masked vector and every cluster, in exact integers.

    Raises:
        OutputError: The written table has other records, or its hidden attributes are not independent.
    """
    *masked, cluster = read_columns(written, [*(each.name for each in records.masked), records.cluster])
    if written.columns != records.names or len(cluster.codes) != np.count_nonzero(records.kept):
        raise OutputError(f"{output}: differs from what was written; was it changed?")
    if not is_independent(np.stack([each.codes for each in masked], axis=1), cluster.codes):
        raise OutputError(f"{output}: the masked table is not independent, so nothing is written; report this as a bug")


def _hidden(
    clustered: ClusteredTable,
    records: MaskedRecords,
    grouping: Grouping,
    files: tuple[Path, Path],
    seed: int,
    exact_values: bool,  # noqa: FBT001
    accepted: Mapping[str, str],
) -> Hidden:
    kept = int(np.count_nonzero(clustered.kept))
    clusters = clustered.clusters()
    names = tuple(column.name for column in clustered.columns)
    return Hidden(
        hidden=names,
        from_=tuple(basi.column.name for basi in clustered.basis),
        cluster=records.cluster,
        others=records.others,
        output=files[0],
        clusters_output=files[1],
        exact_values=exact_values,
        accepted=accepted,
        clusters=clusters,
        records=kept,
        dropped=int(np.count_nonzero(~clustered.kept)),
        seed=seed,
        groups=kept // len(clusters),
        stars_by_attribute=dict(zip(names, records.stars.sum(axis=0).tolist(), strict=True)),
        lower_bound=grouping.lower_bound,
        solver=grouping.solver,
        unmasked=clustered.counts(),
    )


_MOST_CELLS: Final = 10_000_000
_MOST_VALUES: Final = 1_000
"""A column with more values identifies records rather than describing them."""


def associations(
    table: Source,
    hidden: Hidden,
    *,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> tuple[Association, ...]:
    """Return the mutual information of attributes before and after hiding, from the original and the masked table.

    The first associations are between all hidden attributes together and all attributes that they are hidden
    from: with the values of these, and with their clusters. The associations of each attribute of both sides with every
    other column follow. After hiding, the clusters stand for the attributes that they were made of.

    Raises:
        TableError: One of the tables cannot be read.
    """
    with (
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as before,
        open_table(hidden.output, delimiter=before.delimiter or ",", memory_limit=memory_limit) as after,
    ):
        now = _of_vectors(after, hidden.hidden, (hidden.cluster,))
        as_values = Association(hidden.hidden, hidden.from_, _of_vectors(before, hidden.hidden, hidden.from_), now)
        rows, columns = np.nonzero(hidden.unmasked)
        clustered = _information(rows, columns, hidden.unmasked[rows, columns])
        measured = [as_values, Association(hidden.hidden, hidden.from_, clustered, now, in_clusters=True)]
        # If several attributes became one column, that column stands for each.
        names = [(name, name) for name in hidden.hidden] + [(name, hidden.cluster) for name in hidden.from_]
        for done, (name, column) in enumerate(names):
            progress(done, len(names))
            both = zip(_of_each(before, hidden.others, name), _of_each(after, hidden.others, column), strict=True)
            for other, information in zip(hidden.others, both, strict=True):
                measured.append(Association((name,), (other,), *information))
        return tuple(measured)


def _of_vectors(table: Table, first: Sequence[str], second: Sequence[str]) -> float | None:
    """Return the information between the vectors of values of some columns and those of others."""
    counted = table.combinations([*first, *second])
    codes = []
    for place in range(len(first) + len(second)):
        # The table's own codes come in the order in which its threads happen to read, and a sum's last digit depends on
        # the order, so these are in the order of the values.
        column: pa.DictionaryArray = counted.column(place).combine_chunks()
        ranks = np.argsort(np.argsort(column.dictionary.to_numpy(zero_copy_only=False)))
        codes.append(np.asarray(ranks[column.indices.to_numpy()]))
    rows, columns = (
        np.unique(np.stack(mine, axis=1), axis=0, return_inverse=True)[1].ravel()
        for mine in (codes[: len(first)], codes[len(first) :])
    )
    return _information(rows, columns, counted.column("n").to_numpy())


def _of_each(table: Table, columns: Sequence[str], name: str) -> Iterator[float | None]:
    """Yield the information between each of the columns and the column with this name."""
    for each in tally(table, columns, name) if columns else ():
        rows, columns_ = (np.unique(texts, return_inverse=True)[1] for texts in (each.texts, each.labels))
        few = max(rows.max(), columns_.max()) < _MOST_VALUES
        yield _information(rows, columns_, each.counts) if few else None


def _information(rows: Counts, columns: Counts, counts: Counts) -> float | None:
    """Return the information in a table of joint counts, given the places and counts of its nonempty cells."""
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    if shape[0] * shape[1] > _MOST_CELLS:
        return None
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (rows, columns), counts)
    # A table that is exactly the product of its margins, n_ab n = n_a n_b in 64-bit integers, has none.
    total, product = int(table.sum()), np.outer(table.sum(axis=1), table.sum(axis=0))
    if total < 1 << 31 and np.array_equal(table * total, product):
        return 0.0
    return mutual_information(table.astype(np.float64))
