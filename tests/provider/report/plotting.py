"""Small entries and advice documents to plot in tests."""

import numpy as np

from aegis_sdk.wire import EXAMPLE_ADVICE, EXAMPLE_ENTRY, Advice, EntryDocument


def entry_of(privacy, **fields):
    """Return the contract's example with these configurations: by id, what each promises."""
    configurations = [
        {"id": name, "maskings": {"age": "age-2"}, **({"privacy": vouched} if vouched else {})}
        for name, vouched in privacy.items()
    ]
    return EntryDocument.model_validate({**EXAMPLE_ENTRY, "configurations": configurations, **fields})


def advice_of(utilities, reference=1.0, **fields):
    """Return an advice that ranks these configurations by how far their utilities are from the reference.

    The reference is the utility of the only attribute, unmasked; so by 1, shares are utilities.
    """
    ranking = [
        {"configuration": name, "utility": utility, "deviation": abs(reference - utility)}
        for name, utility in sorted(utilities.items(), key=lambda item: abs(reference - item[1]))
    ]
    first = {"configuration": ranking[0]["configuration"]} if ranking else {}
    attributes = [{**EXAMPLE_ADVICE["attributes"][0], "reference_utility": reference}]
    given = {
        "attributes": attributes,
        "ranking": ranking,
        "considered": len(ranking),
        "better": "higher",
        **first,
        **fields,
    }
    return Advice.model_validate({**EXAMPLE_ADVICE, **given})


#: All but c3 are on the frontier by k; c2 and c4 are the same point.
PRIVACY = {"c1": {"k": 1}, "c2": {"k": 5}, "c3": {"k": 4}, "c4": {"k": 5}, "c5": {"k": 100}}
UTILITIES = {"c1": 0.9, "c2": 0.5, "c3": 0.4, "c4": 0.5, "c5": 0.1}


def many(number, name="k"):
    """Return that many configurations; less private ones are usually more useful."""
    random = np.random.default_rng(7)
    privacy = np.maximum(1, (3000 ** random.random(number)).astype(int))
    utilities = random.random(number) ** 0.3 * (1 - np.log(privacy) / np.log(6000))
    names = [f"c{place:05}" for place in range(number)]
    vouched = {each: {name: float(value)} for each, value in zip(names, privacy, strict=True)}
    return entry_of(vouched), advice_of(dict(zip(names, utilities.tolist(), strict=True)))
