"""What a release gives away, in words: records that are alone on all its columns, and small counts of its entry."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from aegis_sdk.printable import Share, shown, some
from aegis_sdk.reading.configurations import maskings_of
from aegis_sdk.wire import DROP, IDENTITY, EntryDocument, Verdict

LEAST_SHARE: Final = 0.001
"""The least share of lone records that is stated; it stands for all smaller ones."""

MOST_ALONE: Final = 0.01
"""Above this share of lone records, a release is private only against attackers who know no more than stated."""

ACCEPT_UNIQUE: Final = "--accept-unique"
"""The option that accepts a larger share."""

_MOST_NAMES: Final = 5

_STATED: Final[Any] = {
    "label": {"name"},
    "unit": True,
    "quasi_identifiers": True,
    "configurations": {"__all__": {"id", "kind", "maskings", "alone"}},
    "configuration_table": {"ids", "maskings", "alone"},
}
"""An entry's statement about records that are alone."""


@dataclass(frozen=True)
class Alone:
    """The share of records that are alone: no other record agrees with them on all columns that a configuration shares.

    Attributes:
        label: The label, which does not count as a column; `None` if it is not known, so that all columns count.
        shares: The share of each offered configuration, by id; `None` where it is not stated.
        known: The quasi-identifiers, if other columns are shared too; `None` if all are quasi-identifiers or none are
            stated.
        configuration: The id of the configuration concerned; `None` for all.
        shared: The number of columns that this configuration shares, or else the worst one; `None` if not known.
        as_they_are: The number of these that are shared unmasked.
        is_table: Whether this is about an unmasked table, named by `configuration`.
        of_people: Whether the shares are of people: of those with a record that nobody else has.
    """

    label: str | None
    shares: Mapping[str, float | None]
    known: tuple[str, ...] | None = None
    configuration: str | None = None
    shared: int | None = None
    as_they_are: int | None = None
    is_table: bool = False
    of_people: bool = False

    @classmethod
    def of(cls, schema: Mapping[str, Any], configuration: str | None = None) -> "Alone":
        """Return the statement of an entry or its schema about a configuration, or about all."""
        listed, table = schema.get("configurations") or [], schema.get("configuration_table") or {"ids": []}
        shares = {item["id"]: item.get("alone") for item in listed if item.get("kind", "masked") == "masked"}
        column = table.get("alone") or [None] * len(table["ids"])
        shares |= dict(zip(table["ids"], column, strict=True))
        known = schema.get("quasi_identifiers")
        about = cls(schema["label"]["name"], shares, None if known is None else tuple(known), configuration)
        about = replace(about, of_people=schema.get("unit") == "person")
        named = configuration or about.worst
        return about.sharing(maskings_of(schema, named)) if named is not None else about

    @classmethod
    def stated_in(cls, entry: EntryDocument) -> "Alone":
        """Return the statement of an entry about all its configurations."""
        return cls.of(entry.model_dump(include=_STATED))

    def sharing(self, maskings: Mapping[str, str]) -> "Alone":
        """Return the statement about a configuration with these maskings, by attribute."""
        if not maskings:
            return self
        shared, kept = (sum(map(test, maskings.values())) for test in (lambda each: each != DROP, IDENTITY.__eq__))
        return replace(self, shared=shared, as_they_are=kept)

    def in_short(self) -> "Alone":
        """Return the statement without the shares of configurations that it does not name."""
        return replace(self, shares={name: self.shares[name] for name in (self.configuration, self.worst) if name})

    @property
    def own(self) -> float | None:
        """The share of the configuration; `None` if it is not stated, or no configuration is chosen."""
        return None if self.configuration is None else self.shares.get(self.configuration)

    @property
    def worst(self) -> str | None:
        """The id of the configuration with the largest share; of equal ones, the chosen one or else the first.

        `None` if none is stated.
        """
        stated = {name: share for name, share in self.shares.items() if share is not None}
        return max(stated, key=lambda name: (stated[name], name == self.configuration), default=None)

    @property
    def most(self) -> float | None:
        """The share of the worst configuration."""
        return None if self.worst is None else self.shares[self.worst]

    def is_much(self, *, offered: bool) -> bool:
        """Whether the share is above the limit of a release: of the configuration or, with `offered`, of any."""
        stated = [each for each in (self.own, self.most if offered else None) if each is not None]
        return max(stated, default=0.0) > MOST_ALONE

    @property
    def sentence(self) -> str:
        """Say it in a sentence, without a full stop."""
        if self.worst is None:
            return alone_at_most(None, of_people=self.of_people)
        return "; ".join(filter(None, [self._of_whom(), self._shared()]))

    @property
    def document(self) -> dict[str, Any]:
        """The statement as JSON values."""
        return {
            "share": self.own,
            "most": self.most,
            "worst": self.worst,
            "shared": self.shared,
            "as_they_are": self.as_they_are,
            "quasi_identifiers": None if self.known is None else list(self.known),
            **({"unit": "person"} if self.of_people else {}),
        }

    def _of_whom(self) -> str:
        own, worst = shown(self.configuration or self.worst or ""), shown(self.worst or "")
        most, mine = (_are_alone(share, of_people=self.of_people) for share in (self.most, self.own))
        if self.configuration is None:
            return f"{most} in {own}, the worst configuration offered"
        if self.is_table:
            return f"{mine} in {own}"
        if not self.most:
            return f"{mine}, in {own} or any other configuration offered"
        if self.worst == self.configuration:
            return f"{mine} in {own}, the worst configuration offered"
        return f"{mine} in {own}, and {share_alone(self.most)} in {worst}, the worst configuration offered"

    def _shared(self) -> str:
        """Say how many columns are shared, and how; empty if not known."""
        if self.shared is None or self.as_they_are is None:
            return ""
        besides = "" if self.label is None else f" besides {shown(self.label)}"
        number = f"{self.shared:,}" if self.shared else "no"
        counted = f"{number} column{'s' * (self.shared > 1)}"
        columns = f"{shown(self.configuration or self.worst or '')} shares {counted}{besides}"
        if not self.shared:
            return columns
        if not self.as_they_are:
            return f"{columns}, {'masked' if self.shared == 1 else 'all masked'}"
        number = "all " if self.as_they_are == self.shared else f"{self.as_they_are:,} "
        are = "as it is" if self.as_they_are == 1 else "as they are"
        return f"{columns}, {number if self.shared > 1 else ''}{are}"

    def line(self, *, offered: bool = False) -> str:
        """Say it in a line, which begins with the limits of the release's privacy if too many records are alone."""
        if not self.is_much(offered=offered):
            return self.sentence
        return f"{private_only(self.known)}; {self.sentence}"


def share_alone(share: float | None) -> str:
    """Say a share of records that are alone: `none`, `fewer than 0.1 %`, `91 %`."""
    if share is None:
        return "an unstated share"
    if not share:
        return "none"
    return "fewer than 0.1 %" if share <= LEAST_SHARE else str(Share(share))


def private_only(known: Sequence[str] | None) -> str:
    """Say against whom a release is private if too many records are alone on all columns that it shares."""
    if known is None:
        return "not private against anyone who knows all shared columns"
    return f"private only against attackers who know no more than: {some(known, _MOST_NAMES) if known else 'nothing'}"


def alone_at_most(share: float | None, *, of_people: bool = False) -> str:
    """Say the largest share of lone records, or people, in any configuration of an entry; `None`: not stated."""
    if share is None:
        return f"how many {_unit(of_people)} are alone on all shared columns is not stated"
    return f"{'at most ' if share else ''}{_are_alone(share, of_people=of_people)}"


def _are_alone(share: float | None, *, of_people: bool) -> str:
    if share is None:
        return f"an unstated share of the {_unit(of_people)} is alone on all shared columns"
    if not share:
        return f"{'nobody' if of_people else 'no record'} is alone on all shared columns"
    return f"{share_alone(share)} of the {_unit(of_people)} are alone on all shared columns"


def _unit(of_people: bool) -> str:  # noqa: FBT001 - the unit
    return "people" if of_people else "records"


_OUTCOMES = {True: "PASS", False: "FAIL", None: "NOT JUDGED"}
_WORDS = {
    "shown": "{} shown by its tables",
    "certain": "{} certain from several tables together",
    "likely": "{} known with a probability above 0.9",
    "undecided": "{} not decided",
}

_RUN_AGAIN = "run it again with --new-randomness, so that the counts are rounded anew"


def verdict_line(passed: bool | None, reason: str, mend: str = "") -> str:  # noqa: FBT001 - the verdict
    """Say a verdict, `None` if there is none, in the form that all commands share: `FAIL: ... To mend it: COMMAND`."""
    line = f"{_OUTCOMES[passed]}: {reason}"
    if not mend:
        return line
    return f"{line}. {'For a verdict' if passed is None else 'To mend it'}: {mend}"


def verdict_in_words(name: str, verdict: Verdict, mend: str = "") -> str:
    """Say in a line whether an entry passes, and if not, why, and what fixes it."""
    if not verdict.passed:
        reason = f"the entry {name} {_gives(verdict)} counts of {small_counts(verdict)} away: {_why(verdict)}"
        return verdict_line(False, reason, mend)
    why = "no table shows one, all together determine none, and no guess at one is more than 90 % sure"
    reason = f"the entry {name} hides every exact count of {small_counts(verdict)}: {why}{few_in_words(verdict)}"
    return verdict_line(True, reason)


def few_in_words(verdict: Verdict) -> str:
    """Say how many values certainly have few records; empty if there are none."""
    if not verdict.few:
        return ""
    values = "1 listed value has" if verdict.few == 1 else f"{verdict.few:,} listed values have"
    return f"; {values} {small_counts(verdict)} for certain, but it is not known how many"


def read_together_line(verdict: Verdict, mend: str = _RUN_AGAIN) -> str:
    """Say in a line whether entry and card, together with the masked table, disclose small counts."""
    read, few = "entry and card, read together with the table,", small_counts(verdict).removesuffix(" records")
    if verdict.passed:
        return verdict_line(True, f"{read} give no exact count of {few} of what it does not show")
    gives = _gives(verdict).replace("gives", "give")
    return verdict_line(False, f"{read} {gives} counts of {few} of what it does not show: {_why(verdict)}", mend)


def small_counts(verdict: Verdict) -> str:
    """Say which counts are small: numbers of records, or of people with the most records of each."""
    rows = verdict.rows_per_person
    return (
        "1 to 4 records"
        if rows is None
        else f"fewer than 5 people (1 to {4 * rows:,} records, at most {rows:,} of each)"
    )


def _gives(verdict: Verdict) -> str:
    return "may give" if {finding.reason for finding in verdict.findings} == {"undecided"} else "gives"


def _why(verdict: Verdict) -> str:
    cells = Counter[str]()
    for finding in verdict.findings:
        cells[finding.reason] += finding.cells
    return ", ".join(_WORDS.get(reason, f"{{}} {reason}").format(f"{count:,}") for reason, count in cells.items())
