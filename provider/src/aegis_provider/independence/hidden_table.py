"""Makes attributes of a table independent of others by masking as few values as it can (Tao et al. 2010)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final

import numpy as np

from aegis_provider.errors import OutputError, ProviderError, TableError, nearest, shortened
from aegis_provider.independence.checking import refuse_dependent
from aegis_provider.independence.cluster_values import write_cluster_values
from aegis_provider.independence.clustered_table import Cluster, ClusteredTable
from aegis_provider.independence.grouping import SOLVERS, Grouping, Solver, group
from aegis_provider.independence.masked_records import CLUSTER, PARQUET_ENDING, MaskedRecords
from aegis_provider.independence.vectors import IntArray
from aegis_provider.output import refuse_overwriting, written_whole
from aegis_provider.progress import Progress
from aegis_provider.table import Source, Table, open_table

STAR: Final = "*"


@dataclass(frozen=True)
class Hidden:
    """What was written, and what it cost.

    `cluster`: the name of the column of clusters; `others`: the columns that stay as they are. `records`: how many are
    published; `dropped`: how many a draw of that `seed` left out, so that all clusters are of one size. `groups`: of
    records that were made alike, one of each cluster. `stars`: how many values are masked, by attribute; `lower_bound`:
    no independent table of these clusters has fewer. `solver`: the one that found it. `unmasked`: (vectors, clusters)
    how many records have each combination of the hidden attributes' values, before any is masked.
    """

    hidden: tuple[str, ...]
    from_: tuple[str, ...]
    cluster: str
    others: tuple[str, ...]
    clusters_output: Path
    clusters: tuple[Cluster, ...]
    records: int
    dropped: int
    seed: int
    groups: int
    stars: Mapping[str, int]
    lower_bound: int
    solver: Solver
    unmasked: IntArray = field(compare=False, repr=False)

    @property
    def starred(self) -> int:
        """How many values are masked."""
        return sum(self.stars.values())

    @property
    def values(self) -> int:
        """How many values the hidden attributes have, masked or not."""
        return self.records * len(self.hidden)


def hide(
    table: Source,
    *,
    hide: Sequence[str],
    from_: Sequence[str],
    clusters: int,
    output: Path,
    clusters_output: Path | None = None,
    solver: Solver = "best",
    seed: int = 0,
    seconds: float | None = None,
    star: str = STAR,
    delimiter: str = ",",
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> Hidden:
    """Writes the table so that the attributes to `hide` are exactly independent of those that they are hidden `from_`.

    The latter become one column with the number of a cluster, 1 to `clusters`, all equally large; of the former some
    values become the `star`. All other columns stay as they are, and so does the order of the records, of which at
    most `clusters` - 1, drawn by the seed, are left out. A missing value is a value like others.
    `output`: Parquet where it ends in `.parquet`, CSV otherwise. `clusters_output`: the values of each cluster, sorted;
    by default `masked.clusters.csv` beside `masked.csv`. `seconds`: how long the solver `best` may try to improve.
    What was written has been read again and found independent, by whole numbers; both files appear, or none.
    Source: Tao et al., Correlation hiding by independence masking (ICDE 2010), section IV and problem 1.
    Raises `ProviderError` for columns or clusters that make no sense, `TableError` and `OutputError`.
    """
    _refuse_unsound(hide, from_, clusters, solver, seed)
    refuse_overwriting(output, table)
    values = values_beside(output) if clusters_output is None else clusters_output
    _refuse_values_output(output, values, table)
    with (
        written_whole(values) as values_part,
        written_whole(output) as part,
        open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened,
    ):
        _refuse_second_cluster(opened, from_)
        random = np.random.default_rng(seed)
        clustered = ClusteredTable.of(opened, hide, from_, clusters, random, progress)
        clustered.refuse_star(star)
        stop = _after(seconds)
        grouping = group(clustered.codes, clustered.cluster_of_record, solver, random, progress, stop)
        records = clustered.masked(grouping, star)
        records.write(part, progress, parquet=_is_parquet(output))
        separator = opened.delimiter or ","
        with open_table(part, delimiter=separator, memory_limit=memory_limit) as written:
            refuse_dependent(written, records, output)
        write_cluster_values(
            values_part,
            clustered.basis,
            clustered.kept,
            records.clusters,
            separator,
            parquet=_is_parquet(values),
        )
    return _found(clustered, records, grouping, values, seed)


def values_beside(output: Path) -> Path:
    """Where the values of the clusters go by default: `masked.clusters.csv` for `masked.csv`."""
    return output.with_name(f"{output.stem}.clusters{output.suffix}")


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == PARQUET_ENDING


def _after(seconds: float | None) -> Callable[[], bool]:
    """Whether that much time has passed since now."""
    end = None if seconds is None else monotonic() + seconds
    return lambda: end is not None and monotonic() > end


def _refuse_unsound(hide: Sequence[str], from_: Sequence[str], clusters: int, solver: str, seed: int) -> None:
    if not hide or not from_:
        raise ProviderError("name at least one attribute to hide, and one that it is hidden from")
    seen: set[str] = set()
    for name in (*hide, *from_):
        if name in seen:
            raise ProviderError(f"{shortened(name)} is named twice; an attribute is hidden, or hidden from, once")
        seen.add(name)
    if clusters < 1:
        raise ProviderError(f"the number of clusters is 1 or more, not {clusters}")
    if seed < 0:
        raise ProviderError(f"a seed is 0 or more, not {seed}")
    if solver not in SOLVERS:
        raise ProviderError(f"unknown solver {shortened(solver)}; {nearest(solver, list(SOLVERS))}")


def _refuse_values_output(output: Path, values: Path, table: Source) -> None:
    """Raises `OutputError` where the values of the clusters would go to the output, or to an input."""
    if output.resolve() == values.resolve():
        raise OutputError(f"{output}: the table and the values of its clusters need a file each")
    refuse_overwriting(values, table)


def _refuse_second_cluster(table: Table, from_: Sequence[str]) -> None:
    """Raises `TableError` where a column is called as that of the clusters would be, in one of the files."""
    if CLUSTER in (table.columns if len(from_) > 1 else from_):
        raise TableError(f"{table.name}: a column is called {CLUSTER!r}, as that of the clusters will be; rename it")


def _found(clustered: ClusteredTable, records: MaskedRecords, grouping: Grouping, values: Path, seed: int) -> Hidden:
    kept = int(np.count_nonzero(clustered.kept))
    clusters = clustered.clusters()
    stars = records.stars.sum(axis=0).tolist()
    names = tuple(column.name for column in clustered.columns)
    return Hidden(
        hidden=names,
        from_=tuple(each.column.name for each in clustered.basis),
        cluster=records.cluster,
        others=records.others,
        clusters_output=values,
        clusters=clusters,
        records=kept,
        dropped=clustered.dropped,
        seed=seed,
        groups=kept // len(clusters),
        stars=dict(zip(names, stars, strict=True)),
        lower_bound=grouping.lower_bound,
        solver=grouping.method,
        unmasked=clustered.counts(),
    )
