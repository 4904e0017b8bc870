"""The attacks on releases together: with several labels, one on each, by somebody who knows all others.

A column that one release protects as a label is attacked in all, whatever it was there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from aegis_provider.counting.counts import Places
from aegis_provider.ledger.rows import LEFT_OUT, WHOSE, Shown
from aegis_provider.privacy.classes import renumbered

Rows: TypeAlias = Path | pa.Table
"""The rows of a release, or the file with them."""


@dataclass(frozen=True, eq=False)
class Attack:
    """An attack on releases.

    Attributes:
        label: The attacked label; empty where all releases have one, since it is what each says that it protects.
        releases: The rows of each release, in classes of what the attacker knows.
        promises: What each has to keep, by name: nothing where it does not protect the label.
    """

    label: str
    releases: list[Rows]
    promises: list[Mapping[str, float]]


def attacks_on(releases: Sequence[Rows], promises: Sequence[Mapping[str, float]]) -> Iterator[Attack]:
    """Yield the attacks on releases that promise this."""
    shown = [Shown.of(each) for each in releases]
    labels = tuple(dict.fromkeys(name for each in shown for name in each.labels))
    if len(labels) <= 1:
        yield Attack("", list(releases), list(promises))
        return
    for label in labels:
        protected = [label in each.labels or not each.labels for each in shown]
        own = [promise if is_kept else {} for promise, is_kept in zip(promises, protected, strict=True)]
        yield Attack(label, [against(rows, label) for rows in releases], own)


def against(release: Rows, label: str) -> pa.Table:
    """Return the rows of a release in the classes of somebody who knows all that it shows but this label."""
    rows: Any = pq.read_table(release) if isinstance(release, Path) else release
    shown = Shown.of(rows)
    own = [n for n, (name, _) in enumerate(shown.sensitive) if name == label or name not in shown.labels]
    own.sort(key=lambda n: shown.sensitive[n][0] != label)  # the first sensitive value decides who is held back
    columns = {name: rows[name] for name in rows.column_names if name in WHOSE}
    columns["class"] = pa.array(_classes(rows, shown, label))
    columns |= {f"s{place}": rows[f"s{n}"] for place, n in enumerate(own)}
    return replace(shown, sensitive=tuple(shown.sensitive[n] for n in own)).described(pa.table(columns))


def _classes(rows: pa.Table, shown: Shown, label: str) -> Places:
    """(records,) The class of each record by all that is known but the label."""
    is_known = label in shown.known
    columns = [f"q{n}" for n, name in enumerate(shown.known) if name != label] if is_known else ["class"]
    columns += [f"s{n}" for n, (name, _) in enumerate(shown.sensitive) if name in shown.labels and name != label]
    classes, many = np.zeros(len(rows), dtype=np.intp), 1
    for name in columns:
        values = rows[name].to_numpy() - LEFT_OUT  # from 0
        radix = 1 + int(values.max(initial=0))
        classes, many = renumbered(classes * radix + values, many * radix)
    return np.where(rows["class"].to_numpy() == LEFT_OUT, LEFT_OUT, classes).astype(np.int32)
