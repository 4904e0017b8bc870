"""The verdict on a delivered table: its columns and counts, and its privacy beside the promises."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

import duckdb
import numpy as np

from aegis_provider.counting.counted_table import DistinctRecords
from aegis_provider.errors import MachineError, ProviderError, TableError
from aegis_provider.plan.model import Plan, Roles
from aegis_provider.privacy import CRITERIA, classes_as_written, measure_worst
from aegis_provider.processes import Progress
from aegis_provider.receiving.comparison import Comparison, Part
from aegis_provider.receiving.delivered import Delivered
from aegis_provider.table import Table, delimiter_in, open_table
from aegis_provider.table.formulas import Formulas, with_plain_header
from aegis_provider.table.values import Domain, infer_type
from aegis_sdk.wire import PRIVACY_CRITERIA, DataRequest, Evidence, strictest

_TOLERANCE: Final = 1e-6
_ROLES: Final = ("quasi-identifier", "sensitive")


@dataclass(frozen=True)
class StatedRoles:
    """The attacks to measure a delivered table by: with several labels, one on each.

    `known`: whether the provider stated the roles. Otherwise they are a plan's defaults: the label is sensitive, and
    all other columns are quasi-identifiers, which underestimates class sizes at worst.
    """

    attacks: tuple[Roles, ...]
    known: bool

    @classmethod
    def of(cls, card: Mapping[str, Any] | None, columns: Sequence[str], label: str) -> Self:
        """Return the roles on a release card; one without quasi-identifiers is ignored, since it promises nothing."""
        told = (card or {}).get("columns")
        known = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
        roles = {str(each.get("name")): each.get("role") for each in known}
        shared = [*columns, label]
        named = [tuple(name for name in shared if roles.get(name) == role) for role in _ROLES]
        if not named[0]:
            return cls.by_default(columns, label)
        tasks = (card or {}).get("by_label")
        others = tuple(name for name in named[1] if name in tasks and name != label) if isinstance(tasks, dict) else ()
        plan = Plan("", label, (), (), {}, named[1], named[0], other_labels=others)
        return cls(plan.roles_among(shared), known=True)

    @classmethod
    def by_default(cls, columns: Sequence[str], label: str) -> Self:
        """Return the default roles."""
        return cls((Roles(tuple(columns), (label,)),), known=False)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that are known in every attack."""
        return tuple(
            name
            for name in self.attacks[0].quasi_identifiers
            if all(name in one.quasi_identifiers for one in self.attacks)
        )


_INEXACT: Final = "how many records are missing is not known exactly"
_IMPLIED: Final = ("k", "l")
"""The criteria of people that hold of their rows, too."""

_NO_ROLES: Final = "the delivery does not say which columns identify people, so all were taken"


@dataclass(frozen=True)
class Measured:
    """The privacy of a delivered table.

    Attributes:
        promised: The strictest of the required, promised and delivered values.
        undecided: The criteria that cannot be verified.
        quasi_identifiers: The stated quasi-identifiers; empty if all columns but the label were used.
        k_by_all: The size of the smallest class by all columns but the label; `None` if not measured.
        unit: What the promises count: `person`, or `None` for records, as `reached` does.
    """

    reached: Mapping[str, float]
    promised: Mapping[str, float]
    broken: tuple[str, ...]
    undecided: tuple[str, ...]
    reason: str = ""
    quasi_identifiers: tuple[str, ...] = ()
    k_by_all: float | None = None
    unit: str | None = None

    @property
    def kept(self) -> dict[str, float]:
        """The measured values of the verified criteria."""
        return {name: number for name, number in self.reached.items() if name not in self.undecided}


def measured(comparison: Comparison, request: DataRequest) -> Measured:
    """Measure the privacy of a table and compare it with the promises.

    Criteria that compare a class with the whole table include the left-out records if all their counts are published
    exactly. Otherwise the delivered records stand for the whole. This changes `t` by at most the share of missing
    records; other such criteria are then not measured. Where the promises count people, who are not in the table, only
    what these imply of records is measured: k people have k rows at least, and l values are in l rows.
    """
    evidence, delivered = comparison.evidence, comparison.delivered
    promised = _promised(evidence, request)
    card = None if request.delivery is None else request.delivery.card
    roles = StatedRoles.of(card, delivered.columns, delivered.label)
    if evidence.kind != "masked":  # its records belong to nobody
        return Measured({}, promised, (), ())
    whole = _whole(comparison, roles)
    inexact = whole is None and comparison.missing.most > 0
    names = [name for name in ("k", "l", "t", *promised) if not inexact or name == "t" or not CRITERIA[name].compares]
    names = [name for name in names if evidence.unit is None or name in _IMPLIED]
    reached = _reached(delivered.table, roles, dict.fromkeys(names), whole, evidence)
    share = min(comparison.missing.most, comparison.left_out.most) / max(delivered.records, 1)
    slack = {"t": share} if inexact else {}
    judged = [name for name in promised if name in reached]
    short = [name for name in judged if not _holds(name, reached[name], promised[name], slack)]
    loose = [name for name in judged if name not in short and not _holds(name, reached[name], promised[name], {})]
    broken = tuple(short) if roles.known else ()
    undecided = tuple(name for name in (*loose, *short) if name not in broken)
    k_by_all = reached.get("k")
    if roles.known:
        every = StatedRoles.by_default(delivered.columns, delivered.label)
        k_by_all = _reached(delivered.table, every, ["k"], None, evidence)["k"]
    named = roles.quasi_identifiers if roles.known else ()
    reason = _INEXACT if roles.known else _NO_ROLES
    return Measured(reached, promised, broken, undecided, reason, named, k_by_all, evidence.unit)


def _promised(evidence: Evidence, request: DataRequest) -> dict[str, float]:
    """Return the strictest promise of each criterion."""
    told = request.delivery.privacy if request.delivery is not None else {}
    promises: dict[str, float] = {}
    for numbers in (evidence.privacy, evidence.require, told):
        promises = strictest(promises, {name: numbers[name] for name in numbers if name in PRIVACY_CRITERIA})
    return promises


def _holds(name: str, reached: float, limit: float, slack: Mapping[str, float]) -> bool:
    off = slack.get(name, 0.0) + _TOLERANCE * max(1.0, abs(limit))
    return reached >= limit - off if CRITERIA[name].at_least else reached <= limit + off


def _whole(comparison: Comparison, roles: StatedRoles) -> Mapping[str, int] | None:
    """Return the number of records of the whole table with each sensitive value, if published exactly."""
    label = comparison.evidence.label
    if [one.sensitive for one in roles.attacks] != [(label.name,)] or label.off_by or label.noise is not None:
        return None
    if not set(comparison.delivered.labels) <= set(label.domain):
        return None
    return dict(zip(label.domain, label.joint[0], strict=True))


def _reached(
    table: Table, roles: StatedRoles, names: Iterable[str], whole: Mapping[str, int] | None, evidence: Evidence
) -> dict[str, float]:
    """Measure these criteria in a table, in the worst attack."""
    attacks = []
    for one in roles.attacks:
        records = _records(table, (*one.quasi_identifiers, *one.sensitive), whole, evidence)
        classes = classes_as_written(records, one.quasi_identifiers, one.sensitive)
        if whole is not None:
            counts = np.array([whole[text] for text in records.domains[-1].texts], dtype=np.int64)
            sensitive = {name: replace(each, whole=counts) for name, each in classes.sensitive.items()}
            classes = replace(classes, sensitive=sensitive)
        attacks.append(classes)
    return dict(measure_worst(attacks, [name for name in names if CRITERIA[name].is_measured]))


def _records(
    table: Table, columns: tuple[str, ...], whole: Mapping[str, int] | None, evidence: Evidence
) -> DistinctRecords:
    combinations = table.combinations(columns)
    texts = [combinations.column(n).to_pylist() for n in range(len(columns))]
    domains = tuple(_domain(name, each, whole, evidence) for name, each in zip(columns, texts, strict=True))
    codes = [
        np.array([domain.places[text] for text in each], dtype=np.intp)
        for domain, each in zip(domains, texts, strict=True)
    ]
    return DistinctRecords(columns, domains, np.stack(codes, axis=1), combinations.column("n").to_numpy())


def _domain(name: str, texts: Sequence[str], whole: Mapping[str, int] | None, evidence: Evidence) -> Domain:
    """Return the domain of a column: for the label, the published one; otherwise, the texts of the file.

    Promises that depend on an order require a stated order, in which the values are then published.
    """
    known = tuple(evidence.label.domain)
    if name == evidence.label.name and set(texts) <= set(known):
        listed = known if whole is not None else tuple(text for text in known if text in set(texts))
        places = {text: place for place, text in enumerate(listed)}
        return Domain(infer_type(listed), listed, listed, places, ordered=True)
    shared = next((attribute for attribute in evidence.attributes if attribute.attribute == name), None)
    is_listed = shared is not None and set(texts) <= set(shared.domain)
    return Domain.of(texts, order=shared.domain if shared is not None and is_listed else None).by_spelling()


_OF_THE_FILE: Final = (duckdb.InvalidInputException, duckdb.DataError)
"""DuckDB's errors about the content of a file; its other errors concern this machine or DuckDB itself."""


@dataclass(frozen=True)
class Fault:
    """A deviation from the agreement.

    `text`: A sentence for the consumer, possibly with names from the file that nobody else may read; `reason`: the same
    without such names, for everybody.
    """

    text: str
    reason: str

    @classmethod
    def of(cls, text: str) -> "Fault":
        """Return a fault whose text everybody may read."""
        return cls(text, text)


@dataclass(frozen=True)
class Verified:
    """The result of verifying a delivered table.

    Attributes:
        records: Its number of records; `None` if it cannot be read.
        privacy: Its measured privacy; `None` if not measurable.
        faults: All other deviations.
        comparison: The comparison with the evidence; `None` if the table cannot be counted.
        formulas: The spreadsheet formulas in the file, if it was counted.
    """

    records: int | None
    compared: Part
    privacy: Measured | None
    faults: tuple[Fault, ...]
    comparison: Comparison | None = None
    formulas: Formulas = field(default_factory=Formulas)

    @property
    def is_as_agreed(self) -> bool:
        """Whether there is no deviation."""
        return not self.compared.differing and not self.faults


def verify(
    path: Path,
    request: DataRequest,
    evidence: Evidence,
    *,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _total: None,
) -> Verified:
    """Count a delivered table and compare it with the published evidence on its configuration.

    Args:
        path: The file, CSV or Parquet.
        delimiter: The delimiter of a CSV file; by default, the one in its header.
        progress: Called with (steps done, steps).

    Raises:
        TableError: The given delimiter differs from the header's, and the table read with it deviates.
        MachineError: This machine cannot count the file, for example for lack of memory or disk.
        OSError: Likewise.
    """
    progress(0, 2 + len(evidence.pairs))
    in_header = delimiter_in(path, evidence.label.name)
    verified = _counted(path, request, evidence, delimiter or in_header, memory_limit, progress)
    if delimiter in (None, in_header) or verified.is_as_agreed:
        return verified  # before the path is opened: it may name several files
    with path.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    if not is_parquet:
        first = next((fault.text for fault in verified.faults), "counts differ")
        raise TableError(
            f"with the delimiter {delimiter!r}, {first}; the header looks separated by {in_header!r}: omit "
            "--delimiter (nothing was posted)"
        )
    return verified


def _counted(
    path: Path, request: DataRequest, evidence: Evidence, delimiter: str, memory_limit: str, progress: Progress
) -> Verified:
    try:
        with open_table(path, delimiter=delimiter, memory_limit=memory_limit) as table:
            return _verified(table, request, evidence, progress)
    except (ProviderError, MemoryError, duckdb.Error) as error:
        if _is_of_this_machine(error):
            raise MachineError(f"this machine cannot count the file, so nothing was posted: {error}") from error
        fault = Fault(f"the file cannot be counted: {error}", "the file cannot be counted")
        return Verified(None, Part(0), None, (fault,))


def _is_of_this_machine(error: BaseException) -> bool:
    """Whether an error or its cause concerns this machine, not the file."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno is not None):
            return True  # Arrow raises errors without a number for files that are not Parquet
        if isinstance(cause, duckdb.Error) and (
            not isinstance(cause, _OF_THE_FILE) or "Out of Memory Error" in str(cause)
        ):
            return True
        cause = cause.__cause__
    return False


def _verified(table: Table, request: DataRequest, evidence: Evidence, progress: Progress) -> Verified:
    wanted, label = [attribute.attribute for attribute in evidence.attributes], evidence.label.name
    header, table = table.columns, with_plain_header(table, [*wanted, label])
    records = table.records()
    if label not in table.columns:
        return Verified(records, Part(0), None, (Fault.of(f"the file has no column {label!r}, the label"),))
    if not records:
        return Verified(0, Part(0), None, (Fault.of("the file has no records"),))
    present = [name for name in wanted if name in table.columns]
    as_written = Delivered(table, label, present)
    delivered = as_written.unescaped(evidence)
    card = None if request.delivery is None else request.delivery.card
    comparison = Comparison.of(evidence, delivered, held_back=bool(card and card.get("holds_back")))
    compared = comparison.compared(progress)
    privacy = measured(comparison, request)
    faults = []
    if missing := [name for name in [*wanted, label] if name not in table.columns]:
        faults.append(Fault.of(f"the file lacks the columns {', '.join(map(repr, missing))}"))
    more = [name for name in table.columns if name not in [*wanted, label]]
    if more and evidence.kind == "masked":  # a generated table may have others
        said = "the file has columns that were not approved"
        faults.append(Fault(f"{said}: {', '.join(map(repr, more))}", f"{said}: {len(more)}"))
    told = None if request.delivery is None else request.delivery.records
    if told is not None and told != delivered.records:
        faults.append(Fault.of(f"the file has {delivered.records} records, but {told} were delivered"))
    for name in privacy.broken:
        told_as, number = f"{name} was to be {CRITERIA[name].sign} {privacy.promised[name]:g}", privacy.reached[name]
        faults.append(Fault.of(f"{told_as}, but is {number:g} in the file"))
    return Verified(delivered.records, compared, privacy, tuple(faults), comparison, as_written.formulas(header))
