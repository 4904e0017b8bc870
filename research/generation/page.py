"""The text around the figures: what they are of, how they were made, and where the paper's numbers conflict."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from research.generation import releases
from research.generation.converging import iterations
from research.generation.drawing import paragraph, sentence
from research.generation.measured import Budget, Measured
from research.generation.tables import ADULT
from research.report import Section, table

PAPER_RECORDS: Final = 45_000
PAPER_TARGETS: Final = 325
MISSING: Final = "?"

WITHOUT_ADULT: Final = """\
**Only the example is drawn**: Adult is not part of the repository. `make evaluate-synth adult=FOLDER` draws both, given
the folder with `adult.csv` (the file `adult.data` of the UCI repository with a header line)."""


HEAD: Final = """\
# Generated tables: the figures of the paper

Bagad et al. (*Data-Sharing Economy: Value-Addition from Data meets Privacy*, WSDM 2021) share a table that a
Wasserstein GAN generated, with a knob for privacy and one for value. This page draws their figures with
[`aegis synth generate`](../../docs/generation.md) and says which claims hold. `make evaluate-synth` writes it."""


def head(results: Sequence[Measured], budget: Budget) -> str:
    """Return the title, and what the page is for."""
    looks = [one.releases[name].looks[-1:] for one in results for name in releases.WGAN]
    least, most = (choose(iterations(each)[0] for each in looks) for choose in (min, max))
    budgeted = paragraph(f"""\
        **Trainings are short**: at most {budget.seconds:g} seconds each, on two cores, which is {least:,} to {most:,}
        iterations. The paper's figure 3 shows more than 5,000. Intervals (95 %) say what other records would
        change, not another training.""")
    adult = any(each.table.name == ADULT for each in results)
    return "\n\n".join([HEAD, budgeted] if adult else [HEAD, budgeted, WITHOUT_ADULT])


def method(results: Sequence[Measured]) -> Section:
    """Say what the releases are and what they were made of."""
    rows = [
        [
            each.table.name,
            f"{each.table.records:,}",
            f"{each.table.learnt_from:,}",
            each.table.plan.label,
            each.table.secret,
            ", ".join(each.table.plan.quasi_identifiers),
        ]
        for each in results
    ]
    text = f"""\
At most 20,000 records of each table are drawn, and those with half of the combinations of attributes are held out for
tests of models and attacks. A tenth of the others selects the best model of a training.

{table(("table", "records", "learnt from", "label", "secret", "quasi-identifiers, which have privacy weights"), rows)}

{_releases()}"""
    return Section("How it was done", text)


def _releases() -> str:
    positions = releases.WGAN.items()
    knobs = "; ".join(f"*{name}* with privacy {each.privacy:g}, value {each.value:g}" for name, each in positions)
    lines = (
        f"""**`wgan-gp`** is the paper's generator: {knobs}. All quasi-identifiers count fully for privacy;
        attributes count for value by saliency. *The knobs* shows other positions.""",
        f"""**`cart`** and **`mbi`** are the other methods of `aegis synth generate`; **{releases.PRIVATE}** is `mbi`
        with that budget.""",
        f"""**{releases.K_ANONYMOUS}** and **{releases.T_CLOSE}** (of the secret) are masked: of the configurations of
        a plan that reach this, the one that keeps most by `joint`, with at most
        {releases.SUPPRESSED_AT_MOST:.0%} of the records left out.""",
    )
    return "\n".join(f"* {sentence(each)}" for each in lines)


def conflicts(adult: Path | None) -> Section:
    """List the numbers of the paper that conflict, beside what is measured on Adult."""
    lines = [
        sentence("""
            **Signs.** Read literally, the two terms reward what the text says they penalise
            ([decision 44](../../docs/decisions/HISTORY.md#44)). The signs here follow the text."""),
        "**Epsilon = 3** has no unit, and neither has the distance: see figure 2, right.",
    ]
    if adult is not None:
        lines = [*_of_adult(adult), *lines]
    return Section("Where the paper's numbers conflict", "\n".join(f"* {line}" for line in lines))


def _of_adult(file: Path) -> list[str]:
    with file.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    return [_of_records(rows), _of_race([row["race"] for row in rows])]


def _of_records(rows: Sequence[Mapping[str, str]]) -> str:
    complete = sum(MISSING not in row.values() for row in rows)
    return sentence(f"""\
        **Records.** The paper says that Adult has {PAPER_RECORDS:,} records and that 1 % of them are {PAPER_TARGETS};
        1 % of {PAPER_RECORDS:,} are {PAPER_RECORDS // 100}. The training file of Adult has {len(rows):,} records, of
        which 1 % are {len(rows) / 100:.1f}; {complete:,} of them have no missing value. Both files have
        45,222 without.""")


def _of_race(races: Sequence[str]) -> str:
    counts, records = Counter(races).most_common(), len(races)
    (first, most), (second, next_most) = counts[:2]
    by_frequency = sum((count / records) ** 2 for _, count in counts)
    return sentence(f"""\
        **Race.** The paper says that two values of race are dominant, so that a random guess is right for close to
        50 %. In the training file, {most / records:.1%} of the records are {first} and {next_most / records:.1%}
        {second}: one value is dominant. Always guessing {first} is right for {most / records:.1%}, guessing by the
        frequencies for {by_frequency:.1%}, each of the {len(counts)} values equally often for {1 / len(counts):.0%}.
        Only a guess of either {first} or {second}, equally often, comes close to the paper's number:
        {(most + next_most) / records / 2:.1%}.""")


def limits_of_page(results: Sequence[Measured], budget: Budget) -> Section:
    """List what not to conclude."""
    text = f"""\
* Each release, and each position of the knobs, is from one training.
* Trainings are short ({budget.seconds:g} seconds). A longer one may be worth more, and may copy more.
* No model, knob or plan of a masked rival is tuned. The paper does not say by which hierarchies its rivals were made.
* Attacks that fail prove nothing about others; `aegis risk --against` tries more ([attacks](../../docs/attacks.md)).
* The figures compare {len(results)} table{"s" if len(results) > 1 else ""}; nothing follows for others."""
    return Section("What this does not say", text)
