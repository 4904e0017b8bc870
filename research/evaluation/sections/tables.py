"""The sections on the tables: what was trained on, and the results of every table."""

from collections.abc import Sequence
from itertools import groupby

from research.evaluation.outcomes import Effect, Outcome, held_out, made_up, took_part
from research.real_tables import STEPS
from research.report import Section, figure_of, link, table
from research.study import Table
from research.training import MODELS

TABLE_COLUMNS = ("table", "records", "attributes", "classes", "maskings", "configurations", "k", "AUC, worst to best")
LOSSES = (
    *(f"AUC lost, {model}" for model in MODELS),
    "AUC lost, mean",
    "against the best of each split",
    "accuracy lost, mean",
)
ORDERS = ("Spearman, AUC", "Spearman, accuracy")
EVERY_TABLE = "every-table.csv"


def section(outcomes: Sequence[Outcome]) -> Section:
    """Describe the tables, where they come from, and how far apart their configurations are."""
    text = f"""
{table(TABLE_COLUMNS, [_table_row(each) for each in outcomes])}

Real tables come with the Python packages that the evaluation installs. Columns of numbers with more than {STEPS}
distinct values are rounded down to fortieths of their range. The last column of the table has the lowest and the
highest mean AUC of the configurations: their difference is the most that a pick can lose.

{_list(took_part(outcomes))}

Held out of every choice, see [how it was done](#how-it-was-done):

{_list(held_out(outcomes))}

Made-up tables vary one property at a time and leave everything else unchanged.

{_families(made_up(outcomes))}

**Maskings.** The health example has its own plan. Elsewhere numbers are masked by intervals of an eighth, a quarter and
a half of the values, which nest, and of 3 and 7 values, which nest in nothing; categories by merging two, four, or
three. Any attribute may be dropped; none is left unmasked. **Configurations** are drawn without looking at the label,
and kept from every stratum of privacy: by k, then by the number of classes.
"""
    return Section("The tables", text)


def _table_row(outcome: Outcome) -> list[str]:
    study = outcome.study
    ks = study.configurations.privacy["k"]
    numbers = (
        study.table.records,
        len(study.evidence),
        int(study.classes.max()) + 1,
        sum(len(one.maskings) for one in study.evidence),
        len(study.configurations.ids),
    )
    reach = f"{outcome.auc.min():.3f} to {outcome.auc.max():.3f}"
    return [study.name, *(f"{number:,}" for number in numbers), f"{ks.min():.0f} to {ks.max():.0f}", reach]


def _list(outcomes: Sequence[Outcome]) -> str:
    tables = [each.study.table for each in outcomes]
    return "\n".join(f"* **{one.name}**: {one.about} ({one.source})." for one in tables)


def _families(outcomes: Sequence[Outcome]) -> str:
    """Describe one table of each family (names that differ only in the last word), and name the others."""
    tables = [each.study.table for each in outcomes]
    families = [list(family) for _, family in groupby(tables, lambda one: one.name.rpartition(" ")[0])]
    return "\n".join(map(_family, families))


def _family(tables: Sequence[Table]) -> str:
    first, *others = tables
    named = ", ".join(f"**{one.name}**" for one in others)
    return f"* **{first.name}**: {first.about}{f'; likewise {named}' if named else ''} ({first.source})."


def every_table(outcomes: Sequence[Outcome]) -> Section:
    """List what each ranker's pick loses with each model, with intervals, in a file (hundreds of rows)."""
    text = f"""\
{link(EVERY_TABLE, "A file")} has a row for each table and ranker: means over the models and the three questions,
each with the half-width of its 95 % interval over the splits.

* **against the best of each split**: mean AUC lost against the configuration that happens to be best in each split.
* **tied**: how many configurations share the ranker's best utility in each of the three questions; 1 means no tie."""
    measured = [words for name in (*LOSSES, *ORDERS) for words in (name, f"{name}: half-width")]
    rows = [_ranker_row(outcome, effect) for outcome in outcomes for effect in outcome.in_full]
    return Section(
        "Every table", text, details={EVERY_TABLE: [["table", "splits", "ranker", *measured, "tied"], *rows]}
    )


def _ranker_row(outcome: Outcome, effect: Effect) -> list[str]:
    losses = [
        *(effect.mean_loss("AUC", model) for model in MODELS),
        effect.mean_loss(),
        effect.loss_in_split(),
        effect.mean_loss("accuracy"),
    ]
    orders = [effect.spearman(), effect.spearman("accuracy")]
    return [
        outcome.study.name,
        str(outcome.splits),
        effect.entrant.title,
        *(figure_of(number) for each in losses for number in (each.mean, each.half_width)),
        *(figure_of(number, 2) for each in orders for number in (each.mean, each.half_width)),
        " / ".join(map(str, effect.tied)),
    ]
