"""The examples of the contract, which the models show in openapi.json."""

from typing import Any, Final

EXAMPLE_ENTRY: Final[dict[str, Any]] = {
    "format": 1,
    "name": "health-survey",
    "title": "Self-rated health",
    "description": "",
    "keywords": ["health"],
    "license": "CC0-1.0",
    "visibility": "private",
    "records": 100,
    "label": {"name": "health", "domain": ["VP", "P", "M", "G", "VG"], "histogram": [15, 25, 30, 16, 14]},
    "attributes": [
        {
            "name": "age",
            "type": "integer",
            "domain": ["10", "17", "43", "55", "60", "65", "75", "80"],
            "histogram": [4, 12, 4, 30, 20, 10, 10, 10],
            "maskings": [
                {
                    "id": "age-2",
                    "function": {"name": "bucketize", "parameters": {"edges": [10, 46, 81]}},
                    "domain": ["10-45", "46-80"],
                    "mapping": [0, 0, 0, 1, 1, 1, 1, 1],
                    "joint": [[0, 0, 1, 7, 12], [15, 25, 29, 9, 2]],
                }
            ],
        }
    ],
    "configurations": [
        {"id": "c01", "maskings": {"age": "age-2"}, "privacy": {"k": 5}, "suppressed": 0},
        {"id": "c02", "maskings": {"age": "drop"}},
    ],
}
"""The paper's table (its section 4.3) as an entry."""

EXAMPLE_NOISY_MASKING: Final[dict[str, Any]] = {
    "id": "age-2",
    "domain": ["10-45", "46-80"],
    "mapping": [0, 0, 0, 1, 1, 1, 1, 1],
    "noise": {"kind": "laplace", "scale": 2.0},
    "joint": [[-1, 2, 0, 6, 15], [13, 25, 30, 9, 0]],
}
"""A masking of that entry with noise in its counts."""

EXAMPLE_DRAWN_MASKING: Final[dict[str, Any]] = {
    "id": "age-rr",
    "domain": ["young", "old"],
    "transition": [*[[0.75, 0.25]] * 3, *[[0.25, 0.75]] * 5],
    "joint": [[4, 7, 8, 9, 10], [11, 18, 22, 7, 4]],
}
"""A random masking of that entry."""

EXAMPLE_PAIR: Final[dict[str, Any]] = {
    "attributes": ["age", "zip"],
    "maskings": ["age-2", "zip-3"],
    "joint": [[8, 7, 5], [22, 38, 20]],
    "with_label": {"chi_square": 73.5, "combinations": 6},
}
"""The masking `age-2` together with a masking of another attribute, which has three masked values."""

EXAMPLE_JOINT_TRACE: Final[dict[str, Any]] = {"value": 0.221, "rounded_to": 0.001}
"""The joint trace of a table with several attributes."""

EXAMPLE_TRANSFER: Final[dict[str, Any]] = {
    "attributes": {
        "age": {
            "mutual_information": {"value": 0.371, "low": 0.212, "high": 0.53},
            "chi_square": {"value": 0.482, "low": 0.301, "high": 0.663},
            "g3": {"value": 0.62, "low": 0.525, "high": 0.715},
        }
    },
    "joint": {"value": 0.482, "low": 0.301, "high": 0.663},
}
"""The transfer utilities of a release."""

EXAMPLE_HOLDOUT: Final[dict[str, Any]] = {
    "records": 100,
    "unmasked": EXAMPLE_TRANSFER,
    "majority_error": 0.7,
    "rounded_to": 0.001,
}
"""Held-out records with the transfer utilities of the real records."""

EXAMPLE_GENERATED: Final[dict[str, Any]] = {
    "id": "g01",
    "kind": "generated",
    "records": 90,
    "histogram": [14, 22, 27, 15, 12],
    "method": "wgan-gp",
    "weights": {"privacy": 5.0, "value": 1.0, "attributes": {"age": {"privacy": 1.0, "importance": 0.5}}},
    "privacy": {"reidentification": 0.08, "membership": 0.52},
    "attacks": {
        "reidentification": {"value": 0.061, "low": 0.045, "high": 0.078, "chance": 0.05},
        "membership": {"value": 0.503, "low": 0.489, "high": 0.517, "chance": 0.5},
    },
    "transfer": EXAMPLE_TRANSFER,
}
"""A generated configuration of that entry, which then has format 2 and a `holdout`."""

EXAMPLE_ADVICE_REQUEST: Final[dict[str, Any]] = {
    "measure": "mutual_information",
    "attributes": None,
    "weights": None,
    "require": {"k": 5},
    "reference": "pooled",
    "rounding_seed": None,
    "limit": 20,
    "bias_correction": None,
}

EXAMPLE_HEAD: Final[dict[str, Any]] = {
    "id": "0197f3a2-5c1e-7d60-8a51-3f0f9a6a2b11",
    "name": "health-survey",
    "title": "Self-rated health",
    "description": "",
    "keywords": ["health"],
    "license": "CC0-1.0",
    "terms": "sha256:7b0b1f9bb1a3c4f0f3c1b8a2d1e5f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d",
    "label": "health",
    "labels": ["health"],
    "tenant": "default",
    "visibility": "private",
    "version": 1,
    "digest": "sha256:0f7c3f2d9c1b5a6e8d4f7a2b3c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f",
    "created_at": "2026-03-01T12:00:00Z",
    "changed_at": "2026-03-01T12:00:00Z",
}

EXAMPLE_TERMS: Final[dict[str, Any]] = {
    "tenant": "default",
    "named": EXAMPLE_HEAD,
    "require": {"k": 5},
    "small_counts": "confirm",
    "min_cell": None,
    "require_noise": False,
    "max_epsilon": None,
    "sign_off": False,
    "max_bytes": 67108864,
}

EXAMPLE_WORTH: Final[dict[str, Any]] = {
    "label": "health",
    "k": 10,
    "state": "known",
    "configuration": "c17",
    "masking": None,
    "expected": {"auc": 0.7, "accuracy": 0.81, "r2": None, "rmse": None, "low": 0.69, "high": 0.71},
}

EXAMPLE_ADVICE: Final[dict[str, Any]] = {
    "id": "0197f3a2-7b42-7c0d-9e15-6a1d2c3b4e5f",
    "status": "succeeded",
    "view": "full",
    "entry": {"id": EXAMPLE_HEAD["id"], "version": 1, "digest": EXAMPLE_HEAD["digest"]},
    "stale": False,
    "request": EXAMPLE_ADVICE_REQUEST | {"bias_correction": False},
    "configuration": "c17",
    "about": "age in 8 bands, zip by 3 characters",
    "deviation": 0.00123,
    "tied": ["c17"],
    "considered": 60,
    "ranking_basis": "exact",
    "indistinguishable": ["c17", "c03"],
    "indistinguishable_count": 2,
    "ranking": [
        {
            "configuration": "c17",
            "about": "age in 8 bands, zip by 3 characters",
            "rank": 1,
            "utility_share": 0.97,
            "deviation_share": 0.03,
            "deviation": 0.00123,
            "utility": 0.0412,
            "standard_error": 0.0011,
            "difference_error": 0.0,
        }
    ],
    "attributes": [
        {
            "name": "age",
            "knowledge": "histogram",
            "reference_utility": 0.0901,
            "bound": "lower",
            "bound_value": 0.0901,
            "maskings": {
                "age-2": {
                    "kept": "all",
                    "utility": 0.0870,
                    "deviation": 0.0031,
                    "source": "counts",
                    "standard_error": 0.0028,
                }
            },
            "reconstruction": {
                "method": "closed_form",
                "atoms": 15,
                "iterations": 0,
                "residual": 0.0,
                "converged": True,
                "misfits": {},
            },
        }
    ],
    "unit": "bit",
    "model_version": "2",
    "created_at": "2026-03-01T12:00:05Z",
    "elapsed_ms": 3.1,
}

EXAMPLE_COARSE_ADVICE: Final[dict[str, Any]] = {
    **{name: EXAMPLE_ADVICE[name] for name in ("id", "status", "entry", "stale", "request", "configuration", "tied")},
    **{name: EXAMPLE_ADVICE[name] for name in ("considered", "ranking_basis", "indistinguishable")},
    **{name: EXAMPLE_ADVICE[name] for name in ("indistinguishable_count", "unit", "model_version", "created_at")},
    "view": "coarse",
    "about": EXAMPLE_ADVICE["about"],
    "ranking": [{"configuration": "c17", "rank": 1, "utility_share": 0.97, "deviation_share": 0.03}],
    "attributes": [
        {"name": "age", "maskings": {"age-2": {"kept": "all"}}},
        {"name": "sex", "maskings": {"drop": {"kept": "none"}}},
    ],
}

EXAMPLE_MEASURE: Final[dict[str, Any]] = {
    "id": "mutual_information",
    "unit": "bit",
    "better": "higher",
    "monotone": True,
    "formula": "sum P log2(P / (P_a P_y))",
    "guarantee": "exact",
    "reason": (
        "An f-divergence between the joint distribution and the product of its margins: merging values never raises it."
    ),
    "label_guarantee": "exact",
    "label_reason": (
        "An f-divergence between the joint distribution and the product of its margins: merging labels never raises it."
    ),
    "source": "Cover & Thomas 2006, Elements of information theory, equation 2.28",
    "bias_correction": True,
    "corrected_by_default": False,
}

EXAMPLE_PROBLEM: Final[dict[str, Any]] = {
    "type": "about:blank",
    "title": "Unprocessable Content",
    "status": 422,
    "detail": "The document breaks rules of the contract.",
    "instance": "/v1/entries",
    "code": "invalid_entry",
    "errors": [{"pointer": "/attributes/0/joint/3/1", "detail": "A count cannot be negative"}],
}
