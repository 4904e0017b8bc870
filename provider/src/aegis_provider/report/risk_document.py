"""The JSON of `aegis risk --json`."""

from typing import Any

from aegis_provider.privacy import Assessment, ClassSizes, ReleasePrivacy, Risk
from aegis_provider.report.risk_verdict import RiskVerdict

_SHOWN_KS = (2, 3, 5, 10, 20, 50)


def risk_document(assessment: Assessment, verdict: RiskVerdict, *, in_full: bool) -> dict[str, Any]:
    """Return the verdict and the measurements as JSON values; `in_full` adds the class sizes."""
    releases = [
        _release_document(release, in_full=in_full) | {"maskings": dict(configuration.maskings)}
        for release, configuration in zip(assessment.releases, assessment.configurations, strict=True)
    ]
    return {
        "verdict": {"passed": verdict.passed, "line": verdict.line, "mend": verdict.mend},
        "quasi_identifiers": list(assessment.plan.quasi_identifiers),
        "sensitive": list(assessment.plan.sensitive),
        "neither": list(assessment.neither),
        "binned": list(assessment.binned),
        "as_it_is": _release_document(assessment.as_it_is, in_full=in_full),
        "configurations": releases,
    }


def _release_document(release: ReleasePrivacy, *, in_full: bool) -> dict[str, Any]:
    """Return a release as JSON values; `holds` is null if not verifiable."""
    measured = release.sizes is not None
    return {
        "id": release.id or None,
        "promise": dict(release.promise),
        "holds": release.holds,
        "broken": [vars(breach) for breach in release.broken],
        "left_to_chance": list(release.left_to_chance),
        "masked_elsewhere": list(release.masked_elsewhere),
        "suppressed": release.suppressed if measured else None,
        "suppressed_cells": release.suppressed_cells if measured else None,
        "privacy": dict(release.privacy),
        "risk": _risk_document(release.risk),
        "suppression": suppression_document(release.sizes),
        **({"class_sizes": _class_sizes(release.sizes)} if in_full and release.sizes is not None else {}),
    }


def _class_sizes(sizes: ClassSizes) -> list[list[int]]:
    return [list(pair) for pair in zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True)]


def _risk_document(risk: Risk | None) -> dict[str, Any] | None:
    return None if risk is None else {**vars(risk), "above": {f"{key:g}": share for key, share in risk.above.items()}}


def suppression_document(sizes: ClassSizes | None) -> dict[int, int]:
    """Return by k the number of records to suppress so that the others have k-anonymity."""
    return {} if sizes is None else dict(zip(_SHOWN_KS, sizes.suppressed_for(_SHOWN_KS).tolist(), strict=True))
