"""Chooses which records of a release are held back, so that its join with what left before keeps all promises.

The people of a class of what left before are in one or several classes of the join: one for each class of the new
release, and one of those whose records it does not show. Too few in one of them, who came, left or changed, are told
apart by the difference of the releases. So

* records of a class that breaks a promise are held back, and
* where too few are not shown, others of the same class of what left before are held back, too: no more than needed, in
  the proportions of their sensitive values, and from classes that can spare them.

Each class of what left before is a matter of its own, so no other has to be looked at again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Final, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.ledger.composition import PERSON, Join, joined
from aegis_provider.ledger.rows import LEFT_OUT

MOST_HELD_BACK: Final = 0.1
"""The largest share of the records of a release that is held back; more would be another table."""


def most_held_back(records: int) -> int:
    """Return how many records a release of so many holds back at most."""
    return ceil(MOST_HELD_BACK * records)


_BY_NUMBER: Final = {"k", "l"}
"""Criteria that a person more meets; for others, those who are held back grow by a quarter each time."""


@dataclass(frozen=True, eq=False)
class HeldBack:
    """The records of a release that are held back.

    Attributes:
        records: (records,) Which they are, in the order of the table.
        shown: How many records the release shows without holding any back.
        people: How many people they are of; `None` if records are people.
    """

    records: NDArray[np.bool_]
    shown: int
    people: int | None = None

    @classmethod
    def of(cls, rows: pa.Table, records: NDArray[np.bool_], *, of_people: bool) -> Self:
        """Return those of the rows of a release."""
        whose = np.stack([rows[name].to_numpy()[records] for name in ("high", "low")], axis=1)
        shown = int(np.count_nonzero(rows["class"].to_numpy() != LEFT_OUT))
        return cls(records, shown, len(np.unique(whose, axis=0)) if of_people else None)

    @property
    def number(self) -> int:
        """How many they are."""
        return int(np.count_nonzero(self.records))

    @property
    def share(self) -> float:
        """Their share of the records that the release would show."""
        return self.number / max(1, self.shown)

    @property
    def digest(self) -> str:
        """Tells other records from these; empty if there are none."""
        return sha256(np.packbits(self.records).tobytes()).hexdigest() if self.number else ""

    def within(self, rows: pa.Table) -> pa.Table:
        """Return the rows of the release with these records in no class."""
        classes = np.where(self.records, np.int32(LEFT_OUT), rows["class"].to_numpy())
        return rows.set_column(rows.schema.get_field_index("class"), "class", pa.array(classes))

    def in_words(self) -> str:
        """Return a sentence with exact numbers; empty if there are none."""
        if not self.number:
            return ""
        of = "" if self.people is None else f" of {self.people:,} people"
        records = f"{self.number:,} record{'s' * (self.number != 1)}{of}"
        return f"{records} {'are' if self.number != 1 else 'is'} held back {UNTIL}"


UNTIL: Final = "until enough of a kind can be shown beside what left before"
SOME_HELD_BACK: Final = f"some records are held back {UNTIL}"
"""What a published card says of them, without a number."""


def held_back(
    left: Sequence[Path | pa.Table],
    rows: pa.Table,
    promises: Sequence[Mapping[str, float]],
    *,
    of_people: bool,
    memory_limit: str = "1GB",
) -> NDArray[np.bool_]:
    """(records,) Return which records of a release to hold back.

    Args:
        left: The rows of what left before, or the files with them.
        rows: The rows of the release.
        promises: The promised privacy of each, and of the release, by name.
        of_people: Whether people can have several records.
        memory_limit: The memory limit of DuckDB.

    Raises:
        MachineError: Memory or disk do not suffice.
    """
    placed = rows.append_column("place", pa.array(np.arange(len(rows), dtype=np.int32)))
    held = np.zeros(len(rows), dtype=np.bool_)
    with joined([*left, placed], of_people=of_people, memory_limit=memory_limit) as join:
        held[_Holding(join, promises).places()] = True
    return held


class _Holding:
    """The rows of the join, called `affected`, whose classes of what left before have one that breaks a promise."""

    def __init__(self, join: Join, promises: Sequence[Mapping[str, float]]) -> None:
        *before, self._now = join.columns
        self._join, self._promises, self._before = join, promises, ", ".join(before)
        self._k = int(max(promise.get("k", 1) for promise in promises))
        others = {name for each in promises for name in each} - _BY_NUMBER
        self._growth = "n // 4" if others else "1"
        labels = [f"v{n}_0" for n in reversed(range(len(before))) if join.kinds[n]]
        self._label = f"coalesce({', '.join(labels)}, -1)" if labels else "-1"

    def places(self) -> NDArray[np.int32]:
        """Return the places of the records that are held back."""
        run, now = self._join.run, self._now
        self._mark("joined")
        run.execute(
            f"CREATE TEMP TABLE affected AS SELECT *, {now} AS was, {self._label} AS label FROM joined "  # noqa: S608 - own names
            f"WHERE ({self._before}) IN (SELECT ({self._before}) FROM bad)"
        )
        while self._mark("affected") and (self._hold("bad", f"{self._before}, {now}") or self._hold_others()):
            pass
        n = len(self._promises) - 1
        found = run.sql(
            f"SELECT place FROM {self._join.keyed(n)} JOIN "  # noqa: S608 - own names
            f"(SELECT DISTINCT {PERSON}, record FROM affected WHERE was >= 0 AND {now} < 0) USING ({PERSON}, record)"
        )
        places: NDArray[np.int32] = found.to_arrow_table()["place"].to_numpy()
        return places

    def _mark(self, table: str) -> bool:
        """Judge the classes of a table; list those that break a promise as `bad`, and return whether there are any."""
        broken = self._join.judged(self._promises, table).broken
        self._join.run.register("marked", pa.table({"id": np.flatnonzero(broken)}))
        self._join.run.execute("CREATE OR REPLACE TEMP TABLE bad AS SELECT * FROM classes JOIN marked USING (id)")
        return bool(broken.any())

    def _hold(self, listed: str, columns: str) -> bool:
        """Hold back the rows that agree with a list in these columns; return whether there are any."""
        update = (
            f"UPDATE affected SET {self._now} = {LEFT_OUT} "  # noqa: S608 - own names
            f"WHERE {self._now} >= 0 AND ({columns}) IN (SELECT ({columns}) FROM {listed})"
        )
        [(rows,)] = self._join.run.execute(update).fetchall()
        return bool(rows)

    def _hold_others(self) -> bool:
        """Hold back others of the classes of what left before of which too few people are not shown.

        Those who go first have a sensitive value that is not among these yet; then all values go in proportion. A class
        spares who is more than `k`; if that does not suffice, its smallest one is held back whole.
        """
        before, now = self._before, self._now
        whose = f"{before}, {PERSON}"
        self._join.run.execute(f"""
            CREATE OR REPLACE TEMP TABLE chosen AS
            WITH short AS (
                SELECT {before}, n, greatest({self._k} - n, {self._growth}, 1) AS need FROM bad
                WHERE {now} < 0 AND greatest({before}, {LEFT_OUT}) >= 0),
            gone AS (
                SELECT {whose}, min(label) AS label FROM affected JOIN short USING ({before})
                WHERE {now} < 0 GROUP BY ALL),
            values AS (SELECT {before}, label, count(*) AS gone FROM gone GROUP BY ALL),
            people AS (
                SELECT {whose}, {now}, n, need, min(label) AS label FROM affected JOIN short USING ({before})
                WHERE {now} >= 0 GROUP BY ALL),
            counted AS (
                SELECT people.*, coalesce(values.gone, 0) AS gone,
                    row_number() OVER (PARTITION BY {before}, label ORDER BY {PERSON}, {now}) AS turn,
                    count(*) OVER (PARTITION BY {before}, label) AS many,
                    count(*) OVER (PARTITION BY {before}, {now}) AS size,
                    ({whose}) IN (SELECT ({whose}) FROM gone) AS is_gone
                FROM people LEFT JOIN values USING ({before}, label)),
            shared AS (
                SELECT *, CASE WHEN gone = 0 AND turn = 1 AND (many > 1 OR n >= {self._k}) THEN 0
                    ELSE (gone + turn - 0.5) / (gone + many) END AS share
                FROM counted),
            spared AS (
                SELECT *, NOT is_gone AND row_number() OVER (
                    PARTITION BY {before}, {now} ORDER BY is_gone, share, {PERSON}) <= size - {self._k} AS spare
                FROM shared),
            ordered AS (
                SELECT *, count(*) FILTER (spare) OVER (PARTITION BY {before}) AS spares,
                    row_number() OVER (PARTITION BY {before} ORDER BY spare DESC, share, {PERSON}, {now}) AS place,
                    first_value({now}) OVER (PARTITION BY {before} ORDER BY size, {now}) AS smallest
                FROM spared)
            SELECT {whose}, {now} FROM ordered
            WHERE CASE WHEN spares >= need THEN spare AND place <= need ELSE {now} = smallest END
            """)  # noqa: S608 - own names
        return self._hold("chosen", f"{whose}, {now}")
