"""Generated tables in a release and on its card, beside the masked one. `synth.offer` makes them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aegis_provider.classifiers import Interval
from aegis_provider.errors import PlanError
from aegis_provider.plan.generated import Attacked, GeneratedTable
from aegis_provider.plan.model import Plan
from aegis_provider.report.model import BASELINES, Part, Term, Terms, TextTable
from aegis_provider.search import in_words
from aegis_sdk.reading import Share, share_with_limits, shown

METHOD: Final = "trees"
LEVELS: Final = (5.0, 20.0, 50.0)
"""The levels of privacy of generated tables. Without privacy, attacks on them gain something."""
MASKED, GENERATED = "masked", "generated"


def refuse_equal_ids(plan: Plan) -> None:
    """Refuse a plan that uses the name of a generated table for something else.

    Raises:
        PlanError: The plan uses one.
    """
    taken = {*(configuration.id for configuration in plan.configurations), *(table.id for table in plan.generated)}
    for name in map(id_at, LEVELS):
        if name in taken:
            raise PlanError(f"{plan.source}: {name!r} is to be the name of a generated table; choose another one there")


@dataclass(frozen=True)
class Drawn:
    """A generated table, and the results of attacks on it.

    Attributes:
        file: The name of its file in the folder of the release.
        sha256: The SHA-256 of that file.
        method: The method that made it.
        privacy: The level of privacy given to the method.
        weights: The positive weights of attributes for privacy.
        attacks: The results of attacks, by their names in the contract.
    """

    id: str
    file: str
    sha256: str
    method: str
    privacy: float
    weights: Mapping[str, float]
    attacks: Mapping[str, Attacked]

    def stated(self, folder: Path) -> GeneratedTable:
        """Return it as a plan in that folder states it, promising the upper limits of what attacks achieved."""
        attributes = {name: {"privacy": weight} for name, weight in self.weights.items()}
        weights = {"privacy": self.privacy, **({"attributes": attributes} if attributes else {})}
        stated: dict[str, Any] = {
            "method": self.method,
            "weights": weights,
            "attacks": {name: each.as_json() for name, each in self.attacks.items()},
        }
        if self.attacks:
            stated["privacy"] = {name: each.limit for name, each in self.attacks.items()}
        return GeneratedTable(self.id, folder / self.file, self.sha256, stated)


def file_at(level: float) -> str:
    """Return the name of the file of the table at a level of privacy."""
    return f"generated-{id_at(level)}.csv"


def id_at(level: float) -> str:
    """Return the id of the table at a level of privacy."""
    return f"{METHOD}-{level:g}"


@dataclass(frozen=True)
class Beside:
    """A release in a comparison.

    Attributes:
        kind: `masked` or `generated`.
        promise: The promised privacy, by name.
        kept: Its transfer utility on held-out records, as a share of the unmasked records'; `None` if theirs is 0.
        attacks: The results of attacks, by their names in the contract.
    """

    id: str
    kind: str
    promise: Mapping[str, float]
    kept: Interval | None
    attacks: Mapping[str, Attacked]


@dataclass(frozen=True)
class Comparison:
    """A comparison of releases.

    Attributes:
        measure: The measure of the comparison.
        held_out: The number of records held out from all of them.
        releases: The releases, the masked ones first.
        unfinished: The ids of masked ones that did not finish in time.
    """

    measure: str
    held_out: int
    releases: tuple[Beside, ...]
    unfinished: tuple[str, ...] = ()


_UNKNOWN: Final = "-"
_NOT_JUDGED: Final = "not judged"
_TERMS: Final = (
    Term(
        "membership",
        "how often an attacker tells a record that the release saw from one that it never saw, by the distance to the "
        "nearest released one; 0.5 is chance",
    ),
    Term(
        "re-identified",
        "how often someone who knows half of the quasi-identifiers that the release has guesses the others of a person "
        "nearly right; by chance: the same from a release whose columns are shuffled apart. What is masked coarsely is "
        "easier to guess",
    ),
    Term("generated", "drawn by a model. `aegis apply` with its name as the configuration hands it out"),
)
HEADER: Final = ("release", "promises", "tells", "membership", "re-identified", "by chance")


def compared_in_words(comparison: Comparison, released: str) -> str:
    """Return a sentence on whether the masked table or the best generated one is more useful; empty if unknown."""
    masked = next(
        (release for release in comparison.releases if release.id == released and release.kept is not None), None
    )
    best = _best(comparison)
    if masked is None or best is None or masked.kept is None or best.kept is None:
        return ""
    return (
        f"of what unmasked records tell about {comparison.held_out:,} records that no release saw, {masked.id} "
        f"(masked) tells {_interval(masked.kept)} and {best.id} (generated) {_interval(best.kept)}; "
        f"{_verdict(masked, best)}. A generated table promises nothing but what attacks achieved"
    )


def _best(comparison: Comparison) -> Beside | None:
    generated = [release for release in comparison.releases if release.kind == GENERATED and release.kept is not None]
    return max(generated, key=lambda each: each.kept.value if each.kept else 0.0, default=None)


def _verdict(masked: Beside, generated: Beside) -> str:
    one, other = masked.kept, generated.kept
    if one is None or other is None or (one.low <= other.high and other.low <= one.high):
        return "the intervals overlap, so the difference may be chance"
    return f"{masked.id if one.value > other.value else generated.id} tells more: the intervals do not overlap"


def rows_of(comparison: Comparison, *, limits: bool = False) -> list[tuple[str, ...]]:
    """Return a row for each release: its name, its promise, its utility, and the results of attacks.

    Args:
        comparison: The releases.
        limits: Whether to write out the limits on attacks that generated tables promise.
    """
    return [
        (
            f"{each.id} ({each.kind})",
            _promise(each, limits=limits),
            _UNKNOWN if each.kept is None else _interval(each.kept),
            _auc(each.attacks.get("membership")),
            _success(each.attacks.get("reidentification")),
            _chance(each.attacks.get("reidentification")),
        )
        for each in comparison.releases
    ]


def comparison_parts(comparison: Comparison, label: str, released: str) -> Iterator[Part]:
    """Yield the comparison as a sentence, a table, a picture, and an explanation of terms."""
    if said := compared_in_words(comparison, released):
        yield f"{said[0].upper()}{said[1:]}."
    yield TextTable(
        HEADER,
        rows_of(comparison, limits=True),
        f"tells: about {shown(label)} of held-out records, by {comparison.measure}, as a share of what unmasked "
        "records tell (95 % interval); masks are compared by what they make of the records that are not held out",
    )
    known = [release for release in comparison.releases if release.kept is not None and "membership" in release.attacks]
    if known:
        yield _picture(known, label)
    yield Terms(_TERMS)


def _picture(known: Sequence[Beside], label: str) -> Part:
    from aegis_sdk import charts  # noqa: PLC0415 - few cards have one

    spots: dict[str, list[charts.Spot]] = {MASKED: [], GENERATED: []}
    for release in known:
        kept, attacked = release.kept, release.attacks["membership"]
        if kept is not None:
            across, up = charts.Interval(attacked.low, attacked.high), charts.Interval(kept.low, kept.high)
            spots[release.kind].append(charts.Spot(attacked.value, kept.value, across, up, release.id))
    tones = {MASKED: charts.GOOD, GENERATED: charts.BAD}
    return charts.Plane(
        charts.Axis("AUC", "success of membership inference (AUC)", levels={"chance": 0.5}),
        charts.Axis("told", f"information about {shown(label)} of held-out records", "share", levels=BASELINES),
        [charts.Series(kind, tones[kind], some) for kind, some in spots.items() if some],
        notes=["The further up, the more useful; the further left, the less is given away. Lines are 95 % intervals."],
    )


def _promise(each: Beside, *, limits: bool) -> str:
    if not each.promise:
        return _UNKNOWN
    if each.kind == MASKED:
        return in_words(each.promise)
    stated = ", ".join(f"{name.replace('_', ' ')} at most {limit:g}" for name, limit in each.promise.items())
    return stated if limits else "limits on attacks"


def _interval(kept: Interval) -> str:
    return share_with_limits(kept.value, kept.low, kept.high) or _UNKNOWN


def _auc(attacked: Attacked | None) -> str:
    return _NOT_JUDGED if attacked is None else f"{attacked.value:.3f} ({attacked.low:.3f} to {attacked.high:.3f})"


def _success(attacked: Attacked | None) -> str:
    if attacked is None:
        return _NOT_JUDGED
    return f"{Share(attacked.value)} ({Share(attacked.low)} to {Share(attacked.high)})"


def _chance(attacked: Attacked | None) -> str:
    return _UNKNOWN if attacked is None or attacked.chance is None else str(Share(attacked.chance))
