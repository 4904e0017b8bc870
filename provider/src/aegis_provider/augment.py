"""What the counts of others add to one's own table: features by coarse keys, and what models gain by them.

All of it happens on this machine: the service is asked for entries by the names of the keys, and for the counts that
the caller may read. Values of the table are in no request.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import isfinite
from typing import Final

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from aegis_provider.check.estimates import Estimate, Numbers, auc, r_squared, weighted_auc
from aegis_provider.check.masked_records import Fold, folds_of
from aegis_provider.classifiers import AUC, CLASSIFIERS, LOGISTIC_REGRESSION, R2, REGRESSORS, Fitting, Interval, Places
from aegis_provider.errors import TableError, refuse_without, shortened
from aegis_provider.processes import Progress, results
from aegis_provider.records import NUMERIC
from aegis_provider.table import Source, open_table
from aegis_provider.table.values import MISSING, infer_type
from aegis_sdk import Client, ForbiddenError
from aegis_sdk.wire import IDENTITY, Attribute, EntryDocument, Head, Pair, publishable

FOLDS: Final = 5
FEW: Final = 5
"""So many rows may have a value of a key that no other row has, or one in a hundred: more name records."""

_FREQUENT, _MOST_VALUES, _MOST_CLASSES = 0.05, 5, 20
_INTERVAL: Final = re.compile(r"[\[(]\s*(\S+?)\s*,\s*(\S+?)\s*[\])]")
_OTHERS: Final = " or others"
"""The end of the name of values that entries list as one."""


@dataclass(frozen=True, eq=False)
class OwnTable:
    """A table with a label to predict, and the keys by which counts are joined.

    Attributes:
        columns: The texts of each column.
        keys: By column that is a key, its name in entries, or the URI of its concept.
    """

    name: str
    columns: Mapping[str, Sequence[str]]
    label: str
    keys: Mapping[str, str]

    @cached_property
    def labelled(self) -> list[int]:
        """The places of the rows with a label."""
        return [row for row, text in enumerate(self.columns[self.label]) if text != MISSING]

    @cached_property
    def numbers(self) -> Numbers | None:
        """(labelled records, ) The numbers to predict; `None` if the label has classes."""
        texts = [self.columns[self.label][row] for row in self.labelled]
        is_number = infer_type(texts) in NUMERIC and len(set(texts)) > _MOST_CLASSES
        return np.array(texts, dtype=np.float64) if is_number else None

    @cached_property
    def classes(self) -> Places:
        """(labelled records,) The class of each row, from 0; of numbers, 0."""
        if self.numbers is not None:
            return np.zeros(len(self.labelled), dtype=np.intp)
        return codes([self.columns[self.label][row] for row in self.labelled])

    @cached_property
    def codes(self) -> Places:
        """(labelled records, keys) The place of each value of a key."""
        return np.array([codes([self.columns[name][row] for row in self.labelled]) for name in self.keys]).T

    @cached_property
    def matrix(self) -> tuple[Numbers, int]:
        """(labelled records, columns) The other columns but the label, and how many leading ones are categories."""
        others = [name for name in self.columns if name != self.label and name not in self.keys]
        texts = {name: [self.columns[name][row] for row in self.labelled] for name in others}
        numeric = [name for name in texts if infer_type(texts[name]) in NUMERIC]
        listed = [codes(texts[name]) for name in texts if name not in numeric]
        numbers = [[float(text) if text != MISSING else np.nan for text in texts[name]] for name in numeric]
        return np.array([*listed, *numbers], dtype=np.float64).reshape(-1, len(self.labelled)).T, len(listed)


def codes(texts: Sequence[str]) -> Places:
    """(texts,) The place of each text in the order of the different ones."""
    places: Places = np.unique(np.array(texts, dtype=object), return_inverse=True)[1]
    return places


def own_table(
    table: Source, label: str, keys: Mapping[str, str], *, delimiter: str = ",", memory_limit: str = "1GB"
) -> OwnTable:
    """Read a table.

    Args:
        keys: By column that is a key, its name in entries, or the URI of its concept.

    Raises:
        TableError: It lacks a column, a key names records, or the label has too few classes or records of one.
    """
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        opened.positions([label, *keys])
        batches = [pa.table(batch) for batch in opened.batches(opened.columns)]
        texts = pa.concat_tables(batches).to_pydict() if batches else {}
        name = opened.name
        columns = dict(zip(opened.columns, texts.values(), strict=False))
    if label in keys:
        raise TableError(f"{name}: the label {shortened(label)} cannot be a key as well")
    own = OwnTable(name, columns, label, keys)
    for key in keys:
        alone = sum(times == 1 for text, times in Counter(columns[key]).items() if text != MISSING)
        if alone > max(FEW, len(columns[key]) // 100):
            fault = f"{alone} rows have a value of {shortened(key)} that no other row has, so it names records"
            raise TableError(f"{name}: {fault}; use a coarse key, such as a region or a month")
    _refuse_label(own)
    return own


def _refuse_label(own: OwnTable) -> None:
    if own.numbers is not None:
        return
    counts = np.bincount(own.classes) if len(own.classes) else np.zeros(1)
    if len(counts) < 2 or counts.min() < FOLDS:  # noqa: PLR2004 - one class cannot be told from another
        raise TableError(
            f"{own.name}: the label {shortened(own.label)} needs two values or more, with {FOLDS} rows of each"
        )


@dataclass(frozen=True, eq=False)
class Candidate:
    """An entry whose counts may help, or `why` they cannot be used."""

    head: Head
    entry: EntryDocument | None = None
    why: str = ""


def candidates(client: Client, keys: Mapping[str, str]) -> Iterator[Candidate]:
    """Yield the entries that have one of the keys, with their counts where the caller may read them."""
    heads = {head.id: head for named in keys.values() for head in client.entries(needs=[named])}
    for head in heads.values():
        try:
            yield Candidate(head, publishable(client.summaries(head.id)))
        except ForbiddenError:
            yield Candidate(head, why="only providers and reviewers of its tenant may read its counts")
        except ValidationError:
            yield Candidate(head, why="its format is newer than this program")


Features = Mapping[str, Numbers]
"""(rows,) By name of a feature, its numbers in all rows of one's own table."""


def features_of(entry: EntryDocument, own: OwnTable) -> Features:
    """Return what an entry's counts say of the key values of a table: shares and means, shrunk for small counts.

    A value that the entry does not list is one of those that it lists as others, or else has the mean of all. Nothing
    without a value in common.
    """
    joined: dict[str, Numbers] = {}
    for column, named in own.keys.items():
        attribute = _named(entry, named)
        texts = own.columns[column]
        places = {} if attribute is None else {text: place for place, text in enumerate(attribute.domain)}
        if attribute is None or places.keys().isdisjoint(texts):
            continue
        others = next((place for text, place in places.items() if text.endswith(_OTHERS)), len(places))
        rows = np.array([places.get(text, others) for text in texts])
        for about, counts, scores in _tables(entry, attribute):
            means = shrunk_means(counts, np.array(list(scores.values())).T)
            joined |= {f"{about}{score} by {column}": means[rows, place] for place, score in enumerate(scores)}
    return {name: numbers for name, numbers in joined.items() if np.ptp(numbers) > 0}


def shrunk_means(counts: Numbers, scores: Numbers) -> Numbers:
    """(values + 1, features) The mean scores of each value, moved towards the mean of all, which is the last row.

    By the share of their spread that is not chance, from the mean squares within and between values (Efron and Morris,
    Data analysis using Stein's estimator, 1975): few records say little about their value.

    Args:
        counts: (values, columns) The records.
        scores: (columns, features) The scores of a record in each column.
    """
    records = counts.sum(axis=1, keepdims=True)
    whole, held = max(float(records.sum()), 1.0), max(int((records > 0).sum()), 1)
    mean = counts.sum(axis=0) @ scores / whole
    means = np.where(records > 0, counts @ scores / np.maximum(records, 1), mean)
    within = np.maximum((counts @ scores**2 - records * means**2).sum(axis=0), 0) / max(whole - held, 1)
    even = whole - float((records**2).sum()) / whole
    between = (records * (means - mean) ** 2).sum(axis=0) - (held - 1) * within
    between = np.maximum(between, 0) / max(even, 1)
    kept = np.divide(
        records * between, records * between + within, where=records * between > 0, out=np.zeros_like(means)
    )
    shrunk: Numbers = np.vstack([mean + kept * (means - mean), mean])
    return shrunk


Scores = dict[str, Sequence[float]]
"""By name of a number, the score of each column of a table of counts."""


def _named(entry: EntryDocument, named: str) -> Attribute | None:
    known = (one for one in entry.attributes if named in (one.name, one.concept and one.concept.uri))
    return next(known, None)


def _tables(entry: EntryDocument, attribute: Attribute) -> Iterator[tuple[str, Numbers, Scores]]:
    """Yield what the counts of an attribute are about, the counts (values, columns), and the scores of the columns."""
    counts = _with_label(attribute)
    if counts is not None:
        label = entry.label
        shares = {f" = {text}": _is(label.domain, text) for text in label.domain[len(label.domain) == 2 :]}  # noqa: PLR2004
        means = {} if label.scores is None else {" (mean)": label.scores.values}
        yield label.name, counts, {**shares, **means}
    best: dict[str, tuple[Numbers, Sequence[str]]] = {}
    for pair in entry.pairs or ():
        if attribute.name in pair.attributes and pair.joint is not None:
            other, joint, domain = _of_pair(entry, attribute, pair)
            if other and (other not in best or len(domain) > len(best[other][1])):
                best[other] = joint, domain
    for other, (joint, domain) in best.items():
        if scores := _scores(joint.sum(axis=0), domain):
            yield other, joint, scores


def _is(domain: Sequence[str], text: str) -> list[float]:
    return [float(one == text) for one in domain]


def _with_label(attribute: Attribute) -> Numbers | None:
    """(values, classes) The counts with the label: of each value, or of the finest masked values."""
    if attribute.joint is not None:
        return np.asarray(attribute.joint, dtype=np.float64)
    by_value = [one for one in attribute.maskings if one.joint is not None and one.mapping is not None]
    finest = max(by_value, key=lambda one: len(one.domain), default=None)
    if finest is None or finest.joint is None or finest.mapping is None:
        return None
    joint: Numbers = np.maximum(np.asarray(finest.joint, dtype=np.float64), 0)
    return joint[finest.mapping]


def _of_pair(entry: EntryDocument, attribute: Attribute, pair: Pair) -> tuple[str, Numbers, Sequence[str]]:
    """The other attribute of a pair, the counts (values, its masked values), and its masked values; "" if unknown."""
    side = pair.attributes.index(attribute.name)
    other = _named(entry, pair.attributes[1 - side])
    masked, with_other = pair.maskings[side], pair.maskings[1 - side]
    mapping = _mapping(attribute, masked)
    if other is None or mapping is None:
        return "", np.zeros((0, 0)), ()
    joint = np.maximum(np.asarray(pair.joint, dtype=np.float64), 0)
    joint = joint if side == 0 else joint.T
    if pair.counted_with is not None:
        mapping = np.asarray(pair.counted_with[side])[mapping]
    domains = {IDENTITY: other.domain, **{one.id: one.domain for one in other.maskings}}
    return other.name, joint[mapping], domains[with_other]


def _mapping(attribute: Attribute, masking: str) -> Places | None:
    """(values,) The place of the masked value of each value; `None` if the masking has no mapping."""
    known = {one.id: one.mapping for one in attribute.maskings} | {IDENTITY: [*range(len(attribute.domain))]}
    mapping = known.get(masking)
    return None if mapping is None else np.asarray(mapping, dtype=np.intp)


def _scores(records: Numbers, domain: Sequence[str]) -> Scores:
    """The mean of numbers and intervals, or the shares of frequent values."""
    numbers = [_number(text) for text in domain if text != MISSING]
    if numbers and None not in numbers:
        known = [number for number in numbers if number is not None]
        middle = float(np.mean(known))
        return {" (mean)": [middle if text == MISSING else _number(text) or 0.0 for text in domain]}
    frequent = np.argsort(-records, kind="stable")[:_MOST_VALUES]
    shares = [place for place in frequent if records[place] >= _FREQUENT * records.sum()]
    return {f" = {domain[place]}": _is(domain, domain[place]) for place in shares[len(domain) == 2 :]}  # noqa: PLR2004


def _number(text: str) -> float | None:
    """The number in a text, the middle of an interval, or its only finite end; `None` if it is none of these."""
    bounds = _INTERVAL.fullmatch(text)
    with suppress(ValueError):
        ends = [float(end) for end in (bounds.groups() if bounds else (text,))]
        finite = [end for end in ends if isfinite(end)]
        return sum(finite) / len(finite) if finite else None
    return None


@dataclass(frozen=True, eq=False)
class Gain:
    """What models gain by an entry.

    Attributes:
        gain: The difference in AUC or R2 of the better model with and without its features.
        model: The better model with them.
        features: The features.
    """

    head: Head
    gain: Interval
    model: str
    features: Features = field(repr=False)


@dataclass(frozen=True, eq=False)
class Augmented:
    """What each entry adds to a table, the best first, and which cannot be used."""

    own: OwnTable
    alone: Interval
    gains: Sequence[Gain]
    unusable: Sequence[Candidate]

    @property
    def scale(self) -> str:
        """What gains are measured in."""
        return AUC if self.own.numbers is None else R2


def augment(client: Client, own: OwnTable, progress: Progress = lambda _done, _all: None) -> Augmented:
    """Measure what each entry with one of the keys adds to a table.

    Raises:
        AegisError: The extra `check` is not installed, or the service does not answer.
    """
    refuse_without("check")
    usable: list[tuple[Head, Features]] = []
    unusable: list[Candidate] = []
    for one in candidates(client, own.keys):
        features = {} if one.entry is None else features_of(one.entry, own)
        if features:
            usable.append((one.head, features))
        else:
            why = one.why or "no counts by a value of a key that the table has, too, tell the values apart"
            unusable.append(Candidate(one.head, why=why))
    folds = folds_of(own.classes, FOLDS, 0) if own.numbers is None else _of_numbers(len(own.labelled))
    calls = [partial(scores, own, folds, features) for features in ({}, *(features for _, features in usable))]
    measured: list[dict[str, Estimate]] = []
    for done, each in enumerate(results(calls, len(own.labelled))):
        measured.append(each)
        progress(done + 1, len(calls))
    base, *others = measured
    alone = base[_best(base)]
    gains = [
        Gain(head, (each[_best(each)] - alone).interval(), _best(each), features)
        for (head, features), each in zip(usable, others, strict=True)
    ]
    return Augmented(own, alone.interval(), sorted(gains, key=lambda one: -one.gain.value), unusable)


def _best(measured: Mapping[str, Estimate]) -> str:
    return max(measured, key=lambda model: measured[model].value)


def _of_numbers(records: int) -> list[Fold]:
    parts = np.array_split(np.random.default_rng(0).permutation(records), FOLDS)
    return [Fold(np.setdiff1d(np.arange(records), part), np.sort(part)) for part in parts]


def scores(own: OwnTable, folds: Sequence[Fold], features: Features) -> dict[str, Estimate]:
    """Return the AUC or R2 of a linear model and of boosting, cross-validated, on a table with these features."""
    matrix, listed = own.matrix
    matrix = np.column_stack([matrix, *(numbers[own.labelled] for numbers in features.values())])
    split = [(fold, *_with_keys(own, fold, matrix)) for fold in folds]
    models = list(REGRESSORS) if own.numbers is not None else [LOGISTIC_REGRESSION, list(CLASSIFIERS)[-1]]
    return {model: _cross_validated(own, split, listed, model) for model in models}


def _with_keys(own: OwnTable, fold: Fold, matrix: Numbers) -> tuple[Numbers, Numbers]:
    """The trained and the tested rows of a fold, with the label's mean by key in the trained ones (target encoding).

    So one's own table says as much as it can by the keys. Otherwise the counts of any entry would help, since numbers
    that differ between the values of a key tell them apart.
    """
    from sklearn.model_selection import KFold, StratifiedKFold  # noqa: PLC0415 - an extra, and slow to load
    from sklearn.preprocessing import TargetEncoder  # noqa: PLC0415

    target = own.classes if own.numbers is None else own.numbers
    kind = "continuous" if own.numbers is not None else "binary" if own.classes.max() == 1 else "multiclass"
    inner = (StratifiedKFold if own.numbers is None else KFold)(FOLDS, shuffle=True, random_state=0)
    encoder = TargetEncoder(target_type=kind, cv=inner)
    trained = encoder.fit_transform(own.codes[fold.train], target[fold.train])
    tested = encoder.transform(own.codes[fold.test])
    return np.column_stack([matrix[fold.train], trained]), np.column_stack([matrix[fold.test], tested])


def _cross_validated(
    own: OwnTable, split: Sequence[tuple[Fold, Numbers, Numbers]], listed: int, model: str
) -> Estimate:
    numbers, classes, on_trained = own.numbers, int(own.classes.max()) + 1, []
    predicted = np.zeros((len(own.classes), 1 if numbers is not None else classes))
    for fold, trained, tested in split:
        of_numbers, labels = None if numbers is None else numbers[fold.train], own.classes[fold.train]
        fitting = Fitting(model, trained, labels, tested, classes, listed, also_trained=True, numbers=of_numbers)
        said = fitting.probabilities()
        predicted[fold.test], known = np.split(said, [len(fold.test)])
        if of_numbers is None:
            on_trained.append(weighted_auc(known, labels).value)
        else:
            on_trained.append(float(1 - np.mean((known[:, 0] - of_numbers) ** 2) / of_numbers.var()))
    folds = [fold for fold, *_ in split]
    if numbers is not None:
        return r_squared(predicted[:, 0], numbers, own.classes, folds, on_trained)
    return auc(predicted, own.classes, folds, on_trained)
