"""Search for the configurations of a plan that meet requirements on a table, by utility, and its result."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.ranking.order import CodeBlocks, rank
from aegis_advisor.ranking.scores import LEAST, TIE_TOLERANCE
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.counting.counts import Places
from aegis_provider.errors import NothingHoldsError, PlanError
from aegis_provider.plan.limits import limits_in_words, without_limits
from aegis_provider.plan.model import Configuration, Plan
from aegis_provider.privacy import BY_LABEL, CRITERIA, measure_privacy, measure_worst, refuse_without_order
from aegis_provider.processes import Progress
from aegis_provider.search.budget import Clock, work_of
from aegis_provider.search.coarser_labels import shown_coarsely
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.exploration import Exploration
from aegis_provider.search.explorations import explore_each
from aegis_provider.search.giving_way import nothing_meets, what_gives_way
from aegis_provider.search.lattice import Node
from aegis_provider.search.problem import Problem, Requirement, in_words
from aegis_provider.search.utility import measure_of_search
from aegis_provider.table import Source, delimiter_in, open_table
from aegis_sdk.reading import ConfigurationNames, Share
from aegis_sdk.wire import stricter, strictest


@dataclass(frozen=True)
class FrontierPoint:
    """The best configuration that meets a requirement.

    Attributes:
        configuration: The configuration, with its measured `privacy` and number of `suppressed` records; `None` without
            one.
        utility: Its utility; NaN without a configuration.
        share: The utility as a share of that of the unmasked table; NaN without a configuration.
        minimal: The number of combinations that meet the requirement while none finer by one step does; `None` if not
            counted.
        complete: Whether the configuration is proven to be optimal, or no combination proven to meet the requirement.
        at_most_more: An upper bound of the possible gain in utility, as a share of this utility; 0 if complete, `None`
            if unknown.
        unsearched: The share of the work that was not done because the time was up or the search was interrupted.
        unmet: Without a configuration, which requirements cannot hold together, and which gives way; otherwise empty.
    """

    requirement: Requirement
    configuration: Configuration | None
    utility: float
    share: float
    minimal: int | None
    complete: bool
    at_most_more: float | None
    unsearched: float = 0.0
    unmet: str = ""

    @property
    def at_most(self) -> float | None:
        """An upper bound of the share of the unmasked table's utility that can be kept; `None` if unknown."""
        return None if self.at_most_more is None else min(1.0, self.share * (1 + self.at_most_more))


@dataclass(frozen=True)
class LimitsCost:
    """What the limits of a plan's attributes cost, by the best configurations found with and without them.

    Attributes:
        limits: What the limits do, as a subject: `keeping race and sex`.
        kept: The share of the unmasked table's utility that is kept.
        without: The share that would be kept without the limits; at least `kept`.
        proven: Whether both are proven to be the highest.
    """

    limits: str
    kept: float
    without: float
    proven: bool

    @property
    def in_words(self) -> str:
        """The cost in a sentence, in the digits of a card: `keeping race costs 3 points: ... 91 % would be kept`."""
        points = round(100 * self.without) - round(100 * self.kept)
        about = "" if self.proven else "about "
        if not points:
            return f"{self.limits} costs less than a point"
        said = f"costs {about}{points} point{'s' * (points > 1)}"
        return f"{self.limits} {said}: without that, {Share(self.without).whole} could be kept"


@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        configurations: The configurations, the best first; equal ones in the order of `aegis advise`.
        frontier: The best configuration for each requirement, in the order of the requirements.
        unmasked: The utility of the unmasked table, with rare values merged as in an entry; at least the highest
            utility of a configuration.
        interrupted: Whether Ctrl-C ended the search; the configurations are then the best so far.
        ignored: By attribute, the choices excluded because they have too many masked values to compare.
        names: What sets each configuration apart from the others, by id; see `ConfigurationNames`.
        limits: What the plan's limits cost under the first requirement; `None` without limits, or if it is not known.
        lost: The ids of configurations that `measure_again` left out; `None` after a search.
        by_label: With several labels, for each the share of what the unmasked table tells about it that each
            configuration keeps; `shares` are the means.
    """

    configurations: tuple[Configuration, ...]
    utilities: tuple[float, ...]
    shares: tuple[float, ...]
    frontier: tuple[FrontierPoint, ...]
    measure: str
    unmasked: float
    nodes: int
    evaluated: int
    interrupted: bool
    ignored: Mapping[str, tuple[str, ...]]
    records: int
    names: Mapping[str, str]
    limits: LimitsCost | None = None
    lost: tuple[str, ...] | None = None
    by_label: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether the best configuration for each requirement is proven to be optimal."""
        return all(point.complete for point in self.frontier)

    @property
    def cut(self) -> str:
        """What was not searched, in words, because the time was up or Ctrl-C ended it; empty if nothing."""
        return self._cut(self.frontier)

    @property
    def cut_of_first(self) -> str:
        """The same for the first requirement alone."""
        return self._cut(self.frontier[:1])

    def _cut(self, points: Sequence[FrontierPoint]) -> str:
        unsearched = [point for point in points if point.unsearched > 0]
        if not unsearched:
            return ""
        by, most = "Ctrl-C" if self.interrupted else "--seconds", Share(max(point.unsearched for point in unsearched))
        of = " and ".join(in_words(point.requirement.privacy) for point in unsearched)
        return f"{by} ended the search for {of}: up to {most} of its work was not done"


def preferred(nodes: Places, utilities: NDArray[np.float64], most: int) -> Places:
    """(kept, attributes) At most `most` of the (nodes, attributes), the best first.

    The best node with each choice of each attribute comes first, so that every attribute is well preserved in some
    node. The best other nodes follow.
    """
    ordered: Places = nodes[np.argsort(-utilities, kind="stable")]
    if len(ordered) <= most:
        return ordered
    firsts = [np.unique(places, return_index=True)[1] for places in ordered.T]
    standing_for_a_choice = np.unique(np.concatenate(firsts))
    others = np.setdiff1d(np.arange(len(ordered)), standing_for_a_choice)
    chosen = np.concatenate([standing_for_a_choice, others])[:most]
    kept: Places = ordered[np.sort(chosen)]
    return kept


_DECIMALS = 10**6

# The share of the time that ends the search, and the most configurations then described, so that it is kept.
_SEARCHING = 0.9
_MOST_IN_TIME = 100


def find_configurations(
    table: Source,
    plan: Plan,
    requirements: Requirement | Sequence[Requirement],
    *,
    measure: str = "joint",
    most: int = 1000,
    effort: str = "normal",
    seconds: float = 1800.0,
    delimiter: str | None = None,
    memory_limit: str = "1GB",
    progress: Progress = lambda _done, _all: None,
) -> SearchResult:
    """Return the configurations with the most utility, for each requirement.

    The choices for each quasi-identifier are `identity` unless the plan forbids it, its maskings in the plan that are
    not random, and `drop`; of these, only the default and coarser ones if the plan has a default other than `identity`,
    and only those within the plan's limits. What limits cost is found by one more search without them, which has as
    much work as a requirement.
    All other attributes follow their `kept_as`. For each requirement, the result has the best configuration, and those
    that `preferred` chooses among the minimal ones, which cannot be refined by a step. With several labels, the
    requirement holds in the attack on each, utility is the mean over the labels of the share that is kept of what the
    unmasked table tells about each, and the best known configuration for each label is among the results. Labels are
    shown as the plan's defaults say, and numbers in coarser bins where no masking of attributes is enough for the first
    requirement. The `privacy` of each is that of its release, without `suppressed` records.

    A weaker requirement never gets less utility than a stronger one. Ctrl-C ends the search and returns the best
    configurations so far, at least what a greedy descent finds. Unless it or the time limit ends the search, equal
    arguments give equal results, on a busy machine, too.

    Args:
        requirements: The requirements; the frontier has a point for each.
        measure: The measure of utility, from the exact counts of the whole table: `joint`, or the mean of a measure of
            single attributes. It is corrected for chance if that is its default in advice.
        effort: How much work may be done, in evaluations that the requirements share: `small`, `normal` or `thorough`;
            see `EFFORTS`.
        seconds: The time after which the search stops early, from before the table is read.

    Raises:
        PlanError: A requirement is invalid, takes too long to decide or needs an order of sensitive values without one,
        or the measure or effort is unknown.
        TableError: As in `summarize`.
        NothingHoldsError: No configuration meets any requirement.
    """
    required = [requirements] if isinstance(requirements, Requirement) else list(requirements)
    if not required:
        raise PlanError("nothing is required; require k=5, for example")
    for requirement in required:
        requirement.check(plan)
    delimiter = delimiter or delimiter_in(table, plan.label)
    limits = limits_in_words(plan)
    by, searches = measure_of_search(measure, plan), len(required) + bool(limits)
    work, clock = work_of(effort, searches), Clock(_SEARCHING * seconds, searches, progress)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = CountedTable.of(opened, plan)
        refuse_without_order([name for requirement in required for name in requirement.privacy], counted, plan)
        counted, plan = shown_coarsely(counted, plan, required[0])
        problem = Problem.of(counted, plan, required, by)
        unlimited = Problem.of(counted, without_limits(plan), required[:1], by) if limits else None
    explorations = [Exploration(evaluation, problem.utility, clock, work) for evaluation in problem.evaluations]
    interrupted = explore_each(explorations, plan.source)
    if not any(exploration.utilities for exploration in explorations):
        raise NothingHoldsError(nothing_meets(explorations[0].evaluation, required, plan, reported(required)))
    if any(exploration.cut for exploration in explorations):
        most = min(most, _MOST_IN_TIME)
    free = None
    if unlimited is not None and not interrupted:
        free = Exploration(unlimited.evaluations[0], unlimited.utility, clock, work)
        interrupted = explore_each([free], plan.source)
    result = _Found(problem, counted, plan, required, explorations, most, interrupted, free).result(measure)
    first = result.frontier[0]
    if free is None or interrupted or first.configuration is None:
        return result
    without = max(first.share, free.best / result.unmasked) if result.unmasked > 0 else first.share
    cost = LimitsCost(limits, first.share, without, first.complete and free.complete)
    return replace(result, limits=cost)


def choose_again(
    counted: CountedTable,
    plan: Plan,
    told: DistinctRecords,
    most: int,
    *,
    requirement: Requirement,
    measure: str,
    effort: str,
    of: int,
    seconds: float,
) -> tuple[Configuration, ...]:
    """Return the choice of `find_configurations` if it knew the label of only some of the records.

    Args:
        counted: The counted table; the requirement applies to all its records.
        told: The records that utility is measured on; see `Problem.of`.
        most: The most configurations to return, the best first.
        of: The number of requirements of that search, so that this one gets the same share of the work.

    Raises:
        PlanError: As in `find_configurations`.
        NothingHoldsError: No configuration meets the requirement.
    """
    clock = Clock(seconds, 1, lambda _done, _all: None)
    problem = Problem.of(counted, plan, [requirement], measure_of_search(measure, plan), told)
    work = work_of(effort, of + bool(limits_in_words(plan)))
    exploration = Exploration(problem.evaluations[0], problem.utility, clock, work, proves=False)
    if explore_each([exploration], plan.source):
        raise KeyboardInterrupt
    if not exploration.utilities:
        raise NothingHoldsError(nothing_meets(exploration.evaluation, [requirement], plan, reported([requirement])))
    result = _Found(problem, counted, plan, [requirement], [exploration], most, interrupted=False).result(measure)
    return result.configurations[:most]


@dataclass(frozen=True, eq=False)
class _Found:
    """The state of a search, on the way to its result. `free`: a search without the plan's limits, if there was one."""

    problem: Problem
    counted: CountedTable
    plan: Plan
    required: Sequence[Requirement]
    explorations: Sequence[Exploration]
    most: int
    interrupted: bool
    free: Exploration | None = None

    def result(self, measure: str) -> SearchResult:
        """Return the result, the best configuration first."""
        quota = max(1, self.most // len(self.explorations))
        kept: list[set[Node]] = []
        for exploration in self.explorations:
            nodes = exploration.nodes
            known = np.array([exploration.utilities[node] for node in nodes])
            best = preferred(np.array(nodes, dtype=np.intp), known, quota).tolist() if nodes else []
            kept.append({*map(tuple, best), *self._best_by_label(exploration)})
        order = self._order([node for each in kept for node in each])
        found: dict[tuple[Node, object], tuple[Configuration, float]] = {}
        of_requirement: list[Configuration | None] = [None] * len(kept)
        for node in order:
            for place, exploration in enumerate(self.explorations):
                if node in kept[place]:
                    maskings = exploration.evaluation.lattice.maskings(node)
                    about = (self.plan, maskings, f"c{len(found) + 1:04}", reported(self.required))
                    configuration = described(exploration.evaluation, node, *about)
                    key = node, (*configuration.privacy.items(), configuration.suppressed)
                    former, utility = found.setdefault(key, (configuration, exploration.utilities[node]))
                    required = strictest(former.required or {}, configuration.required or {})
                    configuration = replace(former, required=required)
                    found[key] = configuration, utility
                    of_requirement[place] = of_requirement[place] or configuration
        configurations, utilities = zip(*found.values(), strict=True)
        others = [] if self.free is None else [self.free]
        unmasked = max(self.problem.unmasked, *utilities, *(each.best for each in others))
        return SearchResult(
            configurations=configurations,
            utilities=utilities,
            shares=tuple(each / unmasked if unmasked > 0 else 1.0 for each in utilities),
            frontier=tuple(self._points(of_requirement, unmasked)),
            measure=measure,
            unmasked=unmasked,
            nodes=self.problem.nodes,
            evaluated=self.problem.evaluated + sum(each.evaluated for each in (*self.explorations, *others)),
            interrupted=self.interrupted,
            ignored=self.problem.ignored,
            records=int(self.explorations[0].evaluation.records.counts.sum()),
            names=named(self.counted, self.plan, configurations),
            by_label=self.problem.kept_by_label([node for node, _ in found]),
        )

    def _best_by_label(self, exploration: Exploration) -> Iterator[Node]:
        """Yield the best known node for each of several labels, which may be bad for another one."""
        known = sorted(exploration.utilities)
        for about, _ in self.problem.by_label.values() if known else ():
            yield known[int(np.argmax(about.score(np.array(known, dtype=np.intp))[0]))]

    def _order(self, nodes: Iterable[Node]) -> list[Node]:
        """Order nodes like the advisor: by utility, equal ones by mutual information."""
        distinct = sorted(set(nodes))
        codes: Places = np.array(distinct, dtype=np.int64)
        utilities, _ = self.problem.utility.score(codes)
        best = float(utilities.max())
        ranking = rank(
            CodeBlocks.of(codes, self.explorations[0].evaluation.lattice.shape),
            deviations=best - utilities,
            tie_utilities=lambda: self.problem.information.by_choice,
            tolerance=TIE_TOLERANCE * max(abs(best), LEAST),
        )
        return [distinct[place] for place in ranking.order.tolist()]

    def _points(self, best: Sequence[Configuration | None], unmasked: float) -> Iterator[FrontierPoint]:
        for requirement, exploration, configuration in zip(self.required, self.explorations, best, strict=True):
            utility = exploration.best if configuration else np.nan
            is_impossible = configuration is None and exploration.complete
            more = (
                None if np.isinf(exploration.ceiling) or utility <= 0 else max(0.0, exploration.ceiling / utility - 1)
            )
            yield FrontierPoint(
                requirement,
                configuration,
                utility,
                utility / unmasked if unmasked > 0 else 1.0,
                exploration.minimal,
                exploration.complete,
                0.0 if exploration.complete else more,
                exploration.left if (exploration.cut or self.interrupted) and not exploration.complete else 0.0,
                what_gives_way(exploration.evaluation, requirement, self.plan) if is_impossible else "",
            )


def described(
    evaluation: Evaluation, node: Node, plan: Plan, maskings: Mapping[str, str], id_: str, reported: Iterable[str]
) -> Configuration:
    """Return the configuration of a node that meets the requirement, with the measured privacy of its release.

    Args:
        maskings: The masking of each attribute that is searched; the others of the plan have their default.
        id_: The id of the configuration.
        reported: The criteria to measure.
    """
    every = {attribute.name: maskings.get(attribute.name, attribute.kept_as) for attribute in plan.chosen}
    classes, left_out = evaluation.released(node)
    reached = measure_worst(classes, tuple(reported))
    privacy = {each: _outward(each, value, evaluation.require.get(each)) for each, value in reached.items()}
    attacks = zip(evaluation.roles, classes, strict=True)
    by_label = {one.label: measure_privacy(each, BY_LABEL) for one, each in attacks if one.label}
    required = {each: int(limit) if limit == int(limit) else limit for each, limit in evaluation.require.items()}
    return Configuration(id_, every, privacy, left_out or None, required=required, by_label=by_label)


def named(counted: CountedTable, plan: Plan, configurations: Sequence[Configuration]) -> dict[str, str]:
    """Return what sets each configuration apart from the others, by id, from the masked values in the table."""
    attributes = []
    for each in counted.attributes:
        domains = counted.masked_domains(each)
        maskings = [
            {
                "id": one.id,
                "function": {"name": one.function.name, "parameters": one.function.parameters()},
                "domain": domains[one.id].texts if one.id in domains else (),
            }
            for one in each.attribute.maskings
        ]
        kind = each.attribute.value_type or "string"
        attributes.append({"name": each.attribute.name, "type": kind, "maskings": maskings})
    columns = {each.name: [one.maskings[each.name] for one in configurations] for each in plan.attributes}
    table = {"ids": [one.id for one in configurations], "maskings": columns}
    names = ConfigurationNames.of({"attributes": attributes, "configuration_table": table})
    return {one.id: names.name(one.id) for one in configurations}


def reported(required: Iterable[Requirement]) -> tuple[str, ...]:
    """Return `k`, `l` and the required criteria."""
    return tuple(dict.fromkeys(("k", "l", *(name for requirement in required for name in requirement.privacy))))


def _outward(name: str, value: float, required: float | None) -> int | float:
    """Round the value to six decimals so that the release meets it as a promise, but never weaker than required.

    So exactly the suppressed classes, which break the requirement, break the promise.
    """
    if isinstance(value, int):
        return value
    outward = floor if CRITERIA[name].at_least else ceil
    rounded = outward(value * _DECIMALS) / _DECIMALS
    return rounded if required is None else stricter(name, rounded, required)
