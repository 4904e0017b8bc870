"""The registry of privacy criteria: their measurement, the effect of merging, and their meaning.

The contract (`aegis_sdk.wire.PRIVACY_CRITERIA`) lists the criteria in order and says whether more or less of each is
more private, since entries contain the values of configurations. `q`: the distribution of a sensitive attribute in an
equivalence class; `p`: in the whole table. Both are shares of people. If a person has several values, they may add up
to more than 1: what needs a distribution then takes it of the pairs of a person and a value.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import reduce
from math import exp
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts
from aegis_provider.privacy.classes import Classes, SensitiveCounts
from aegis_sdk.reading import Share, number
from aegis_sdk.wire import PRIVACY_CRITERIA

Numbers: TypeAlias = NDArray[np.float64]

# Entropies and distances are sums of fractions: smaller differences are rounding errors.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """A privacy criterion. One with neither `of_sizes` nor `of_values` is only declared, never measured.

    Attributes:
        name: Its name in the contract.
        word: Its name in the literature.
        meaning: An explanation for people who decide by it without computing it.
        axis: The meaning in a few words, for the axis of a figure.
        consequence: Explains a value of the worst class.
        of_people: The same, if people can have several records; `None` if the words are equal.
        of_sizes: Computes (classes,) the value of each class from (classes,) their sizes.
        of_values: Computes (classes,) the value of each class from its counts of a sensitive attribute's values.
        is_whole: Whether its values are whole numbers.
        compares: Whether it compares a class with the whole table.
        needs_order: Whether it depends on the order of the sensitive values, which must be meaningful.
        survives_merged_classes: Whether a union of classes is never worse than the worst of them. If not, a search has
            to evaluate every combination of maskings.
        survives_merged_values: Whether merging sensitive values never makes a class worse.
    """

    name: str
    word: str
    meaning: str
    axis: str
    consequence: Callable[[float], str]
    of_sizes: Callable[[Counts], Numbers] | None = None
    of_values: Callable[[Classes, SensitiveCounts], Numbers] | None = None
    is_whole: bool = False
    compares: bool = False
    needs_order: bool = False
    survives_merged_classes: bool = False
    survives_merged_values: bool = False
    of_people: Callable[[float], str] | None = None

    def in_worst_class(self, reached: float, *, of_people: bool = False) -> str:
        """Explain a value of the worst class; `of_people`: whether people can have several records."""
        return (self.of_people if of_people and self.of_people is not None else self.consequence)(reached)

    @property
    def at_least(self) -> bool:
        """Whether a promise is a lower limit: more is more private."""
        return PRIVACY_CRITERIA[self.name] == "higher"

    @property
    def sign(self) -> str:
        """The sign between the name and a promise."""
        return ">=" if self.at_least else "<="

    @property
    def is_measured(self) -> bool:
        """Whether it can be measured in a table."""
        return self.of_sizes is not None or self.of_values is not None

    @property
    def needs_sensitive(self) -> bool:
        """Whether it is measured on the values of a sensitive attribute."""
        return self.of_values is not None

    def shows_in(self, classes: Classes) -> bool:
        """Whether it can be measured on these classes."""
        if not self.needs_sensitive:
            return self.is_measured
        ordered = not self.needs_order or all(counts.ordered for counts in classes.sensitive.values())
        return bool(classes.sensitive) and ordered

    def by_class(self, classes: Classes) -> Numbers:
        """Return (classes,) its value for each class: the worst of all sensitive attributes."""
        if self.of_sizes is not None:
            return self.of_sizes(classes.sizes)
        if self.of_values is None or not classes.sensitive:
            raise ValueError(f"{self.name} cannot be measured on these classes")
        if not len(classes):
            return np.zeros(0)
        numbers = [self.of_values(classes, counts) for counts in classes.sensitive.values()]
        return reduce(np.minimum if self.at_least else np.maximum, numbers)

    def reached(self, classes: Classes) -> int | float:
        """Return the value of the worst class; there must be at least one class."""
        numbers = self.by_class(classes)
        worst = float(numbers.min() if self.at_least else numbers.max())
        return int(worst) if self.is_whole else worst

    def held(self, values: Numbers | np.float64, limit: float) -> NDArray[np.bool_]:
        """Return (values,) which values meet the promise `limit`, within rounding errors."""
        slack = _ROUNDING * max(1.0, abs(limit))
        return np.asarray(values >= limit - slack if self.at_least else values <= limit + slack)


def two_digits(name: str, number: float) -> int | float:
    """Round a value of a criterion to two significant digits, never to a stronger promise."""
    exact = Decimal(repr(number))
    if exact.is_zero():
        return number
    rounding = ROUND_FLOOR if PRIVACY_CRITERIA[name] == "higher" else ROUND_CEILING
    rounded = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), rounding)
    return int(rounded) if isinstance(number, int) else float(rounded)


def _shares(classes: Classes, counts: SensitiveCounts) -> tuple[Numbers, Numbers]:
    """Return (cells,) the share of every cell in its class, `q`, and of its value in the whole table, `p`."""
    q = counts.counts / classes.sizes[counts.classes]
    p = counts.whole / counts.people
    return q, p[counts.values]


def _pairs(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """Return (classes,) the number of pairs of a person and a value; of people, if each has one value."""
    return _sum_of(classes, counts, counts.counts.astype(np.float64))


def _are_all_told(classes: Classes, counts: SensitiveCounts) -> NDArray[np.bool_]:
    """Return (classes,) whether some value is that of all people of the class, whatever else they have."""
    told = np.zeros(len(classes), dtype=np.bool_)
    told[counts.classes[counts.counts == classes.sizes[counts.classes]]] = True
    return told


def _sum_of(classes: Classes, counts: SensitiveCounts, cells: Numbers) -> Numbers:
    return np.bincount(counts.classes, cells, len(classes)).astype(np.float64, copy=False)


def _largest_of(classes: Classes, counts: SensitiveCounts, cells: Numbers) -> Numbers:
    starts = np.searchsorted(counts.classes, np.arange(len(classes)))
    largest: Numbers = np.maximum.reduceat(cells, starts)
    return largest


def _distinct_l(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """Distinct l-diversity (Machanavajjhala et al. 2007): the number of values in the class; 1 if all have one."""
    values = _sum_of(classes, counts, np.ones(len(counts.counts)))
    return np.where(_are_all_told(classes, counts), 1.0, values)


def _entropy_l(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """Entropy l-diversity (Machanavajjhala et al. 2007): `exp(H(q))`, the largest `l` with `H(q) >= ln l`."""
    q = counts.counts / _pairs(classes, counts)[counts.classes]
    return np.where(_are_all_told(classes, counts), 1.0, np.exp(_sum_of(classes, counts, -q * np.log(q))))


def _equal_t(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """t-closeness, equal distance (Li et al. 2007): `sum |q - p| / 2`, which is the sum of `q - p` where `q > p`.

    If people have several values, what is gained and what is lost differ: it is the larger of the two, at most 1.
    """
    q, p = _shares(classes, counts)
    gained, values = _sum_of(classes, counts, np.maximum(q - p, 0.0)), counts.whole.sum()
    if values == counts.people:
        return gained
    lost = values / counts.people - _sum_of(classes, counts, np.minimum(q, p))
    larger: Numbers = np.minimum(1.0, np.maximum(gained, lost))
    return larger


def _ordered_t(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """t-closeness, ordered distance (Li et al. 2007): `sum_i |Q_i - P_i| / (m - 1)`, `Q` and `P` cumulative.

    Between two values of a class, `Q` does not change while `P` rises, so each such stretch is a closed sum.
    """
    values = len(counts.whole)
    if values == 1:
        return np.zeros(len(classes))
    below = np.cumsum(counts.whole) / counts.whole.sum()
    first = np.searchsorted(counts.classes, np.arange(len(classes)))
    pairs = _pairs(classes, counts).astype(np.int64)
    earlier = np.cumsum(pairs) - pairs
    level = (np.cumsum(counts.counts) - earlier[counts.classes]) / pairs[counts.classes]
    ends = np.append(counts.values[1:], values)
    ends[first[1:] - 1] = values
    head = _stretch(below, np.zeros(len(classes)), np.zeros(len(classes), dtype=np.intp), counts.values[first])
    return (head + _sum_of(classes, counts, _stretch(below, level, counts.values, ends))) / (values - 1)


def _stretch(below: Numbers, level: Numbers, start: NDArray[np.intp], end: NDArray[np.intp]) -> Numbers:
    """Return `sum |level - below[i]|` over `start <= i < end`, for ascending `below`."""
    sums = np.append(0.0, np.cumsum(below))
    turn = np.clip(np.searchsorted(below, level), start, end)
    under = level * (turn - start) - (sums[turn] - sums[start])
    over = (sums[end] - sums[turn]) - level * (end - turn)
    # Rounding may make an empty sum negative.
    stretch: Numbers = np.maximum(under + over, 0.0)
    return stretch


def _alpha(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """(alpha, k)-anonymity (Wong et al. 2006), for every value of the attribute: `max q`."""
    q, _ = _shares(classes, counts)
    return _largest_of(classes, counts, q)


def _beta(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """Basic beta-likeness (Cao and Karras 2012): `max (q - p) / p`, the relative gain of confidence."""
    q, p = _shares(classes, counts)
    return _largest_of(classes, counts, (q - p) / p)


def _delta_disclosure(classes: Classes, counts: SensitiveCounts) -> Numbers:
    """delta-disclosure (Brickell and Shmatikov 2008): `max |ln(q / p)|` over the values that a class has.

    In the paper, a value that a class lacks makes delta infinite, which would happen in nearly every table. Such values
    are left out here, as in pycanon. They still affect `l` and `t`.
    """
    q, p = _shares(classes, counts)
    return _largest_of(classes, counts, np.abs(np.log(q / p)))


_NO_LIMIT = 100
"""Beyond this factor a value is rare, and the number is useless as a limit."""


def _times(times: float, how: str, when: str = "") -> str:
    """Say in words by what factor a value can become more likely."""
    if times > _NO_LIMIT:
        return f"no useful limit: {when}a value can be more than {_NO_LIMIT} times {how}"
    return f"{when}a value can be {number(times)} times {how}"


#: Rounding may raise the entropy l-diversity of a single value up to this.
_MORE_THAN_ONE = 1 + 1e-9

# The effect of merging. A coarser class is a union of finer ones. If it has fewer than `k` records or `l` values, so
# has each finer class. `entropy_l`, `t`, `ordered_t`, `alpha` and `beta` are quasi-convex in the class's distribution.
# The distribution of a union is a mean of those of the finer classes, so the union is no worse than the worst of them
# (Machanavajjhala et al. 2007; Li et al. 2007; Cao and Karras 2012). `delta_disclosure` ignores a value that a class
# lacks until a union has it. Merging sensitive values does not change `k` and brings distributions nearer (`t`,
# `beta`), but makes the values fewer (`l`, `entropy_l`) and more frequent (`alpha`), and changes their order
# (`ordered_t`). `epsilon` is valid for anything computed from a release, and so is a limit on attacks: an attacker with
# the finer release can compute the coarser one, and attack that.
_CRITERIA = (
    Criterion(
        name="k",
        word="k-anonymity",
        meaning="the size of the smallest equivalence class: at least so many records, or people where these are "
        "counted, agree on all quasi-identifiers. 1 means that one stands alone. More is better. (Sweeney 2002)",
        axis="k: records in the smallest equivalence class",
        consequence=lambda reached: (
            "some record stands alone"
            if reached == 1
            else f"every record is one of at least {number(reached, 6)} alike"
        ),
        of_people=lambda reached: (
            "some class has records of one person only"
            if reached == 1
            else f"every record may be that of any of at least {number(reached, 6)} people"
        ),
        of_sizes=lambda sizes: sizes.astype(np.float64),
        is_whole=True,
        survives_merged_classes=True,
        survives_merged_values=True,
    ),
    Criterion(
        name="l",
        word="distinct l-diversity",
        meaning="how many sensitive values the least diverse class has. With 1, anyone who finds the class knows the "
        "value of everyone in it, however large it is. More is better. (Machanavajjhala et al. 2007)",
        axis="l: fewest distinct sensitive values in an equivalence class",
        consequence=lambda reached: (
            "someone who finds a person's class may learn the value for certain"
            if reached == 1
            else f"at least {number(reached, 6)} values are possible for every record"
        ),
        of_values=_distinct_l,
        is_whole=True,
        survives_merged_classes=True,
    ),
    Criterion(
        name="entropy_l",
        word="entropy l-diversity",
        meaning="how many equally frequent sensitive values would be as hard to guess as those of the least diverse "
        "class: like l, but rare values count for less. More is better. (Machanavajjhala et al. 2007)",
        axis="entropy l: smallest effective number of sensitive values in a class",
        consequence=lambda reached: (
            "some class leaves nothing to guess: all its records have one value"
            if reached < _MORE_THAN_ONE
            else f"guessing a value is as hard as among {number(reached)} equally frequent ones"
        ),
        of_values=_entropy_l,
        survives_merged_classes=True,
    ),
    Criterion(
        name="t",
        word="t-closeness",
        meaning="how far the sensitive values of a class differ from those of the whole table, from 0 (alike) to 1: "
        "the share of records whose value would have to change. Less is better. (Li et al. 2007)",
        axis="t: largest distance of a class's sensitive values from the table's",
        consequence=lambda reached: f"a class differs from the whole table in {Share(reached)} of its records",
        of_people=lambda reached: f"a class differs from the whole table in {Share(reached)} of its people",
        of_values=_equal_t,
        compares=True,
        survives_merged_classes=True,
        survives_merged_values=True,
    ),
    Criterion(
        name="ordered_t",
        word="t-closeness, ordered",
        meaning="t-closeness for values that have an order, such as amounts: a change to a neighbouring value counts "
        "for less than one across the whole range. Texts have an order only if a plan or their type states it. Less is "
        "better. (Li et al. 2007)",
        axis="ordered t: largest distance of a class's sensitive values from the table's",
        consequence=lambda reached: f"values are moved by up to {Share(reached)} of their range on average",
        of_values=_ordered_t,
        compares=True,
        needs_order=True,
        survives_merged_classes=True,
    ),
    Criterion(
        name="alpha",
        word="(alpha, k)-anonymity",
        meaning="the largest share that one sensitive value has of a class: how sure a guess can be. 1 means "
        "certainty. Less is better. (Wong et al. 2006)",
        axis="alpha: largest share of one sensitive value in a class",
        consequence=lambda reached: f"a guess can be right in {Share(reached)} of the cases",
        of_values=_alpha,
        survives_merged_classes=True,
    ),
    Criterion(
        name="beta",
        word="beta-likeness",
        meaning="by how much a sensitive value can become more likely once the class is known: 0 means not at all, 1 "
        "twice as likely, 2 three times. Less is better. (Cao and Karras 2012)",
        axis="beta: largest relative gain in confidence in a sensitive value",
        consequence=lambda reached: _times(1 + reached, "as likely as in the whole table", "once the class is known, "),
        of_values=_beta,
        compares=True,
        survives_merged_classes=True,
        survives_merged_values=True,
    ),
    Criterion(
        name="delta_disclosure",
        word="delta-disclosure",
        meaning="how much more or less likely a sensitive value of a class is in that class than in the whole table, "
        "as a natural logarithm: 0.7 is a factor of two. Less is better. (Brickell and Shmatikov 2008)",
        axis="delta: largest log ratio of a sensitive value's share in a class to the table's",
        consequence=lambda reached: _times(exp(reached), "more or less likely in a class than in the whole table"),
        of_values=_delta_disclosure,
        compares=True,
    ),
    Criterion(
        name="epsilon",
        word="differential privacy",
        meaning="the privacy budget: how much one person's record can change the likelihood of any release, as a "
        "natural logarithm. A mechanism has it, not a table, so state it only if you know why it is "
        "true. Less is better. (Dwork 2006)",
        axis="epsilon: privacy budget of differential privacy",
        consequence=lambda reached: f"one record makes any release at most {number(exp(reached))} times as likely",
        survives_merged_classes=True,
        survives_merged_values=True,
    ),
    Criterion(
        name="reidentification",
        word="re-identification",
        meaning="the largest share of attacked people whose unknown quasi-identifiers an attacker predicts from the "
        "release, within a tolerance: an attack shows it, not the table. Chance gives some, too. Less is better. "
        "(Bagad et al. 2021)",
        axis="re-identification: share of people whose quasi-identifiers are predicted",
        consequence=lambda reached: f"{Share(reached)} of the attacked people were recognised",
        survives_merged_classes=True,
        survives_merged_values=True,
    ),
    Criterion(
        name="attribute_disclosure",
        word="attribute disclosure",
        meaning="the largest share of attacked people whose sensitive value the nearest records of the release tell: "
        "an attack shows it, not the table. Chance gives some, too. Less is better. (Bagad et al. 2021)",
        axis="attribute disclosure: share of people whose sensitive value is guessed",
        consequence=lambda reached: f"the sensitive value of {Share(reached)} of the attacked people was guessed",
        survives_merged_classes=True,
        survives_merged_values=True,
    ),
    Criterion(
        name="membership",
        word="membership inference",
        meaning="how well an attacker tells the people in the table from others, as an area under the ROC curve: 0.5 "
        "is chance, 1 certainty. Only an attack measures it. Less is better. (Hayes et al. 2019)",
        axis="membership: AUC of telling who is in the table",
        consequence=lambda reached: (
            f"a person of the table is distinguished from another in {Share(reached)} of the cases; chance gives 50 %"
        ),
        survives_merged_classes=True,
        survives_merged_values=True,
    ),
)

CRITERIA: Final[dict[str, Criterion]] = {criterion.name: criterion for criterion in _CRITERIA}
"""The registry, by name, in the contract's order."""

if list(CRITERIA) != list(PRIVACY_CRITERIA):
    raise ImportError(f"the registry has {', '.join(CRITERIA)}, but the contract has {', '.join(PRIVACY_CRITERIA)}")


def without_left_out(name: str, number: float) -> float:
    """Round a criterion that compares with the whole table to two digits, so that it promises no more than before.

    Beside the masked table, the exact value would disclose the labels of the left-out records.
    """
    return two_digits(name, number) if CRITERIA[name].compares else number
