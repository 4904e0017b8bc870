"""What suppressing records, suppressing cells and microaggregating numbers keep of a table at equal k.

python -m research.suppression --adult ../shared/data/adult     writes its page (10 minutes)
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import IntArray
from aegis_advisor.measures.association import trace_bias
from aegis_provider import NothingHoldsError, Plan, Requirement, find_configurations, load_plan, open_table
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.plan.model import DROP, Configuration, Roles
from aegis_provider.privacy import PrivacyTable
from aegis_provider.privacy.cells import MaskedRecords, costs_of, suppress
from aegis_provider.release.blocks import places_of
from research.credit_cards import credit_cards, write
from research.report import shortened
from research.training import classifier_of, quality, splits_of
from tests import example

KS = (5, 10)
MOST = 30
SPLITS = 5
SINGULAR = 1e-9
TRAINED = ("logistic regression", "gradient boosting")
PAGE = Path("research/results/suppression.md")

HEAD = """\
# What suppression keeps

A release can keep its promise by masking more coarsely, by leaving out records, or by suppressing single cells of these
records (`aegis plan cells`). Numbers can become means of groups (`microaggregate`) instead of intervals.
`python -m research.suppression` (after `make research`) compares these ways at the same k on three tables and writes
this page: the health example, Adult (UCI, 1996) and the made-up credit cards of `research.credit_cards`. Each has 7 to
9 quasi-identifiers, whose numbers have one to three maskings by intervals that nest, or groups of 10, 100, 1,000 and
4,000 records.

* **method**: which records the configuration may suppress at most, and whether wholly or by cells. Of the 30
  configurations that the search prefers, the one is shown whose release keeps most by the measure `joint`.
* **cells**: suppressed cells, with their share of all cells of the release.
* **joint kept**: the adjusted trace of the release, `*` as a value of its own, as a share of the whole table's.
* **AUC**: the mean of logistic regression and gradient boosting over 5 random halves. Models are trained on what is
  released of one half, and tested on all records of the other half, masked, with nothing suppressed.

Nearly always, a fine configuration that suppresses cells of up to a fifth of the records keeps most, and hardly a
record is left out. Means of groups keep more than intervals in some rows and less in others. Each row is the best of
few configurations, so it can have less than a row that allows less.

| table | method | k | records left out | cells suppressed | joint kept | AUC |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
"""

HEALTH = """
label: health
attributes:
  visits: {type: integer, maskings: NUMBERS[1, 4, 12]}
  coinsurance: {type: integer, hierarchy: {tree: {insured: {free: [0], part: [25, 50]}, hardly: {most: [95, 100]}}}}
  deductible_plan: {}
  incentive_payment: {type: number, maskings: NUMBERS[1, 200, 450, 700]}
  max_expenditure: {type: number, maskings: NUMBERS[1, 500, 1000]}
  physical_limitation: {}
  chronic_diseases: {type: number, maskings: NUMBERS[5, 10, 20]}
"""

ADULT = """
label: income
attributes:
  age: {type: integer, maskings: NUMBERS[20, 25, 30, 35, 45, 55, 65]}
  education_num: {type: integer, maskings: NUMBERS[9, 10, 13, 14]}
  hours_per_week: {type: integer, maskings: NUMBERS[35, 40, 41, 50]}
  capital_gain: {type: integer, maskings: NUMBERS[1, 5000, 10000]}
  marital_status: {maskings: {m1: {mapping: {Married-civ-spouse: yes, Married-AF-spouse: yes}, other: no}}}
  relationship: {}
  race: {maskings: {r1: {mapping: {White: White}, other: other}}}
  sex: {}
  workclass: {maskings: {w1: {mapping: {Private: Private}, other: other}}}
"""

CREDIT = """
label: default
attributes:
  limit: {type: integer, maskings: NUMBERS[50000, 100000, 200000, 500000]}
  sex: {}
  education: {maskings: {e1: {mapping: {1: "1", 2: "2", 3: "3"}, other: other}}}
  marriage: {maskings: {m1: {mapping: {1: "1", 2: "2"}, other: other}}}
  age: {type: integer, maskings: NUMBERS[25, 30, 35, 40, 50, 60]}
  delay_0: {type: integer, maskings: NUMBERS[1, 2, 3]}
  delay_1: {type: integer, maskings: NUMBERS[1, 2, 3]}
  delay_2: {type: integer, maskings: NUMBERS[1, 2, 3]}
"""


@dataclass(frozen=True)
class Method:
    """A way to keep a promise: the share of records it may suppress, by cells or wholly, and what numbers become."""

    name: str
    share: float
    cells: bool
    means: bool


METHODS = (
    Method("nothing suppressed", 0.0, cells=False, means=False),
    Method("records, at most 1 %", 0.01, cells=False, means=False),
    Method("records, at most 5 %", 0.05, cells=False, means=False),
    Method("cells of at most 5 %", 0.05, cells=True, means=False),
    Method("cells of at most 20 %", 0.2, cells=True, means=False),
    Method("means, records at most 5 %", 0.05, cells=False, means=True),
    Method("means, cells of at most 5 %", 0.05, cells=True, means=True),
)


@dataclass(frozen=True, eq=False)
class Release:
    """A release, record by record.

    Attributes:
        masked: (records, attributes) the codes of the masked values, before anything is suppressed.
        released: (records, attributes) the same with a code of its own for each suppressed cell.
        shown: (records,) which records are not left out.
        cells: How many cells are suppressed.
    """

    masked: IntArray
    released: IntArray
    shown: NDArray[np.bool_]
    cells: int

    def joint(self, classes: IntArray) -> float:
        """Return what all attributes together tell about the label: Pillai's trace, adjusted for chance."""
        return adjusted_trace(self.released[self.shown], classes[self.shown])

    def auc(self, classes: IntArray) -> float:
        """Return the mean AUC of models trained on what is released of one half, tested on the other half, masked."""
        scores = []
        with threadpool_limits(1):
            for train, test in splits_of(classes, SPLITS):
                own = train[self.shown[train]]
                for name in TRAINED:
                    model = classifier_of(name).fit(self.released[own], classes[own])
                    scores.append(quality(classes[test], model.predict_proba(self.masked[test]))[1])
        return float(np.mean(scores))


def adjusted_trace(columns: IntArray, classes: IntArray) -> float:
    """Return Pillai's trace of the regression of the label on all values of the columns, less what chance adds.

    It is the measure `joint` of the advisor, computed from records.
    """
    values = OneHotEncoder(dtype=np.float64).fit_transform(columns)
    labels = np.eye(int(classes.max()) + 1)[classes]
    records = len(classes)
    means, shares = np.asarray(values.mean(axis=0)).ravel(), labels.mean(axis=0)
    spread = (values.T @ values).toarray() - records * np.outer(means, means)
    shared = values.T @ labels - records * np.outer(means, shares)
    own = labels.T @ labels - records * np.outer(shares, shares)
    inverses = (np.linalg.pinv(each, rcond=SINGULAR, hermitian=True) for each in (spread, own))
    trace = float(np.trace(next(inverses) @ shared @ next(inverses) @ shared.T))
    dimensions = values.shape[1] - columns.shape[1]
    return trace - trace_bias(trace, dimensions, len(own) - 1, float(records))


@dataclass(frozen=True, eq=False)
class Records:
    """A counted table, record by record."""

    plan: Plan
    counted: CountedTable
    privacy: PrivacyTable
    rows: DistinctRecords

    @classmethod
    def of(cls, counted: CountedTable, plan: Plan) -> "Records":
        """Read the records."""
        known = {each.attribute.name: each.domain for each in counted.attributes}
        domains = tuple(known.get(name, counted.label) for name in plan.columns)
        texts = pa.Table.from_batches(counted.table.batches(list(plan.columns))).combine_chunks()
        codes = [
            places_of(column.combine_chunks().cast(pa.string()), domain.places)
            for column, domain in zip(texts.columns, domains, strict=True)
        ]
        rows = DistinctRecords(plan.columns, domains, np.stack(codes, axis=1), np.ones(len(texts), dtype=np.int64))
        return cls(plan, counted, PrivacyTable.of(counted, plan), rows)

    @property
    def classes(self) -> IntArray:
        """(records,) The codes of the label."""
        return self.rows.codes[:, -1]

    def release(self, configuration: Configuration, k: int, *, cells: bool) -> Release:
        """Return the release by a configuration that promises k."""
        chosen = replace(configuration, suppressed_cells=0 if cells else None)
        mappings = self.privacy.mappings_of(chosen)
        names = tuple(name for name in self.plan.quasi_identifiers if chosen.maskings[name] != DROP)
        view = MaskedRecords(self.rows, mappings, (Roles(names, ()),))
        found = suppress(view, {"k": k}, costs_of(self.counted, chosen))
        codes = [self.rows.codes[:, self.rows.columns.index(name)] for name in names]
        masked = np.stack([mappings[n][c] if n in mappings else c for n, c in zip(names, codes, strict=True)], axis=1)
        released = masked.copy()
        released[found.places] = np.where(found.stars, masked.max(axis=0) + 1, released[found.places])
        shown = np.ones(len(masked), dtype=np.bool_)
        shown[found.places[found.left_out]] = False
        return Release(masked, released, shown, found.cells)


def best(records: Records, table: Path, method: Method, k: int) -> Release | None:
    """Return the release of a method that tells most about the label, of up to 30 configurations."""
    try:
        found = find_configurations(table, records.plan, Requirement({"k": k}, method.share), most=MOST)
    except NothingHoldsError:
        return None
    releases = [records.release(each, k, cells=method.cells) for each in found.configurations if _shares(each)]
    return max(releases, key=lambda each: each.joint(records.classes))


def _shares(configuration: Configuration) -> bool:
    return any(choice != DROP for choice in configuration.maskings.values())


def plan_of(text: str, folder: Path, *, means: bool) -> Plan:
    """Return the plan with intervals between the numbers given, or with means instead."""
    written = re.sub(r"NUMBERS\[(.*?)\]", lambda found: _means() if means else _intervals(found[1].split(", ")), text)
    path = folder / "plan.yaml"
    path.write_text(written, encoding="utf-8")
    return load_plan(path, configurations_needed=False)


def _intervals(edges: Sequence[str]) -> str:
    """Three maskings that nest: all edges, every second one, the middle one."""
    cuts = dict.fromkeys([tuple(edges), tuple(edges[1::2]), (edges[len(edges) // 2],)])
    named = (f"i{n}: {{bucketize: {{edges: [-.inf, {', '.join(each)}, .inf]}}}}" for n, each in enumerate(cuts))
    return f"{{{', '.join(named)}}}"


def _means() -> str:
    return f"{{{', '.join(f'm{size}: {{microaggregate: {{size: {size}}}}}' for size in (10, 100, 1000, 4000))}}}"


def rows_of(name: str, table: Path, text: str) -> Iterator[str]:
    """Yield the lines of a table, method by method."""
    with TemporaryDirectory() as place, open_table(table) as opened:
        plans = {means: plan_of(text, Path(place), means=means) for means in (False, True)}
        read = {means: Records.of(CountedTable.of(opened, plan), plan) for means, plan in plans.items()}
        whole = read[False].release(_unmasked(plans[False]), 1, cells=False)
        told = whole.joint(read[False].classes)
        yield _row(name, "as it is", 1, whole, read[False].classes, told)
        for k in KS:
            for method in METHODS:
                release = best(read[method.means], table, method, k)
                if release is not None:
                    yield _row(name, method.name, k, release, read[False].classes, told)


def _unmasked(plan: Plan) -> Configuration:
    return Configuration("raw", {each.name: "identity" for each in plan.attributes}, {}, 0)


def _row(name: str, method: str, k: int, release: Release, classes: IntArray, told: float) -> str:
    left_out, cells = int((~release.shown).sum()), release.cells
    starred = cells / release.released.size
    kept = release.joint(classes) / told
    cell = (name, method, str(k), f"{left_out:,}", f"{cells:,} ({starred:.1%})", f"{kept:.1%}")
    line = f"| {' | '.join(cell)} | {release.auc(classes):.3f} |"
    print(line, file=sys.stderr, flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", type=Path, required=True, help="the folder with adult.csv")
    arguments = parser.parse_args()
    with TemporaryDirectory() as place:
        cards = Path(place) / "cards.csv"
        write(credit_cards(), cards)
        tables = {
            "health": (example.TABLE, HEALTH),
            "adult": (arguments.adult / "adult.csv", ADULT),
            "credit cards": (cards, CREDIT),
        }
        lines = [line for name, (table, text) in tables.items() for line in rows_of(name, table, text)]
    PAGE.write_text(shortened(PAGE, f"{HEAD}{chr(10).join(lines)}\n"), encoding="utf-8")


if __name__ == "__main__":
    main()
