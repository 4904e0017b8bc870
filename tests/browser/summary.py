"""The lines about browser tests in the summary of a test run."""

from collections.abc import Iterator, Mapping, Sequence

import pytest

#: Names another browser.
VARIABLE = "AEGIS_CHROMIUM"
MISSING = f"there is no Chromium: apt-get install chromium, or name a browser in {VARIABLE}"

#: The property in which a test reports its journey.
JOURNEY = "journey"


def summary(reports: Mapping[str, Sequence[pytest.TestReport]]) -> Iterator[str]:
    """The lines of the summary.

    Args:
        reports: the reports of pytest's terminal reporter by outcome.
    """
    reasons = [report.longrepr[2] for report in reports.get("skipped", ()) if isinstance(report.longrepr, tuple)]
    if missed := sum(MISSING in reason for reason in reasons):
        yield f"{missed} browser tests were skipped, because {MISSING}"
    properties = (one for report in reports.get("passed", ()) for one in report.user_properties)
    yield from sorted(f"journey of {line}" for name, line in properties if name == JOURNEY)
