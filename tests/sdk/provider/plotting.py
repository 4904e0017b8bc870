"""Entries and advices for plots, in the size that a test needs."""

from aegis_sdk.wire import EXAMPLE_ADVICE, EXAMPLE_ENTRY, Advice, EntryDocument


def entry_of(privacy, **fields):
    """The contract's example with these configurations: by id, what is vouched for each."""
    configurations = [
        {"id": name, "maskings": {"age": "age-2"}, **({"privacy": vouched} if vouched else {})}
        for name, vouched in privacy.items()
    ]
    return EntryDocument.model_validate({**EXAMPLE_ENTRY, "configurations": configurations, **fields})


def advice_of(utilities, reference=1.0, **fields):
    """An advice that ranks these configurations, by how far their utilities are from the reference."""
    ranking = [
        {"configuration": name, "utility": utility, "deviation": abs(reference - utility)}
        for name, utility in sorted(utilities.items(), key=lambda item: abs(reference - item[1]))
    ]
    first = {"configuration": ranking[0]["configuration"]} if ranking else {}
    given = {"ranking": ranking, "considered": len(ranking), "better": "higher", **first, **fields}
    return Advice.model_validate({**EXAMPLE_ADVICE, **given})
