"""Hiding: makes attributes of a table independent of others by masking few of their values (Tao et al. 2010)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

import numpy as np

from aegis_provider.errors import OutputError, ProviderError, TableError, nearest, shortened
from aegis_provider.identifiers import (
    Replayed,
    accepted_beside,
    identifying,
    refuse_identifiers,
    texts_written,
    values_of,
)
from aegis_provider.independence.association import associations
from aegis_provider.independence.clustered_table import ClusteredTable, read_columns
from aegis_provider.independence.grouping import SOLVERS, Grouping, Solver, group
from aegis_provider.independence.model import STAR, Hidden
from aegis_provider.independence.output_files import (
    CLUSTER,
    MaskedRecords,
    is_parquet,
    write_cluster_extents,
    write_cluster_values,
)
from aegis_provider.independence.transportation import require_ortools
from aegis_provider.independence.vectors import is_independent
from aegis_provider.output import none_if_refused, refuse_overwriting, written_whole
from aegis_provider.plan.model import IDENTITY, Plan
from aegis_provider.progress import Progress
from aegis_provider.table import Source, Table, open_table
from aegis_provider.table.notation import plainly
from aegis_provider.table.values import ValueType


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
        table: The table of the attributes.
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
        seed: The seed of all draws.
        seconds: The time that the solver `best` may spend on improvements.
        star: The text for masked values.
        keep_order: Whether the records keep the order of the table, which can identify people.
        measure: Whether to measure the effect on the attributes' information as well (`associations`).
        accept_identifiers: Whether columns that stay may identify persons.
        delimiter: The delimiter of a CSV table.
        memory_limit: The memory limit for reading.
        progress: Called during each pass over the table, and during the search.

    Raises:
        ProviderError: The attributes, the clusters, the solver or the seed are invalid, or a column that must stay
            would change.
        TableError: The table cannot be read, lacks a column, or has a value that is not of its type.
        IdentifierError: A column of the output identifies persons, and that is not accepted.
        OutputError: The output cannot be written, or would overwrite an input.
        AegisError: The extra `independence` is not installed.
    """
    require_ortools()
    _refuse_unsound(hide, from_, clusters, solver, seed)
    _refuse_kept((*hide, *from_), _stays(plan, keep))
    types = _types(plan, from_, ordered)
    inputs = table, *(() if plan is None else plan.files)
    refuse_overwriting(output, *inputs)
    values = values_beside(output) if clusters_output is None else clusters_output
    _refuse_values_output(output, values, inputs)
    with (
        none_if_refused(output, values),
        written_whole(values) as values_part,
        written_whole(output) as part,
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as given,
    ):
        opened = given if plan is None else plainly(given, plan.writings)
        _refuse_second_cluster(opened, from_)
        opened.positions([*hide, *from_, *_stays(plan, keep)])
        random = np.random.default_rng(seed)
        clustered = ClusteredTable.of(opened, hide, from_, clusters, random, progress, types)
        clustered.refuse_star(star)
        stay = [column for column in opened.columns if column not in from_]
        reasons = identifying(opened, values_of(opened, stay))
        if not accept_identifiers:
            refuse_identifiers(opened, opened.name, stay, "leave it out", known=reasons)
        grouping = group(clustered.codes, clustered.cluster_of_record, solver, random, progress, _after(seconds))
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
    hidden = _hidden(clustered, records, grouping, output, values, seed)
    hidden = replace(hidden, exact_values=exact_values, accepted=accepted)
    if not measure:
        return hidden
    measured = associations(table, hidden, delimiter=delimiter, memory_limit=memory_limit, progress=progress)
    return replace(hidden, associations=measured)


def values_beside(output: Path) -> Path:
    """Return the default file for the values of the clusters: `masked.clusters.csv` for `masked.csv`."""
    return output.with_name(f"{output.stem}.clusters{output.suffix}")


def _after(seconds: float | None) -> Callable[[], bool]:
    """Return a function that says whether this much time has passed since now."""
    end = None if seconds is None else monotonic() + seconds
    return lambda: end is not None and monotonic() > end


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


def _stays(plan: Plan | None, keep: Sequence[str]) -> dict[str, str]:
    """Return the columns that must stay unchanged, with the reason for each."""
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
    return stays


def _refuse_kept(names: Sequence[str], stays: Mapping[str, str]) -> None:
    for name in names:
        if name in stays:
            raise ProviderError(
                f"{shortened(name)} {stays[name]}; it cannot be hidden, and nothing can be hidden from it"
            )


def _types(plan: Plan | None, from_: Sequence[str], ordered: Sequence[str]) -> dict[str, ValueType | None]:
    """Return the types of attributes whose values may have an order; `None` leaves the type to the texts."""
    attributes = plan.attributes if plan is not None else ()
    types = {attribute.name: ValueType.NUMBER for attribute in attributes if attribute.discretization is not None}
    types |= {attribute.name: attribute.value_type for attribute in attributes if attribute.value_type is not None}
    for name in ordered:
        if name not in from_:
            raise ProviderError(f"{shortened(name)} is named as ordered, but nothing is hidden from it")
    return types | {name: types.get(name) for name in ordered}


def _refuse_values_output(output: Path, values: Path, inputs: Sequence[Source]) -> None:
    """Reject an output for the values of the clusters that is also the table's output, or an input."""
    if output.resolve() == values.resolve():
        raise OutputError(f"{output}: the table and the values of its clusters need separate files")
    refuse_overwriting(values, *inputs)


def _refuse_second_cluster(table: Table, from_: Sequence[str]) -> None:
    """Reject a column with the name that the column of clusters would have in one of the files."""
    if CLUSTER in (table.columns if len(from_) > 1 else from_):
        raise TableError(f"{table.name}: a column is already called {CLUSTER!r}; rename it")


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
    clustered: ClusteredTable, records: MaskedRecords, grouping: Grouping, output: Path, values: Path, seed: int
) -> Hidden:
    kept = int(np.count_nonzero(clustered.kept))
    clusters = clustered.clusters()
    names = tuple(column.name for column in clustered.columns)
    return Hidden(
        hidden=names,
        from_=tuple(basi.column.name for basi in clustered.basis),
        cluster=records.cluster,
        others=records.others,
        output=output,
        clusters_output=values,
        exact_values=False,
        clusters=clusters,
        records=kept,
        dropped=clustered.dropped,
        seed=seed,
        groups=kept // len(clusters),
        stars_by_attribute=dict(zip(names, records.stars.sum(axis=0).tolist(), strict=True)),
        lower_bound=grouping.lower_bound,
        solver=grouping.solver,
        unmasked=clustered.counts(),
    )
