"""The claims of the papers: which of them hold, by the figures of this run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from research.report import Section, table

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
UNJUDGED = "cannot be judged"

RUN, TESTS, GENERATION = "run", "tests", "generation"
"""The commands, by the words of the tables."""

COLUMNS = ("section", "claim", "verdict", "figure", "by")


@dataclass(frozen=True)
class Claim:
    """A claim and what this run says of it.

    Attributes:
        section: where the paper makes it.
        words: what it claims, in ours.
        verdict: see above.
        figure: the numbers that the verdict is from, or why there are none.
        command: which command measures it.
    """

    section: str
    words: str
    verdict: str
    figure: str
    command: str = RUN


def counted(section: str, words: str, cases: Iterable[bool], figure: str, command: str = RUN) -> Claim:
    """Return a claim that holds if it does in all of some cases, and in part if in some.

    Args:
        figure: what the cases are, then numbers about them.
    """
    listed = [bool(case) for case in cases]
    if not listed:
        return Claim(section, words, UNJUDGED, f"there are no {figure}", command)
    verdict = HOLDS if all(listed) else PARTLY if any(listed) else FAILS
    return Claim(section, words, verdict, f"in {sum(listed)} of {len(listed)} {figure}", command)


def section(by_part: Mapping[str, Sequence[Claim]], *, adult: bool) -> Section:
    """Make the section with a table for each part of a paper."""
    every = [claim for claims in by_part.values() for claim in claims]
    tally = {each: sum(claim.verdict == each for claim in every) for each in (HOLDS, PARTLY, FAILS, UNJUDGED)}
    option = " --adult FOLDER" if adult else ""
    parts = "\n\n".join(
        f"**{part}**\n\n{table(COLUMNS, [_cells(claim) for claim in claims])}" for part, claims in by_part.items()
    )
    text = f"""\
In our words. Verdicts are computed from the figures beside them: *{HOLDS}* in all cases, *{PARTLY}* in some,
*{FAILS}* in none; *{UNJUDGED}* says why. **By**: *{RUN}* is `python -m research.papers{option}`; *{TESTS}* is `pytest
tests/advisor/test_paper_examples.py tests/provider/independence`; *{GENERATION}* is `make evaluate-synth` with Adult,
whose [page](generation_figures.md) has the figures.

{parts}"""
    finding = (
        f"**Claims**: of {len(every)}, {tally[HOLDS]} hold, {tally[PARTLY]} hold in part, {tally[FAILS]} do not hold,"
        f" and {tally[UNJUDGED]} cannot be judged here."
    )
    return Section("The claims", text, findings=[finding])


def _cells(claim: Claim) -> Sequence[str]:
    numbered = claim.section[0].isdigit()
    return f"§{claim.section}" if numbered else claim.section, claim.words, claim.verdict, claim.figure, claim.command
