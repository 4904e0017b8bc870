"""What a release tells beyond nothing, as one number for each measure."""

import pytest

from aegis_provider.synth.transfer import told_by
from aegis_sdk.wire import Holdout, Transfer
from tests.for_each import for_each
from tests.generated import told

HOLDOUT = Holdout(records=100, majority_error=0.7)
TRANSFER = Transfer.model_validate(told(0.3, 0.1, 0.6, 0.45))


@for_each(
    ("measure", "expected"),
    [
        ("joint", (0.45, 0.40, 0.50)),
        ("mutual_information", (0.2, 0.15, 0.25)),
        ("chi_square", (0.4, 0.35, 0.45)),
        ("g3", (0.05, 0.0, 0.1)),  # errors 0.6 and 0.7, where knowing nothing makes 0.7
    ],
)
def test_attributes_count_alike_and_fewer_errors_tell_more(measure, expected):
    assert told_by(TRANSFER, HOLDOUT, measure) == pytest.approx(expected)


def test_what_is_not_declared_is_not_told():
    assert told_by(Transfer(), HOLDOUT, "joint") is None
    assert told_by(Transfer(), HOLDOUT, "g3") is None
