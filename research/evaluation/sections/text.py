"""The text around the figures: what the page is for, how it was made, and what it does not say."""

from collections.abc import Sequence

from aegis_advisor.measures import MEASURES
from research.evaluation.outcomes import Outcome
from research.evaluation.rankers import DRAWS
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

A provider may share a table masked in one of many ways. Aegis says which of them keeps most of what the table can
predict. It needs only counts: it sees no record and trains no model. Why trust it? Because it can be tested. On tables
whose records we do have, we mask the table in every way, train models on each, and see how much better the best of them
is than the one that Aegis picked. `make evaluate` writes this page, figures and plots included; nothing on it is typed
by hand. Seeds are fixed: a rerun gives the same tables and plots, except for times.
"""

RIVALS = """\
* **Mascara** (Poepsel-Lemaitre, Beedkar & Markl 2024) sums over the attributes the KL divergence, in bits, of the
  histogram from the same histogram spread evenly within each masked value, and multiplies the sum by 1 plus the share
  of records left out. It ignores the label, so the loss is the same whatever is to be predicted.
* **Sampling** is the other baseline of the paper, which does not say what is drawn: its draft leaves the description
  open and says that histograms are available to it. Here it draws as many records as the table has, values by the
  attribute's histogram and labels by the label's. These are then masked and measured by mutual information. What such
  records tell about the label is chance alone. **Sampling in a view** uses more of what is known: it draws masked value
  and label together by the counts of the attribute's finest masked table, then a value within the masked one by the
  histogram.
* **mRMR** (Peng, Long & Ding 2005) is the mutual information of the masked attributes with the label, minus that with
  each other, from the same counts of pairs as the joint measure. It penalises everything that an attribute shares with
  others, whether it concerns the label or not. An attribute with many values shares much, if only by chance.
* **Random choice** picks any configuration."""


_RANKERS_AND_INTERVALS = f"""\
A **ranker** gives each configuration a utility and picks the best. Aegis ranks with each of its {len(MEASURES)}
measures. If a measure can be corrected for its bias in small samples, Aegis also ranks with the correction, or, where
the correction is the default, without it. **Published** is the algorithm of the paper read literally: each masking is
measured against a reconstruction of its own, with randomised rounding. Rivals see only the data that their papers give
them. **Random choice** picks any configuration. The published algorithm and the sampling rivals draw at random: each
ranks with {DRAWS} seeds, and the mean is reported (scores and ties are those of the first seed). Aegis breaks ties as
the service does, by mutual information, then by the order of the configurations. A rival with several best
configurations picks any of them with the same probability. Counts that a ranker gets are those of the whole table, as a
provider would publish them, not those of the training half.

**Intervals** are over the splits of one table. Random halves of a table overlap, so their results are not independent,
and the usual t interval is far too narrow. The intervals here are those of the corrected resampled t (Nadeau & Bengio
2003, *Inference for the generalization error*, Machine Learning 52). Over *J* splits the variance of a mean is (1/*J* +
*n*test / *n*train) *s*², with Student's t of *J* - 1 degrees of freedom, where *n*test and *n*train are the numbers of
records tested and trained on. So even many more splits would hardly make the interval narrower. Every verdict below
uses this interval.

**Held out.** The decision to correct `joint` for its bias by default was made after trying estimators on wine,
diabetes, breast cancer, digits, affairs, election and health, with configurations drawn differently and three splits.
It also rests on a first form of this evaluation, with all of its tables. So the results on these tables are somewhat
too good. Three real tables, which had no part in any choice, were added afterwards: schools, travel and iris. They are
reported separately. They are small: no other suitable table in the packages has more than 500 records. They were split
six times at first, to save time. After their results were known, they were split again, as often as other tables of
their size.
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

Trees get the masked values as codes in their order, and can cut these codes as often as they need; one-hot columns
would only make the trees deeper. Results are accuracy and AUC (macro average of one class against the rest). This is
**exhaustive training**: it picks the best configuration for each model, and loses nothing by definition.

A **question** asks which of some configurations to take. There are three for each table: about all configurations,
about the more private two thirds, and about the most private third, as if a consumer needed that much privacy. Among
all configurations, the finest is hard to miss; among the private ones, it matters which attributes are kept. (A first
run, which asked only about all configurations, showed this. It led to the three questions and to maskings that differ
more. Both were settled before the joint measure took part.)

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
* Intervals say how much a figure depends on which records of a table were drawn, not what it would be on another table;
  for that, compare the tables. They are wide: *undecided* does not mean equal.
* "Best" is the configuration with the best mean over the same splits. If many are near the top, this is partly chance,
  and all rankers seem to lose a little more than they do.
* Tables are compared one by one: of {len(outcomes)} differences about {by_chance} would be beyond a 95 % interval by
  chance alone. Nobody can use the best measure in hindsight: it is chosen by the results that it is judged by.
* Configurations, and so the trade-offs between them, are drawn by our own rules. In the made-up tables these make the
  property matter.
* Tables are small, and the models are ordinary ones with fixed settings: no model is tuned to a masked table.
"""
    return Section("What this does not say", text)
