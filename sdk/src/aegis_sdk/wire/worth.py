"""Answers about what tables are worth: how well a model should do."""

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_WORTH


class Expected(Answer):
    """What a linear model should reach on records that it was not trained on, estimated from counts alone.

    It is the mean over five folds of all records, for masked values without an order: `auc` and `accuracy` of logistic
    regression, or `r2` and `rmse` of linear regression for a label that is a number.
    """

    auc: float | None = Field(
        default=None, description="AUC; of more than two classes the mean over the classes, each against the rest"
    )
    accuracy: float | None = Field(default=None, description="Share of records whose class it names")
    r2: float | None = Field(default=None, description="Share of the number's variance that it explains")
    rmse: float | None = Field(default=None, description="Root mean square error, in the number's unit")
    low: float = Field(description="Lower limit of the 90 % interval of `auc` or `r2`")
    high: float = Field(description="Upper limit of the 90 % interval of `auc` or `r2`")


class Worth(Answer):
    """What a model should reach for a label on the best table of an entry that promises at least this k."""

    label: str = Field(description="Name of the label, or the URI of its concept")
    k: float = Field(description="The least k, of people if the entry's `unit` says so")
    state: str = Field(
        description="`known`; `pending`: not computed yet; `unknown`: the counts do not tell; `failed`: its "
        "computation failed"
    )
    configuration: str | None = Field(default=None, description="Id of the best configuration; null: not known")
    masking: str | None = Field(
        default=None, description="Masking by which it shows the label; null: it shows the label as it is"
    )
    expected: Expected | None = Field(default=None, description="What a model should reach, to two digits")


class WorthList(Answer):
    """What the tables of an entry are worth."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [EXAMPLE_WORTH]}]})

    items: list[Worth] = Field(description="By label and by k: the k of searches, and those where the best changes")
