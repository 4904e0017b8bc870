"""What was trained on."""

from collections.abc import Sequence

from bench.evaluation.effectiveness import Outcome
from bench.evaluation.report import Section, table
from bench.evaluation.sections import held_out, made_up, took_part
from bench.evaluation.tables.rounding import STEPS

COLUMNS = ("table", "records", "attributes", "classes", "maskings", "configurations", "k", "AUC, worst to best")


def section(outcomes: Sequence[Outcome]) -> Section:
    """The tables, where they come from, and how far their configurations are apart."""
    text = f"""
{table(COLUMNS, [_row(each) for each in outcomes])}

Real tables come with the Python packages that the evaluation installs; nothing is fetched. Numbers of more than
{STEPS} distinct values are rounded down to fortieths of their range, so that every attribute has a finite domain.
The last column is the lowest and the highest mean AUC of the configurations: what there is to lose.

{_list(took_part(outcomes))}

Held out of every choice, see [how it was done](#how-it-was-done):

{_list(held_out(outcomes))}

Made-up tables turn one property at a time; all else stays as it is.

{_list(made_up(outcomes))}

**Maskings.** The health example has its own plan. Elsewhere numbers are masked by intervals: an eighth, a quarter and a
half of the values, which nest, and 3 and 7 values, which nest in nothing; categories by merging two, then four of them,
and by merging three, which nests in neither. Attributes of few values may be coded. Any attribute may be dropped; none
is left unmasked. **Configurations** are drawn, without a look at the label, from hardly masked to hardly anything left,
and kept from every stratum of privacy: by k, measured in the data (the smallest group of records that agree on all
masked attributes), then by the number of such groups. With many attributes k is 1 even where masking is coarse.
"""
    return Section("The tables", text)


def _row(outcome: Outcome) -> list[str]:
    study = outcome.study
    ks = study.configurations.privacy["k"]
    numbers = (
        study.table.records,
        len(study.evidence),
        int(study.classes.max()) + 1,
        sum(len(one.maskings) for one in study.evidence),
        len(study.configurations.ids),
    )
    apart = f"{outcome.auc.min():.3f} to {outcome.auc.max():.3f}"
    return [study.name, *(f"{number:,}" for number in numbers), f"{ks.min():.0f} to {ks.max():.0f}", apart]


def _list(outcomes: Sequence[Outcome]) -> str:
    tables = [each.study.table for each in outcomes]
    return "\n".join(f"* **{one.name}**: {one.about} ({one.source})." for one in tables)
