"""The attacker expects of one attribute what the advisor does."""

import numpy as np

from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.expected import expect
from research.leakage.expectations import expectations


def test_models_of_one_attribute_are_expected_as_the_advisor_expects_them() -> None:
    draw, off = np.random.default_rng(4), []
    for labels in (2, 3):
        tables = np.stack([draw.multinomial(900, draw.dirichlet(np.full(5 * labels, 3.0))) for _ in range(12)])
        for table in (joints := tables.reshape(-1, 5, labels)):
            known = AttributeEvidence("a", 5, table.sum(axis=0), table.sum(axis=1), table, ())
            [told] = expect([known], [("identity",)], np.zeros((1, 1), dtype=np.int64), ())
            assert told is not None
            off.append((told.auc, told.accuracy))
        off[-12:] = np.abs(np.array(off[-12:]) - expectations(joints.astype(float)).T).tolist()
    assert np.max(off) < 0.005
    assert np.mean(off) < 0.0005
