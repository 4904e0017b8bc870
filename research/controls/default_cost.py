"""What protecting by default costs: how much worse advice on rounded entries is, on every real table.

python -m research.controls.default_cost --adult ../shared/data/adult       prints its section of the page
"""

import argparse
import csv
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import orjson
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray
from aegis_advisor.evidence import associations_of, evidence_of, pairs_of
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from aegis_provider import Configuration, LastingRandomness, Plan, document_of, load_plan, prepare_entry
from aegis_provider.plan.model import IDENTITY
from aegis_sdk.wire import EntryDocument
from app.entries.api.uploads import read_publication
from app.entries.model.configurations import unpack_configurations
from app.entries.model.documents import entry_in
from research import credit_cards, real_tables
from research.controls.learners import Learners
from research.controls.noise import Entry
from research.drawn_plans import drawn_plan
from research.evaluation.outcomes import levels
from research.report import figure_of, table
from research.study import Study, Table

REPETITIONS = 5

MEASURES = ("mutual_information", "joint", "joint_interactions")
COLUMNS = ("table", "records", "measure", "Spearman lost, mean", "largest", "AUC lost, mean", "largest", "seconds")

TEXT = """\
## The default on every real table

Each real table of the [evaluation](evaluation.md), with its 30 configurations, was summarised with pairs: once with
`--exact`, and {repetitions} times by default. So were Adult (the census table of UCI, the 30,162 records without
missing values, with drawn maskings; every other configuration shares attributes as they are instead of by their finest
masking) and the made-up credit cards of `research/credit_cards.py`, with a plan written by hand whose steps of amounts
are so fine that pairs of them have fewer records than cells. Spearman and AUC are as above, by each measure; `seconds`
are those of a default summary. With fewer records rounding weighs more: pair counts of a few hundred records are mostly
below the base, and joint measures lose most. There, ask by mutual information, or choose `--exact` if the table may be
published so.

{table}"""


@dataclass(frozen=True)
class Prepared:
    """An entry as the service reads it: utilities of its configurations by measure, and the seconds to make it."""

    entry: Entry
    utilities: Mapping[str, FloatArray]
    seconds: float


def main() -> None:
    """Measure every table and print its rows."""
    threadpool_limits(1)  # as workers do
    print(default_section(adult_option(__doc__)))


def adult_option(description: str | None) -> Path:
    """Read the command's only option: the folder with Adult, which is not in the repository."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", type=Path, required=True, help="the folder with adult.csv")
    folder: Path = parser.parse_args().adult
    return folder


def default_section(adult: Path) -> str:
    """Return the section of the page on what the default costs, given the folder of Adult."""
    studies = (real_tables.health(), *real_tables.took_part(), *real_tables.held_out(), _adult(adult), _credit_cards())
    return TEXT.format(repetitions=REPETITIONS, table=table(COLUMNS, [row for each in studies for row in _rows(each)]))


def _adult(folder: Path) -> Study:
    """Return the complete records of Adult without the sampling weight, which is nearly unique."""
    with (folder / "adult.csv").open(newline="", encoding="utf-8") as file:
        header, *records = [row for row in csv.reader(file) if row and "?" not in row]
    columns = dict(zip(header, np.array(records).T, strict=True))
    label = columns.pop("income")
    del columns["fnlwgt"]
    adult = Table("adult", "census records; label: income", "UCI Machine Learning Repository", columns, label)
    return Study.of(adult, _with_unmasked(drawn_plan(adult, seed=1)))


def _with_unmasked(plan: Plan) -> Plan:
    """Share attributes as they are, instead of by their finest masking, in every other configuration."""
    finest = {each.name: each.maskings[0].id for each in plan.attributes}

    def unmasked(one: Configuration) -> Configuration:
        maskings = {name: IDENTITY if used == finest[name] else used for name, used in one.maskings.items()}
        return replace(one, maskings=maskings)

    configurations = (unmasked(one) if place % 2 else one for place, one in enumerate(plan.configurations))
    return replace(plan, configurations=tuple(configurations))


def _credit_cards() -> Study:
    columns = {name: column.astype(str) for name, column in credit_cards.credit_cards().items()}
    label, plan = columns.pop(credit_cards.LABEL), load_plan(credit_cards.PLAN)
    shared = {each.name: columns[each.name] for each in plan.attributes}
    cards = Table("credit cards", "made-up customers; label: default", "research/credit_cards.py", shared, label)
    return Study.of(cards, plan)


def _rows(study: Study) -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory(prefix="aegis-evaluation-") as directory:
        path = Path(directory) / "table.csv"
        study.table.write(path, study.plan.label)
        exact = _prepared(study, path, exact=True)
        drawn = [_prepared(study, path, exact=False) for _ in range(REPETITIONS)]
    learners = Learners(study)
    for measure in MEASURES:
        orders = [1 - float(spearmanr(exact.utilities[measure], each.utilities[measure]).statistic) for each in drawn]
        picks = [_lost(exact, each, measure, learners) for each in drawn]
        seconds = np.median([each.seconds for each in drawn])
        figures = (np.nanmean(orders), np.nanmax(orders), np.mean(picks), np.max(picks))
        named = [study.name, str(study.table.records), measure]
        yield [*named, *(figure_of(float(each)) for each in figures), f"{seconds:.1f}"]


def _prepared(study: Study, path: Path, *, exact: bool) -> Prepared:
    began = perf_counter()
    entry = prepare_entry(path, study.plan, name="table", pairs=True, exact=exact, chance=LastingRandomness()).entry
    seconds = perf_counter() - began
    return Prepared(*_read(entry), seconds)


def _read(entry: EntryDocument) -> tuple[Entry, Mapping[str, FloatArray]]:
    """Read an entry as the service does; a refused entry ends the benchmark."""
    document = document_of(entry)
    content = read_publication(orjson.dumps(document)).content
    evidence = evidence_of(entry_in(document))
    configurations = unpack_configurations(content.configuration_table, content.outline)
    references = [reconstruct(each) for each in evidence]
    names = tuple(each.name for each in evidence)
    found = {}
    for measure in MEASURES:
        question = Question(
            measure, names, np.full(len(names), 1 / len(names)), bias_correction=measure != "mutual_information"
        )
        ranking = recommend(
            evidence,
            references,
            configurations.codes,
            configurations.options,
            question,
            pairs=tuple(pairs_of(entry_in(document)).values()),
            associations=tuple(associations_of(entry_in(document)).values()),
        ).ranking
        found[measure] = np.empty(len(ranking))
        found[measure][ranking.index] = ranking.utility
    return Entry(evidence, configurations, found[MEASURES[0]]), found


def _lost(exact: Prepared, drawn: Prepared, measure: str, learners: Learners) -> float:
    """Return the AUC that the picks by rounded counts lose against those by exact ones: the mean over the questions."""
    before, after = exact.utilities[measure], drawn.utilities[measure]
    lost = []
    for question in levels(before.size):
        best, pick = (int(question[utilities[question].argmax()]) for utilities in (before, after))
        lost.append(learners.auc(exact.entry, best) - learners.auc(exact.entry, pick))
    return float(np.mean(lost))


if __name__ == "__main__":
    main()
