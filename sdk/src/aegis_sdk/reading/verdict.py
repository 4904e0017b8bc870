"""A verdict in words."""

from collections import Counter

from aegis_sdk.wire import Verdict

_OUTCOMES = {True: "PASS", False: "FAIL", None: "NOT JUDGED"}
_WORDS = {
    "shown": "{} shown by its tables",
    "certain": "{} certain from several tables together",
    "likely": "{} known with a probability above 0.9",
    "undecided": "{} not decided",
}

_RUN_AGAIN = "run it again with another --output, so that the counts are rounded anew"


def verdict_line(passed: bool | None, reason: str, mend: str = "") -> str:  # noqa: FBT001 - the verdict
    """Say a verdict in the form that all commands share: `FAIL: ... To mend it: COMMAND`.

    Args:
        passed: The verdict; `None` if there is none.
        reason: The subject and the reason.
        mend: The command that fixes the failure or leads to a verdict; empty if there is none.
    """
    line = f"{_OUTCOMES[passed]}: {reason}"
    if not mend:
        return line
    return f"{line}. {'For a verdict' if passed is None else 'To mend it'}: {mend}"


def verdict_in_words(name: str, verdict: Verdict, mend: str = "") -> str:
    """Say in a line whether an entry passes, and if not, why, and what fixes it."""
    if not verdict.passed:
        reason = f"the entry {name} {_gives(verdict)} counts of 1 to 4 records away: {_why(verdict)}"
        return verdict_line(False, reason, mend)
    why = "no table shows one, all together determine none, and no guess at one is more than 90 % sure"
    reason = f"the entry {name} hides every exact count of 1 to 4 records: {why}{few_in_words(verdict)}"
    return verdict_line(True, reason)


def few_in_words(verdict: Verdict) -> str:
    """Say how many values certainly have few records; empty if there are none."""
    if not verdict.few:
        return ""
    values = "1 listed value has" if verdict.few == 1 else f"{verdict.few:,} listed values have"
    return f"; {values} 1 to 4 records for certain, but it is not known how many"


def read_together_line(verdict: Verdict, mend: str = _RUN_AGAIN) -> str:
    """Say in a line whether entry and card, together with the masked table, disclose small counts."""
    read = "entry and card, read together with the table,"
    if verdict.passed:
        return verdict_line(True, f"{read} give no exact count of 1 to 4 of what it does not show")
    gives = _gives(verdict).replace("gives", "give")
    return verdict_line(False, f"{read} {gives} counts of 1 to 4 of what it does not show: {_why(verdict)}", mend)


def _gives(verdict: Verdict) -> str:
    return "may give" if {finding.reason for finding in verdict.findings} == {"undecided"} else "gives"


def _why(verdict: Verdict) -> str:
    cells = Counter[str]()
    for finding in verdict.findings:
        cells[finding.reason] += finding.cells
    return ", ".join(_WORDS.get(reason, f"{{}} {reason}").format(f"{count:,}") for reason, count in cells.items())
