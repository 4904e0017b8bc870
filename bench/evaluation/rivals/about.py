"""The section on who the rivals are."""

from collections.abc import Sequence

from bench.evaluation.report import Section
from bench.evaluation.study import Study

TEXT = """\
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


def run(_studies: Sequence[Study], _short: bool) -> Section:  # noqa: FBT001 -- as all parts
    """The section, which is the same whatever the tables are."""
    return Section("The rivals", TEXT)
