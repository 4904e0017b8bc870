"""What several releases of a table tell together: the privacy of their join.

Everything that can be computed from releases can be computed from their join: the records, each with its class and its
sensitive values in every release. Its classes are the records that are in the same class of each; not to be in one is a
class, too, since others can see that. So the join's privacy is a limit for whatever is inferred from all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.errors import MachineError
from aegis_provider.ledger.rows import LEFT_OUT, Shown
from aegis_provider.plan.model import Plan
from aegis_provider.privacy import CRITERIA, Classes, SensitiveCounts, breaks, measure_privacy
from aegis_provider.table.engine import bounded, quoted
from aegis_sdk.reading import number, shown

PERSON: Final = "high, low"
"""Whose a row is."""


@dataclass(frozen=True)
class Composition:
    """The privacy of a join.

    Attributes:
        reached: The value of each promised criterion in the worst class of the join.
        broken: The names of those that break the promise.
        below: How many people are in classes that break it.
        certain: How many are in classes where some release shows one value of a sensitive attribute only.
        known: Whether the table of the last release has anybody of the others, shown or not.
    """

    reached: Mapping[str, int | float]
    broken: tuple[str, ...]
    below: int
    certain: int
    known: bool

    def in_words(self, label: str, plan: Plan) -> str:
        """Return what the attack on a label, or on the only one (empty), finds: `smoker: k = 2 for 28 people`."""
        one, several = ("record", "records") if plan.person is None else ("person", "people")
        of = f"{self.below:,} {one if self.below == 1 else several}"
        worst = ", ".join(f"{name} = {number(self.reached[name], 3)}" for name in self.broken)
        sensitive = [name for name in plan.sensitive if not label or name == label or name not in plan.labels]
        certain = f"{' or '.join(map(shown, sensitive or [label]))} of {self.certain:,} certain"
        found = ", ".join([f"{worst} for {of}"] * bool(worst) + [certain] * bool(self.certain))
        return f"{shown(label)}: {found}" if label else found

    def is_worse(self, before: Self) -> bool:
        """Return whether it breaks more of the promise than the join of what left before, by people or by how much."""
        lower = any(
            self.reached[name] < before.reached[name]
            if CRITERIA[name].at_least
            else self.reached[name] > before.reached[name]
            for name in self.broken
            if name in before.reached
        )
        return bool(self.broken) and (lower or self.below > before.below or self.certain > before.certain)


def composed(
    releases: Sequence[Path | pa.Table],
    promises: Sequence[Mapping[str, float]],
    *,
    of_people: bool,
    memory_limit: str = "1GB",
) -> Composition:
    """Measure the join of the rows of releases.

    Args:
        releases: The rows of each, or the file with them.
        promises: The promised privacy of each, by name, which its records keep in the join, too. What no table shows is
            left out.
        of_people: Whether people can have several records.
        memory_limit: The memory limit of DuckDB, which spills the rest to disk.

    Raises:
        MachineError: Memory or disk do not suffice.
    """
    with joined(releases, of_people=of_people, memory_limit=memory_limit) as join:
        return join.composition(join.judged(promises))


@contextmanager
def joined(releases: Sequence[Path | pa.Table], *, of_people: bool, memory_limit: str) -> Iterator["Join"]:
    """Join the rows of releases, as for `composed`.

    Raises:
        MachineError: Memory or disk do not suffice.
    """
    try:
        connection = duckdb.connect(":memory:")
        with bounded(connection, memory_limit):
            yield Join(connection, releases, of_people=of_people)
    except duckdb.Error as error:
        raise MachineError(f"the releases in the ledger cannot be joined: {error}") from error


@dataclass(frozen=True, eq=False)
class JudgedClasses:
    """The classes of a join.

    Attributes:
        reached: The value of each promised criterion in the worst of them.
        faults: The names of those that break a promise.
        broken: (classes,) Which break it.
        certain: (classes,) Of which some release shows one value of a sensitive attribute only.
    """

    reached: Mapping[str, int | float]
    faults: tuple[str, ...]
    broken: NDArray[np.bool_]
    certain: NDArray[np.bool_]


class Join:
    """The join of releases in DuckDB: `joined` has a row for each record, `classes` one for each class judged last.

    Attributes:
        run: The connection.
        columns: The names of the columns with the classes of a record, one for each release.
        kinds: The sensitive columns of each release, and whether the values of each have an order.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, releases: Sequence[Path | pa.Table], *, of_people: bool
    ) -> None:
        self.run = connection
        self._distinct = "DISTINCT" if of_people else ""
        self.kinds = [Shown.of(each).sensitive for each in releases]
        for n, each in enumerate(releases):
            if isinstance(each, Path):
                connection.execute(f"CREATE TEMP VIEW r{n} AS FROM read_parquet({quoted(str(each))})")
            else:
                connection.register(f"r{n}", each)
        self.columns = tuple(f"c{n}" for n in range(len(releases)))
        self._listed = ", ".join(self.columns)
        if of_people:
            self._list_several()
        # DuckDB drops its copy of the files' rows once they are joined.
        self._keep("joined", self._joined())

    def keyed(self, n: int) -> str:
        """Return the rows of a release, `record` being what tells the records of a person apart in the whole join.

        Whoever never had several is known with changed values, too. From the release on in which somebody has several,
        each is known by its values; the one of before by the values that it had first. So what later releases show
        changes no class of earlier ones.
        """
        if not self._distinct:
            return f"r{n}"
        record = f"CASE WHEN since IS NULL THEN 0 WHEN since <= {n} THEN record ELSE first END"
        return f"(SELECT * REPLACE ({record} AS record) FROM r{n} LEFT JOIN known USING ({PERSON}))"  # noqa: S608 - own names

    def _list_several(self) -> None:
        """List as `known` who has several records: since which release, and what tells the first one apart."""
        releases = range(len(self.kinds))
        many = " UNION ALL ".join(
            f"SELECT {PERSON}, {n} AS n FROM r{n} GROUP BY {PERSON} HAVING min(record) <> max(record)"  # noqa: S608
            for n in releases
        )
        self._keep("several", f"SELECT {PERSON}, min(n) AS since FROM ({many}) GROUP BY {PERSON}")  # noqa: S608
        rows = " UNION ALL ".join(
            f"SELECT {PERSON}, since, record, {n} AS n FROM r{n} JOIN several USING ({PERSON})"  # noqa: S608
            for n in releases
        )
        first = f"SELECT {PERSON}, since, arg_min(record, n) AS first FROM ({rows}) GROUP BY {PERSON}, since"  # noqa: S608
        self._keep("known", first)

    def _keep(self, name: str, query: str) -> None:
        self.run.execute(f"CREATE TEMP TABLE {name} AS {query}")

    def _joined(self) -> str:
        parts, columns = [], []
        for n, kinds in enumerate(self.kinds):
            own = [f"class AS c{n}", *(f"s{s} AS v{n}_{s}" for s in range(len(kinds)))]
            # A record that is left out is in no class, as one that the table did not have.
            known = f"{self._distinct} {PERSON}, record"
            parts.append(f"(SELECT {known}, {', '.join(own)} FROM {self.keyed(n)} WHERE class >= 0)")  # noqa: S608 - own names
            columns += [f"coalesce(c{n}, {LEFT_OUT})::INT AS c{n}", *(f"v{n}_{s}" for s in range(len(kinds)))]
        join = parts[0] + "".join(f" FULL JOIN {part} USING ({PERSON}, record)" for part in parts[1:])
        return f"SELECT {PERSON}, record, {', '.join(columns)} FROM {join}"  # noqa: S608 - own names

    def judged(self, promises: Sequence[Mapping[str, float]], table: str = "joined") -> JudgedClasses:
        """Judge the classes of these rows of the join, each by the promises of the releases that show it."""
        self.run.execute(
            "CREATE OR REPLACE TEMP TABLE classes AS SELECT row_number() OVER () - 1 AS id, * FROM "  # noqa: S608 - own names
            f"(SELECT {self._listed}, count(*) AS n FROM (SELECT {self._distinct} {PERSON}, {self._listed} "
            f"FROM {table}) GROUP BY {self._listed})"
        )
        found = self._fetched("SELECT * FROM classes ORDER BY id")
        sizes = found["n"].to_numpy().astype(np.int64)
        broken, certain = np.zeros(len(sizes), dtype=np.bool_), np.zeros(len(sizes), dtype=np.bool_)
        reached: dict[str, int | float] = {}
        faults: set[str] = set()
        for n, stated in enumerate(promises):
            promise = {name: limit for name, limit in stated.items() if CRITERIA[name].is_measured}
            mine = np.flatnonzero(found[f"c{n}"].to_numpy() != LEFT_OUT)
            if not len(mine):
                continue
            classes = self._classes(n, sizes, mine, table)
            for name, value in measure_privacy(classes, list(promise)).items():
                worse = min if CRITERIA[name].at_least else max
                reached[name] = worse(reached.get(name, value), value)
            broken[mine] |= breaks(classes, promise)
            faults |= {name for name, limit in promise.items() if breaks(classes, {name: limit}).any()}
            if classes.sensitive:
                certain[mine] |= CRITERIA["l"].by_class(classes) == 1
        return JudgedClasses(reached, tuple(name for name in CRITERIA if name in faults), broken, certain)

    def composition(self, judged: JudgedClasses) -> Composition:
        """Return the privacy of the whole join, which was judged last."""
        *before, last = range(len(self.kinds))
        others = " UNION ALL ".join(f"SELECT {PERSON} FROM r{n}" for n in before)  # noqa: S608 - own names
        alike = f"SELECT 1 FROM r{last} SEMI JOIN ({others}) AS others USING ({PERSON}) LIMIT 1"  # noqa: S608 - own names
        known = bool(before) and len(self._fetched(alike)) > 0
        below, certain = self._people(judged.broken), self._people(judged.certain)
        return Composition(judged.reached, judged.faults, below, certain, known=known)

    def _classes(self, n: int, sizes: NDArray[np.int64], mine: NDArray[np.intp], table: str) -> Classes:
        """Return the classes of the join whose records are in a release, with its sensitive values."""
        places = np.full(len(sizes), -1)
        places[mine] = np.arange(len(mine))
        sensitive = {}
        for s, (name, ordered) in enumerate(self.kinds[n]):
            cells = self._fetched(
                f"SELECT id, v, count(*) AS n FROM (SELECT {self._distinct} {PERSON}, {self._listed}, v{n}_{s} AS v "  # noqa: S608
                f"FROM {table} WHERE c{n} >= 0) JOIN classes USING ({self._listed}) GROUP BY id, v ORDER BY id, v"
            )
            whole = self._fetched(
                f"SELECT v, count(*) AS n FROM (SELECT {self._distinct} {PERSON}, s{s} AS v FROM r{n}) "  # noqa: S608
                "GROUP BY v ORDER BY v"
            )
            values = np.searchsorted(whole["v"].to_numpy(), cells["v"].to_numpy())
            people = self._fetched(f"SELECT count(*) AS n FROM (SELECT {self._distinct} {PERSON} FROM r{n})")  # noqa: S608
            sensitive[name] = SensitiveCounts(
                places[cells["id"].to_numpy()],
                values,
                cells["n"].to_numpy().astype(np.int64),
                whole["n"].to_numpy().astype(np.int64),
                ordered,
                int(people["n"][0].as_py()),
            )
        return Classes(sizes[mine], sensitive)

    def _people(self, marked: NDArray[np.bool_]) -> int:
        """Return how many people are in these classes."""
        if not marked.any():
            return 0
        self.run.register("marked", pa.table({"id": np.flatnonzero(marked)}))
        people = self._fetched(
            f"SELECT count(*) AS n FROM (SELECT DISTINCT {PERSON} FROM joined JOIN classes USING ({self._listed}) "  # noqa: S608
            "WHERE id IN (SELECT id FROM marked))"
        )
        return int(people["n"][0].as_py())

    def _fetched(self, query: str) -> pa.Table:
        return self.run.sql(query).to_arrow_table()
