"""Answers to draw: small ones in each view, made from a few numbers."""

from random import Random

from aegis_sdk.wire import EXAMPLE_COARSE_ADVICE, Advice, CoarseAdvice

ATTRIBUTES = {
    "chronic_diseases": (
        0.128424,
        {"identity": 0.0, "chronic_diseases-4": 0.0004, "chronic_diseases-16": 0.000922, "drop": 0.128424},
    ),
    "physical_limitation": (0.109604, {"identity": 0.0, "physical_limitation-1": 0.0131, "drop": 0.109604}),
    "incentive_payment": (0.01896, {"incentive_payment-80": 0.0051, "drop": 0.01896}),
    "visits": (0.018131, {"visits-2": 0.0021, "visits-8": 0.0113, "drop": 0.018131}),
}
WORDS = ((0.05, "none"), (0.35, "little"), (0.65, "some"), (0.95, "much"), (1.0, "all"))
HEAD = {
    **{name: EXAMPLE_COARSE_ADVICE[name] for name in ("id", "status", "entry", "created_at")},
    "ranking_basis": "estimated",
    "better": "higher",
    "unit": "bit",
}


def schema_of(ks, records=20_003, label="health"):
    """A schema whose configuration `c001`, `c002`, ... promise these k, and mask attributes in turn."""
    names = {attribute: list(maskings) for attribute, (_, maskings) in ATTRIBUTES.items()}
    return {
        "label": {"name": label, "domain": ["good", "fair", "poor"]},
        "records": records,
        "configurations": [
            {
                "id": f"c{place + 1:03}",
                "maskings": {name: own[(place + turn) % len(own)] for turn, (name, own) in enumerate(names.items())},
                "privacy": {"k": k, "t": round(0.9 / k**0.5, 4), "l": 1 + k % 3},
                "suppressed": 3 * k,
            }
            for place, k in enumerate(ks)
        ],
    }


def _attribute(name, whole, maskings):
    scores = {
        masking: {"utility": whole - lost, "deviation": lost, "source": "counts", "standard_error": 0.02 * lost}
        for masking, lost in maskings.items()
    }
    return {
        "name": name, "knowledge": "joint", "reference_utility": whole, "bound": "exact", "bound_value": whole,
        "lower_bound": whole, "upper_bound": whole, "maskings": scores,
    }  # fmt: skip


def full_advice(deviations, alike=1, error=0.002, **changes):
    """The full view of a ranking of `c001`, `c002`, ... by these deviations."""
    whole = sum(whole for whole, _ in ATTRIBUTES.values()) / len(ATTRIBUTES)
    order = sorted((deviation, f"c{place + 1:03}") for place, deviation in enumerate(deviations))
    ranking = [
        {"configuration": name, "rank": place, "deviation": lost, "utility": whole - lost, "standard_error": error}
        for place, (lost, name) in enumerate(order, start=1)
    ]
    names = [row["configuration"] for row in ranking]
    return Advice.model_validate(
        HEAD
        | {
            "request": {"measure": "mutual_information", "reference": "pooled"},
            "configuration": names[0], "tied": names[:1], "considered": len(names), "deviation": order[0][0],
            "indistinguishable": names[:alike], "indistinguishable_count": alike, "ranking": ranking,
            "attributes": [_attribute(name, *numbers) for name, numbers in ATTRIBUTES.items()],
        }
        | changes
    )  # fmt: skip


def first_changed(advice, name, **changes):
    """The answer with changes to the first item of a list that it has, such as `ranking`."""
    first, *others = getattr(advice, name)
    return advice.model_copy(update={name: [first.model_copy(update=changes), *others]})


def coarse_advice(shares, alike=1, **changes):
    """The coarse view of a ranking of `c001`, `c002`, ... with these shares, or without any."""
    names = [f"c{place + 1:03}" for place in range(len(shares))]
    ranking = [
        {"configuration": name, "rank": place, "utility_share": share, "deviation_share": share and 1 - share}
        for place, (name, share) in enumerate(zip(names, shares, strict=True), start=1)
    ]
    return CoarseAdvice.model_validate(
        HEAD
        | {
            "request": {"measure": "mutual_information"},
            "configuration": names[0], "tied": names[:1], "considered": len(names),
            "indistinguishable": names[:alike], "indistinguishable_count": alike, "ranking": ranking,
            "attributes": [_words(name, *numbers) for name, numbers in ATTRIBUTES.items()] if shares[0] else [],
        }
        | changes
    )  # fmt: skip


def _words(name, whole, maskings):
    kept = {
        masking: next(word for most, word in WORDS if 1 - lost / whole <= most) for masking, lost in maskings.items()
    }
    return {"name": name, "maskings": {masking: {"kept": word} for masking, word in kept.items()}}


def realistic(count, seed=1):
    """The k and the deviations of this many configurations: the more private, the more they lose, more or less."""
    random = Random(seed)
    ks = [random.choice([2, 3, 5, 7, 10, 14, 20, 30, 50, 80]) for _ in range(count)]
    return ks, [0.0012 + 0.004 * (k / 20) ** 0.6 * (0.6 + random.random() * 1.6) for k in ks]
