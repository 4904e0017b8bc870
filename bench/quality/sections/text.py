"""What stands around the figures: what the page is for, how it was made, and what it does not say."""

from collections.abc import Sequence

from aegis_advisor.measures import MEASURES
from bench.quality.losses import CONFIDENCE
from bench.quality.outcomes import Outcome
from bench.quality.rankers import DRAWS
from bench.quality.report import Section
from bench.quality.training import (
    BOOSTING,
    FOREST,
    ITERATIONS,
    MOST_TRAINED,
)

HEAD = """
# Does the advice hold up?

A provider may share a table masked in one of many ways. Aegis says which of them keeps most of what the table can
predict, from counts, without a record and without training a model. Why trust it? Because it can be tried: on tables
whose records we do have, we mask the table in every way, train models on each, and see how much better the best of them
is than the one that Aegis picked. This page is written by `make evaluate`, figures and plots included; nothing on it is
typed in. Seeds are fixed: a rerun gives the same tables and plots, but for times.
"""

RIVALS = """\
* **Mascara** (Poepsel-Lemaitre, Beedkar & Markl 2024) adds up, over the attributes, the KL divergence of the histogram
  from itself spread evenly within each masked value, in bits, times 1 and the share of records left out. It looks at no
  label, and the loss is the same whatever is to be predicted.
* **Sampling** is the other baseline of the paper, which does not say what is drawn: its draft leaves the description
  open and says that histograms are available to it. Here as many records as the table has are drawn, values by the
  attribute's histogram and labels by the label's, then masked and measured by mutual information. What such records
  tell of the label is chance alone. **Sampling in a view** makes more of what is known: masked value and label together
  by the counts of the attribute's finest masked table, then a value within the masked one by the histogram.
* **mRMR** (Peng, Long & Ding 2005) is the mutual information of the masked attributes with the label, less that with
  each other, from the same counts of pairs as the joint measure. It counts against an attribute all that it shares with
  others, be it about the label or not: an attribute of many values shares much, by chance if by nothing else.
* **Random choice** picks any configuration."""


def method(outcomes: Sequence[Outcome]) -> Section:
    """How tables are split, trained on and asked about, and how intervals are found."""
    text = f"""
For each table and each of its configurations the masked table is split at random into halves, with the shares of the
classes kept, {_splits(outcomes)}, the same for all configurations.
On one half, or {MOST_TRAINED:,} records of it, three models are trained, which the other half tests:

* logistic regression, one-hot, at most {ITERATIONS} iterations;
* a random forest of {FOREST["n_estimators"]} trees, at least {FOREST["min_samples_leaf"]} records in a leaf;
* histogram gradient boosting, {BOOSTING["max_iter"]} rounds, at most {BOOSTING["max_leaf_nodes"]} leaves.

Trees get codes in the order of the masked values, which they can cut as often as they need; one-hot columns would only
make them deeper. Results are accuracy and AUC (macro average of one class against the rest). That is **exhaustive
training**: it picks the best for each model, and loses nothing by definition.

A **question** is which of some configurations to take. Each table is asked about three times: of all configurations,
of the more private two thirds, and of the most private third, as if a consumer had to have that much privacy. With all
of them to choose from, the finest is hard to miss; among the private ones it matters which attributes are kept. (That
was found in a first run, which asked about all of them only, and led to the three questions and to maskings that differ
more; it was so settled before the joint measure took part.)

A **ranker** gives each configuration a utility, and picks the best. Aegis is asked with each of its {len(MEASURES)}
measures, and with some also less the bias of small samples, or without that correction where it is the default.
**Published** is the algorithm of the paper read literally: each masking is measured against a reconstruction of its
own, with randomised rounding. Rivals see what their papers let them see. **Random choice** picks any. The published
algorithm and the sampling rivals draw at random: each ranks with {DRAWS} seeds, and what is told of it is the mean
(scores and ties are those of the first seed). Ties of Aegis are broken as in use, by mutual information, then by the
order of the configurations; a rival that ranks several best picks any of them with the same probability. Summaries are
those of the whole table, as they are published.

**Intervals** are over the splits of one table. Random halves of a table overlap, so that what is found on them is not
independent, and the usual t interval is far too narrow. Here it is that of the corrected resampled t (Nadeau & Bengio
2003, *Inference for the generalization error*, Machine Learning 52): over *J* splits the variance of a mean is
(1/*J* + *n*test / *n*train) *s*², with Student's t of *J* - 1 degrees of freedom, and the numbers of records that were
tested and trained on. So many more splits would make it hardly narrower. Every verdict below is by that interval.

**Held out.** That `joint` is corrected for its bias by default was settled after trying estimators on wine, diabetes,
breast cancer, digits, affairs, election and health, with configurations drawn otherwise and three splits, and on a
first form of this evaluation, with all of its tables. What it finds on these is therefore somewhat too good. Three real
tables were added afterwards, which had no part in any choice: schools, travel and iris. They are reported apart. They
are small: nothing else that comes with the packages and suits has more than 500 records. They were split six times at
first, for the sake of time, and as often as the others of their size only after their results were known.
"""
    return Section("How it was done", text)


def _splits(outcomes: Sequence[Outcome]) -> str:
    """How often the tables of the run were split."""
    tables: dict[int, list[str]] = {}
    for each in outcomes:
        tables.setdefault(each.splits, []).append(each.study.name)
    most, *others = sorted(tables, key=lambda number: -len(tables[number]))
    exceptions = "; ".join(f"{', '.join(tables[number])}: {number} times" for number in others)
    return f"{most} times ({exceptions})" if exceptions else f"{most} times"


def rivals() -> Section:
    """Who the rivals are."""
    return Section("The rivals", RIVALS)


def head(outcomes: Sequence[Outcome], *, short: bool) -> str:
    """The title and what the page is for; the short form says first that it is one."""
    title, about = HEAD.strip().split("\n\n", 1)
    return "\n\n".join([title, _warning(outcomes), about]) if short else HEAD


def _warning(outcomes: Sequence[Outcome]) -> str:
    splits = max(each.splits for each in outcomes)
    return f"**This is the short form ({len(outcomes)} tables, {splits} splits): its figures mean nothing.**"


def limits(outcomes: Sequence[Outcome]) -> Section:
    """What not to conclude."""
    by_chance = round((1 - CONFIDENCE) * len(outcomes))
    text = f"""
* Intervals say how far a figure depends on which records of a table were drawn, not how it would be on another table;
  for that, look along the tables. They are wide: *undecided* does not mean equal.
* "Best" is the configuration with the best mean over the same splits: with many near the top it is partly chance, and
  all rankers seem to lose a little more than they do.
* Tables are compared one by one: of {len(outcomes)} differences about {by_chance} would be beyond a 95 % interval by
  chance alone. The best measure in hindsight is more than anyone can have: it is chosen by what it is judged by.
* Configurations are drawn by rules of ours, and so is what they trade off; in the made-up tables it is drawn so that
  the property matters.
* Tables are small, the models are ordinary, with fixed settings: no model is tuned to a masked table.
"""
    return Section("What this does not say", text)
