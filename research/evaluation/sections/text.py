"""The text around the figures: what the page is for, how it was made, and what it does not say."""

from collections.abc import Sequence

from research.evaluation.outcomes import Outcome
from research.evaluation.rankers import DRAWS, RANKING
from research.losses import CONFIDENCE
from research.report import Section
from research.training import (
    BOOSTING,
    FOREST,
    ITERATIONS,
    MOST_TRAINED,
)

HEAD = """
# Does the advice hold up?

Aegis picks a masking from counts, without records or models. Here models are trained on tables masked in every way, to
see how much better the best masking is than the pick. `make evaluate` writes this page; seeds are fixed, so a rerun
gives the same tables and plots, except for times.
"""

RIVALS = """\
* **Mascara** (Poepsel-Lemaitre, Beedkar & Markl 2024) sums over the attributes the KL divergence, in bits, of the
  histogram from the same histogram spread evenly within each masked value, and multiplies the sum by 1 plus the share
  of records left out. It ignores the label.
* **Sampling** is the other baseline of the paper, which does not say what is drawn. Here it draws as many records as
  the table has, values by the attribute's histogram and labels by the label's, masks them and measures mutual
  information: chance alone. **Sampling in a view** draws masked value and label together by the counts of the
  attribute's finest masked table, then a value within the masked one by the histogram.
* **mRMR** (Peng, Long & Ding 2005) is the mutual information of the masked attributes with the label, minus that with
  each other, from the same counts of pairs as the joint measure.
* **Random choice** picks any configuration."""


_RANKERS_AND_INTERVALS = f"""\
A **ranker** gives each configuration a utility and picks the best. Aegis ranks with {len(RANKING)} of its measures,
all but those of labels with scores, where possible with and without the correction for bias. **Published** is the
algorithm of the paper read literally: each masking is measured against a reconstruction of its own, with randomised
rounding. Rivals see only the data that their papers give them. What is drawn at random ranks with {DRAWS} seeds
(scores and ties are those of the first). Aegis breaks ties by mutual information, then by the order of the
configurations; a rival picks any of its best ones. Counts are those of the whole table, as a provider would publish
them.

**Intervals** are over the splits of one table, which overlap, so they are those of the corrected resampled t (Nadeau &
Bengio 2003, *Inference for the generalization error*, Machine Learning 52): over *J* splits the variance of a mean is
(1/*J* + *n*test / *n*train) *s*², with Student's t of *J* - 1 degrees of freedom. Every outcome below uses them.

**Held out.** The default correction of `joint` was chosen after trying estimators on wine, diabetes, breast cancer,
digits, affairs, election and health, and after a first form of this evaluation. So the results on these tables are
somewhat too good. Schools, travel and iris were added afterwards and had no part in any choice. They are small, and
were split again, as often as others of their size, after their first results were known.
"""


def method(outcomes: Sequence[Outcome]) -> Section:
    """Explain how tables are split, trained on and asked about, and how intervals are computed."""
    text = f"""
Each table is split at random into two halves with the same shares of the classes,
{_splits(outcomes)}.
All configurations of a table have the same splits. Three models are trained on one half of the masked table (on
{MOST_TRAINED:,} records of it, if it has more) and tested on the other half:

* logistic regression, one-hot, at most {ITERATIONS} iterations;
* a random forest of {FOREST["n_estimators"]} trees, at least {FOREST["min_samples_leaf"]} records in a leaf;
* histogram gradient boosting, {BOOSTING["max_iter"]} rounds, at most {BOOSTING["max_leaf_nodes"]} leaves.

Trees get the masked values as codes in their order. Results are accuracy and AUC (macro average of one class against
the rest). This is **exhaustive training**: it loses nothing by definition.

A **question** asks which of some configurations to take. There are three for each table: about all configurations,
about the more private two thirds, and about the most private third.

{_RANKERS_AND_INTERVALS}"""
    return Section("How it was done", text)


def _splits(outcomes: Sequence[Outcome]) -> str:
    """Describe how often the tables of the run were split."""
    tables: dict[int, list[str]] = {}
    for each in outcomes:
        tables.setdefault(each.splits, []).append(each.study.name)
    most, *others = sorted(tables, key=lambda number: -len(tables[number]))
    exceptions = "; ".join(f"{', '.join(tables[number])}: {number} times" for number in others)
    return f"{most} times ({exceptions})" if exceptions else f"{most} times"


def rivals() -> Section:
    """Describe the rivals."""
    return Section("The rivals", RIVALS)


def head(outcomes: Sequence[Outcome], *, short: bool) -> str:
    """Return the title and the page's purpose; the short form begins with a warning that it is one."""
    title, about = HEAD.strip().split("\n\n", 1)
    return "\n\n".join([title, _warning(outcomes), about]) if short else HEAD


def _warning(outcomes: Sequence[Outcome]) -> str:
    splits = max(each.splits for each in outcomes)
    return f"**This is the short form ({len(outcomes)} tables, {splits} splits): its figures mean nothing.**"


def limits(outcomes: Sequence[Outcome]) -> Section:
    """List what not to conclude."""
    by_chance = round((1 - CONFIDENCE) * len(outcomes))
    text = f"""
* Intervals say what other records of the same table would change, not another table. *Undecided* does not mean equal.
* "Best" has the best mean over the same splits, partly by chance, so all rankers seem to lose a little more than they
  do.
* Tables are compared one by one: of {len(outcomes)} differences about {by_chance} would be beyond a 95 % interval by
  chance alone.
* Configurations are drawn by our own rules. Tables are small, and no model is tuned.
"""
    return Section("What this does not say", text)
