"""Print the distances that SynthEval finds, as JSON: run in its own environment with the CSV files that it compares."""

import json
import sys

import pandas as pd
from syntheval.metrics.privacy.metric_distance_closest_record import MedianDistanceToClosestRecord
from syntheval.metrics.privacy.metric_hitting_rate import HittingRate
from syntheval.metrics.privacy.metric_nn_distance_ratio import NearestNeighbourDistanceRatio

real, released = (pd.read_csv(path) for path in sys.argv[1:3])
categories = [name for name in real.columns if not pd.api.types.is_numeric_dtype(real[name])]
numbers = [name for name in real.columns if name not in categories]
codes = {name: {text: code for code, text in enumerate(sorted(set(real[name])))} for name in categories}
for each in (real, released):
    for name in categories:
        each[name] = each[name].map(codes[name]).astype(int)


def metric(kind):
    return kind(
        real, released, cat_cols=categories, num_cols=numbers, nn_dist="gower", do_preprocessing=False, verbose=False
    )


json.dump(
    {
        "dcr": metric(MedianDistanceToClosestRecord).evaluate()["mDCR"],
        "nndr": metric(NearestNeighbourDistanceRatio).evaluate()["avg"],
        "hits": metric(HittingRate).evaluate(thres_percent=0)["hit rate"],
    },
    sys.stdout,
)
