"""The made-up customers are as hard to publish safely as real ones, and tell as much about the default."""

import csv

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from research.credit_cards import LABEL, MONTHS, RECORDS, credit_cards, write

TABLE = credit_cards()


def test_it_has_23_attributes_and_a_label_of_which_a_fifth_is_a_default():
    assert len(TABLE) == 24
    assert {len(column) for column in TABLE.values()} == {RECORDS}
    assert 0.2 < TABLE[LABEL].mean() < 0.25


def test_most_bills_belong_to_one_customer_alone():
    for month in range(MONTHS):
        _, records = np.unique(TABLE[f"bill_{month}"], return_counts=True)
        assert (records == 1).sum() > 0.7 * RECORDS


def test_codes_are_skewed_down_to_a_few_records():
    rarest = {name: np.unique(column, return_counts=True)[1].min() for name, column in TABLE.items()}
    assert rarest["education"] < 100
    assert rarest["delay_0"] < 5


def test_the_attributes_tell_about_the_default():
    held = np.stack([column for name, column in TABLE.items() if name != LABEL], axis=1)
    half = RECORDS // 2
    model = DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(held[:half], TABLE[LABEL][:half])
    assert 0.7 < roc_auc_score(TABLE[LABEL][half:], model.predict_proba(held[half:])[:, 1]) < 0.8


def test_equal_arguments_give_equal_files(tmp_path):
    for name in ("a.csv", "b.csv"):
        write(credit_cards(50, seed=1), tmp_path / name)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["bill_0"]) for row in rows] == credit_cards(50, seed=1)["bill_0"].tolist()
