"""Print the risks that anonymeter finds, as JSON: run in its own environment with the CSV files that it compares."""

import json
import sys

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

real, control, released = (pd.read_csv(path) for path in sys.argv[1:4])
secret, attacks = sys.argv[4], int(sys.argv[5])
names = list(real.columns)
np.random.seed(0)  # noqa: NPY002 - what anonymeter draws from

evaluators = {
    "linkability": LinkabilityEvaluator(
        real, released, (names[::2], names[1::2]), n_attacks=attacks, n_neighbors=10, control=control
    ),
    "inference": InferenceEvaluator(
        real, released, [name for name in names if name != secret], secret, n_attacks=attacks, control=control
    ),
    "singling out": SinglingOutEvaluator(
        real, released, n_attacks=200, n_cols=4, control=control, max_attempts=20_000, seed=0
    ),
}
found = {}
for name, evaluator in evaluators.items():
    result = evaluator.evaluate(n_jobs=1) if name != "singling out" else evaluator.evaluate(mode="multivariate")
    rates, risk = result.results(), result.risk()
    found[name] = {
        "attack": list(rates.attack_rate),
        "baseline": list(rates.baseline_rate),
        "control": list(rates.control_rate),
        "risk": [risk.value, *risk.ci],
    }
json.dump(found, sys.stdout)
