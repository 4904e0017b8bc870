"""What a model should reach, by the real service: against a trained one, and what others read of it."""

from dataclasses import asdict

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from aegis_advisor.expected import Expected
from tests.app.advice.test_joint_trace import credit_cards, entry_of, rows
from tests.app.advice.test_views import asked, guarded
from tests.service import publish


def trained(*columns):
    """The AUC of a model on held-out records."""
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    label = np.array(credit_cards()["default"])
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    return cross_val_score(model, np.stack(columns, axis=1), label, cv=folds, scoring="roc_auc").mean()


async def test_an_answer_says_what_a_model_should_reach(database_url, tmp_path):
    table = credit_cards()
    late, limit, age = (np.array(table[name]) for name in ("PAY_2", "LIMIT", "AGE"))
    entry = entry_of(tmp_path, "cards", exact=True) | {"visibility": "all"}
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, entry, **keys["owner"])
        owner, stranger = [
            (await asked(api, worker, keys[one], head["id"], measure="joint")).json() for one in ("owner", "stranger")
        ]
        other = (await asked(api, worker, keys["owner"], head["id"])).json()
    released = rows(owner)["released"]["expected"]
    assert released["auc"] == pytest.approx(trained(limit // 10, age // 10), abs=0.015)
    assert owner["expected"]["auc"] == pytest.approx(trained(late, limit, age), abs=0.02)
    assert released["low"] < released["auc"] < released["high"]
    assert "expected" not in stranger
    for name, row in rows(stranger).items():
        exact = rows(owner)[name]["expected"]
        # Of a table with one attribute it would be a number about that attribute alone.
        assert row["expected"] == (None if name == "worse" else asdict(Expected(**exact).in_two_digits))
    assert other["expected"] is None
    assert {row["expected"] for row in other["ranking"]} == {None}
