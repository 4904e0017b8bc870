"""Whether the advice held, in every case."""

from dataclasses import replace

from aegis_provider.check import NOTHING, RAW, CheckResult, Interval, Performance
from aegis_provider.cli.check import as_document, report
from tests.for_each import for_each

LINEAR, BOOSTED = "logistic regression", "gradient boosting"


def performance(table, model, auc, to_winner=None, error=0.01):
    limits = Interval(auc, auc - error, auc + error)
    apart = None if to_winner is None else Interval(to_winner, to_winner - error, to_winner + error)
    return Performance(table, model, limits, limits, None, apart)


def result(*performances, configurations=("c1", "c2", "c3"), unfinished=()):
    return CheckResult(
        label="y",
        configurations=configurations,
        performances=performances,
        unfinished=dict(unfinished),
        seconds=45.0,
        folds=5,
        records=100,
        of_records=100,
        classes=2,
        rare={},
        left_out={},
    )


WINNER = performance("c1", LINEAR, 0.70)


@for_each(
    ("performances", "held", "told"),
    [
        ([performance("c2", LINEAR, 0.65, -0.05)], True, "the advice held: c1 has the highest AUC"),
        ([performance("c2", LINEAR, 0.70, 0.0)], True, "the advice held: c1 has the highest AUC"),
        (
            [performance("c2", LINEAR, 0.705, 0.005), performance("c3", LINEAR, 0.6, -0.1)],
            True,
            "the advice held within chance: with logistic regression, c2 has a slightly higher AUC than c1, by 0.0050",
        ),
        (
            [performance("c2", LINEAR, 0.7004, 0.0004, error=0.0003), performance("c3", LINEAR, 0.6, -0.1)],
            True,
            "the advice held within 0.005, which is too little to matter: with logistic regression, c2 has a slightly",
        ),
        (
            [performance("c2", LINEAR, 0.705, 0.005, error=0.001)],
            False,
            "the advice did not hold: c2 has a higher AUC than c1, by 0.0050 (0.0040 to 0.0060), with logistic",
        ),
        (
            [performance("c2", LINEAR, 0.65, -0.05), performance("c3", BOOSTED, 0.73, 0.03)],
            False,
            "the advice did not hold: c3 has a higher AUC than c1, by 0.0300 (0.0200 to 0.0400), with gradient",
        ),
        (
            [performance("c2", LINEAR, 0.75, 0.05, error=0.06), performance("c3", LINEAR, 0.73, 0.03)],
            False,
            "the advice did not hold: c3 has a higher",
        ),
    ],
)
def test_it_says_whether_the_advice_held(performances, held, told):
    found = result(WINNER, *performances)
    assert (found.held, found.verdict.startswith(told)) == (held, True), found.verdict


def test_a_higher_auc_that_does_not_matter_says_why():
    chance, little = (
        result(WINNER, performance("c2", LINEAR, 0.7, 0.0004, error=error)).verdict for error in (0.01, 0.0003)
    )
    assert chance.startswith("the advice held within chance: ")
    assert little.startswith("the advice held within 0.005, which is too little to matter: ")


def test_neither_raw_nor_nothing_is_a_rival():
    found = result(performance(RAW, LINEAR, 0.9, 0.2), WINNER, performance(NOTHING, LINEAR, 0.5, -0.2))
    assert found.held is None
    assert "not known: the models were not trained within 45 seconds" in found.verdict


def test_of_one_configuration_nothing_can_be_said():
    found = result(WINNER, configurations=("c1",))
    assert (found.held, "name other configurations" in found.verdict) == (None, True)


def test_what_is_unfinished_limits_the_verdict():
    found = result(WINNER, performance("c2", LINEAR, 0.6, -0.1), unfinished={BOOSTED: (RAW, "c1", "c2", "c3")})
    assert found.verdict.endswith("of the configurations checked, of what was finished in time")


def test_the_best_model_is_the_one_that_is_best_on_the_table_as_it_is():
    found = result(performance(RAW, LINEAR, 0.70), performance("c1", LINEAR, 0.79), performance(RAW, BOOSTED, 0.75))
    assert (found.best_model, found.share("c1")) == (BOOSTED, None)


def test_how_it_was_tested_is_said():
    """Nothing where nothing is to be known; that it was chosen anew; and that 39 records of a label are few, 40 not."""
    plain = result(WINNER)
    assert plain.notes == replace(plain, fewest=40).notes == ()
    [anew] = replace(plain, chosen_anew=True).notes
    assert anew == "the search was repeated in each fold, without the labels of the records tested"
    [few] = replace(plain, fewest=39).notes
    assert "95 % intervals are slightly too narrow" in few
    assert few in report(replace(plain, fewest=39))
    assert as_document(replace(plain, fewest=39))["notes"] == [few]
