"""An entry with masked and generated configurations, whose provider declares what each tells of held-out records."""

import copy
from typing import Any

from aegis_sdk.wire import EXAMPLE_GENERATED
from tests.service import example_entry


def figure(value: float, width: float = 0.05) -> dict[str, float]:
    """A figure with its interval."""
    return {"value": value, "low": round(value - width, 6), "high": round(value + width, 6)}


def transfer(age: dict[str, float], sex: dict[str, float], joint: float | None = None) -> dict[str, Any]:
    """Transfer utilities of the two attributes by measure, and of both together."""
    attributes = {
        name: {measure: figure(value) for measure, value in by_measure.items()}
        for name, by_measure in (("age", age), ("sex", sex))
        if by_measure
    }
    return {"attributes": attributes} | ({} if joint is None else {"joint": figure(joint)})


def told(age: float, sex: float, errors: float, joint: float | None = None) -> dict[str, Any]:
    """Transfer utilities by all measures; `errors` is g3 by age, and by sex nothing is gained."""
    return transfer(
        {"mutual_information": age, "chi_square": 2 * age, "g3": errors},
        {"mutual_information": sex, "chi_square": 2 * sex, "g3": 0.7},
        joint,
    )


def generated(name: str, **changes: Any) -> dict[str, Any]:
    """A generated configuration."""
    bare = copy.deepcopy(EXAMPLE_GENERATED) | {"id": name}
    return {member: value for member, value in (bare | changes).items() if value is not None}


def mixed_entry(**changes: Any) -> dict[str, Any]:
    """Two masked configurations, of which one declares nothing, between three generated ones, of which one does not."""
    entry = example_entry(format=2, name="mixed") | changes
    sex = {"id": "sex-2", "domain": ["f", "m"], "mapping": [0, 1], "joint": [[7, 12, 15, 8, 7], [8, 13, 15, 8, 7]]}
    entry["attributes"].append({"name": "sex", "type": "string", "domain": ["f", "m"], "maskings": [sex]})
    entry["holdout"] = {"records": 1_000, "unmasked": told(0.4, 0.1, 0.6, 0.5), "majority_error": 0.7}
    entry["configurations"] = [
        generated("g1", transfer=told(0.3, 0.05, 0.64, 0.42), privacy={"membership": 0.52}),
        {
            "id": "m1",
            "maskings": {"age": "age-2", "sex": "sex-2"},
            "privacy": {"k": 5, "membership": 0.55},
            "suppressed": 0,
            "transfer": told(0.2, 0.1, 0.65, 0.45),
        },
        {"id": "m2", "maskings": {"age": "age-2", "sex": "drop"}, "privacy": {"k": 7}},
        generated("g2", transfer=told(-0.1, 0.02, 0.72, -0.2), privacy={"epsilon": 1.0}, attacks={}, delta=1e-6),
        generated("g3", transfer=None, privacy=None, attacks={}),
    ]
    return entry
