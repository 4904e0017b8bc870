"""A verdict in words."""

from collections import Counter

from aegis_sdk.wire import Verdict

_WORDS = {
    "shown": "{} shown by its tables",
    "certain": "{} certain from several tables together",
    "likely": "{} known with a probability above 0.9",
    "undecided": "{} not decided",
}


def verdict_in_words(name: str, verdict: Verdict) -> str:
    """Say in a line whether an entry passes, and if it does not, why."""
    if verdict.passed:
        return (
            f"PASS: {name} gives no count of 1 to 4 records away: none is shown, follows from all tables together or "
            "has a probability above 0.9"
        )
    cells = Counter[str]()
    for each in verdict.findings:
        cells[each.reason] += each.cells
    why = ", ".join(_WORDS.get(reason, f"{{}} {reason}").format(f"{count:,}") for reason, count in cells.items())
    gives = "may give" if set(cells) == {"undecided"} else "gives"
    return f"FAIL: {name} {gives} counts of 1 to 4 records away: {why}"
