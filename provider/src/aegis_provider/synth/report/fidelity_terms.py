"""What the measures of value and fidelity mean, for people who decide by them."""

from typing import Final

from aegis_provider.report.model import Term, Terms

TERMS: Final = Terms(
    [
        Term(
            "Kept",
            "the AUC above chance of a model that is trained on the release, as a share of that of the same model "
            "trained on as many real records. Both are tested on the same real records.",
        ),
        Term(
            "Real records",
            "the same measure between real records and other real ones, which is what can be hoped for. A release that "
            "is much nearer to real records probably repeats them.",
        ),
        Term(
            "Shuffled",
            "the same for the release with each column in an order of its own, which tells how frequent values are and "
            "no more.",
        ),
        Term(
            "Clustering agreement",
            "whether records fall into the same groups by clusters of the release as by clusters of real records: the "
            "adjusted Rand index, 1 for the same groups and 0 for as many in common as by chance.",
        ),
        Term(
            "Difference of associations",
            "how far the release is off in how strongly two columns are associated: by Cramér's V, from 0 to 1, "
            "corrected for the bias of few records, with numbers in groups.",
        ),
        Term(
            "Pair total variation",
            "the share of the records that would have to change for two columns to have the same frequencies together; "
            "the mean over each two columns.",
        ),
        Term(
            "Fréchet distance",
            "how far the means and the covariances of all columns are from the real ones; 0 if they are equal.",
        ),
    ]
)
