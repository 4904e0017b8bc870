"""The search on tables in files, against a check of every combination of maskings in plain Python."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from aegis_provider import (
    NothingHoldsError,
    PlanError,
    Requirement,
    assess,
    find_configurations,
    load_plan,
    summarize,
    write_plan,
)
from aegis_provider.advice import advise
from aegis_provider.counting import published_domain
from aegis_provider.plan.model import Limits
from aegis_provider.search import evaluation as evaluation_module
from aegis_provider.search import exploration as exploration_module
from aegis_provider.search import explorations
from aegis_provider.search import problem as problem_module
from tests.for_each import for_each, for_some
from tests.provider.search import search_oracle as oracle

VALUES = "abcd"
ATTRIBUTES = 3
HOURS = 3600 * 24


@pytest.fixture(autouse=True)
def _raw_values(monkeypatch):
    """Count values as they are, as the oracles do; test_listed_values.py has the merged ones."""
    monkeypatch.setattr(published_domain, "least_records", lambda _records, _rows=1: 1)


def problem_of(seed, requirements):
    """Records of three attributes and two sensitive ones, three maskings of any kind each, and a requirement."""
    draw = Random(seed)
    records = [
        (*(draw.choice("aaabcd") for _ in range(ATTRIBUTES)), draw.choice("xxxyz"), draw.choice("uuv"))
        for _ in range(draw.randint(1, 40))
    ]
    maskings = [["".join(draw.choices("ABCD", k=len(VALUES))) for _ in range(3)] for _ in range(ATTRIBUTES)]
    return records, maskings, draw.choice([(3,), (3, 4)]), draw.choice(requirements), draw.choice([0, 0.1, 0.3])


def written(folder, records, maskings, sensitive):
    """Write the table and the plan to files."""
    table, plan = folder / "t.csv", folder / "plan.yaml"
    table.write_text(
        "".join(f"{','.join(each)}\n" for each in [("a0", "a1", "a2", "y", "s"), *records]), encoding="utf-8"
    )
    lines = ["label: y", f"sensitive: [{'y, s' if 4 in sensitive else 'y'}]", "attributes:"]
    for number, each in enumerate(maskings):
        mapped = (", ".join(f"{v}: {m}" for v, m in zip(VALUES, masking, strict=True)) for masking in each)
        named = (f"m{place}: {{mapping: {{{mapping}}}}}" for place, mapping in enumerate(mapped))
        lines.append(f"  a{number}: {{type: string, maskings: {{{', '.join(named)}}}}}")
    lines += ["  s: {}"] * (4 in sensitive)
    plan.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return table, load_plan(plan, configurations_needed=False)


def choices_of(records, maskings):
    """Return the choices of each attribute by id, as sets of sets of the values that occur."""
    found = []
    for number, each in enumerate(maskings):
        values = {record[number] for record in records}
        mappings = {f"m{place}": dict(zip(VALUES, masking, strict=True)) for place, masking in enumerate(each)}
        mappings |= {"identity": {value: value for value in VALUES}, "drop": dict.fromkeys(VALUES, "*")}
        found.append({name: oracle.blocks(mapping, values) for name, mapping in mappings.items()})
    return found


def check(folder, problem, limits=()):
    """Check that the search finds the minimal combinations and a best one, what they reach and suppress, or none."""
    records, maskings, sensitive, require, share = problem
    table, plan = written(folder, records, maskings, sensitive)
    choices = choices_of(records, maskings)
    distinct = [list(dict.fromkeys(each.values())) for each in choices]
    if limits:
        whole = oracle.every_combination(records, distinct, sensitive, require, Fraction(str(share)))
        plan = replace(plan, attributes=(*map(limited, plan.attributes, limits), *plan.attributes[len(limits) :]))
        distinct = [allowed(*each) for each in zip(distinct, choices, limits, strict=True)]
    if not all(distinct):
        with pytest.raises(PlanError, match=r"^plan.yaml: attributes.a\d: "):
            find_configurations(table, plan, Requirement(require, share), seconds=HOURS)
        return
    holds = oracle.every_combination(records, distinct, sensitive, require, Fraction(str(share)))
    expected = oracle.minimal(holds, distinct)
    if not expected:
        with pytest.raises(NothingHoldsError):
            find_configurations(table, plan, Requirement(require, share), seconds=HOURS)
        return
    found = find_configurations(table, plan, Requirement(require, share), seconds=HOURS)
    nodes = [tuple(choices[n][each.maskings[f"a{n}"]] for n in range(ATTRIBUTES)) for each in found.configurations]
    [point] = found.frontier
    assert len(nodes) == len(set(nodes))
    assert len(expected) == point.minimal
    assert set(nodes[1:]) <= expected <= set(nodes)
    assert found.complete
    for node, each in zip(nodes, found.configurations, strict=True):
        reached, suppressed = holds[node]
        assert (each.suppressed or 0) == suppressed
        assert {name: each.privacy[name] for name in require} == pytest.approx(reached, abs=1.1e-6)
        assert all(oracle.keeps(name, reached[name], each.privacy[name]) for name in require)
    every = {**(whole if limits else {}), **holds}
    if 4 in sensitive:  # then the sensitive attribute is shared too, and counts
        holds, every = (
            {(*node, frozenset({frozenset("u"), frozenset("v")})): None for node in some} for some in (holds, every)
        )
        nodes = [(*node, frozenset({frozenset("u"), frozenset("v")})) for node in nodes]
        records = [(*record[:3], record[4], record[3]) for record in records]
    label = 4 if 4 in sensitive else 3
    utilities = {node: oracle.joint_utility(records, node, label=label) for node in holds}
    if found.limits is not None and found.unmasked > 0:
        most = max(oracle.joint_utility(records, node, label=label) for node in every)
        assert found.limits.without * found.unmasked == pytest.approx(most, abs=1e-9)
    assert found.utilities == pytest.approx([utilities[node] for node in nodes], abs=1e-9)
    assert list(found.utilities) == sorted(found.utilities, reverse=True)
    assert point.configuration == found.configurations[0]
    assert point.utility == pytest.approx(max(utilities.values()), abs=1e-9)


def limited(attribute, limits):
    return replace(attribute, limits=limits)


def allowed(distinct, by_id, limits):
    """Return the choices within limits, by their sets of values alone."""
    least = 2 if limits.kept and limits.coarsest is None and len(by_id["identity"]) > 1 else 1
    return [
        each
        for each in distinct
        if len(each) >= least
        and (limits.finest is None or oracle.is_finer(by_id[limits.finest], each))
        and (limits.coarsest is None or oracle.is_finer(each, by_id[limits.coarsest]))
    ]


@for_some(4, "seed", range(10))
def test_within_limits_as_checking_every_combination(tmp_path, seed):
    """Maskings need not be comparable, so that several may be the coarsest that are not `drop`."""
    draw = Random(seed)
    problem = problem_of(seed, [{"k": 2}, {"l": 2}, {"k": 2, "t": 0.9}])
    finest, coarsest = [None] * 5 + ["m0", "m1"], [None] * 4 + ["m2", "identity"]
    limits = [Limits(draw.random() < 0.6, draw.choice(finest), draw.choice(coarsest)) for _ in range(ATTRIBUTES)]
    check(tmp_path, (*problem[:4], 0.4), limits)


@for_some(
    5, "seed", (0, 3, 5, 6, 7, 8, 11, 12, 15, 17)
)  # each requirement, mostly with one and two sensitive attributes
def test_k_and_l_with_suppression_as_checking_every_combination(tmp_path, seed):
    check(tmp_path, problem_of(seed, [{"k": 2}, {"k": 4}, {"k": 3, "l": 2}, {"l": 2}, {"k": 6, "l": 3}]))


@pytest.mark.long
@for_each("seed", range(25))
def test_other_criteria_as_checking_every_combination(tmp_path, seed):
    requirements = [{"t": 0.25}, {"t": 0.4, "k": 3}, {"entropy_l": 1.7}, {"alpha": 0.7, "l": 2}, {"beta": 0.5}]
    check(tmp_path, problem_of(seed, [*requirements, {"delta_disclosure": 0.5}, {"delta_disclosure": 0.2, "k": 2}]))


def test_what_a_coarser_class_brings_together_may_fail_delta_disclosure(tmp_path):
    """A class without the value v passes; a class with one v among 45 records fails."""
    classes = {"a": "u" * 40, "b": "uuuuv", "c": "u" * 15 + "v" * 9}
    records = [(value, "a", "a", y, "u") for value, labels in classes.items() for y in labels]
    check(tmp_path, (records, [["AACD"], [], []], (3,), {"delta_disclosure": 1.0}, 0))


@pytest.mark.long
def test_the_health_example(health_table):
    """The configurations found meet the requirement, and those kept include every masking that any minimal one uses."""
    plan = load_plan(health_table.with_name("plan.yaml"))
    found = find_configurations(health_table, plan, Requirement({"k": 5, "l": 2}, 0.01), most=30)
    assert (found.nodes, found.frontier[0].minimal, found.complete) == (84_672, 784, True)
    assert len(found.configurations) == 30
    assert found.evaluated < found.nodes / 20
    assert list(found.shares) == sorted(found.shares, reverse=True)
    assert found.shares[0] == pytest.approx(found.utilities[0] / found.unmasked)
    for each in found.configurations:
        assert each.privacy["k"] >= 5
        assert each.privacy["l"] >= 2
        assert each.suppressed <= 201
        assert {"deductible-coded", "drop"}.isdisjoint(each.maskings.values())
    used = [set(each.maskings.items()) for each in found.configurations]
    every = find_configurations(health_table, plan, Requirement({"k": 5, "l": 2}, 0.01))
    assert set().union(*used) == {item for each in every.configurations for item in each.maskings.items()}


def test_roles_decide_what_is_masked(write):
    """Attributes that are not quasi-identifiers stay unmasked, and so does a label that is one."""
    table = write("t.csv", "a,b,c,y\n" + "1,1,1,n\n2,2,2,n\n" * 3)
    text = "label: y\nsensitive: [b]\nquasi_identifiers: [a, y]\nattributes: {a: {}, b: {}, c: {}}\n"
    plan = load_plan(write("plan.yaml", text), configurations_needed=False)
    found = find_configurations(table, plan, Requirement({"l": 2}))
    [only] = found.configurations
    assert only.maskings == {"a": "drop", "b": "identity", "c": "identity"}
    assert (only.privacy, only.suppressed) == ({"k": 6, "l": 2}, None)


def test_an_attribute_that_is_not_searched_is_masked_by_its_default(write):
    """For the sensitive attribute the masked values count: two kinds of cancer become one."""
    table = write("t.csv", "a,s,y\n" + ("1,lung,n\n1,skin,n\n2,lung,n\n2,flu,m\n") * 9)
    attributes = "{a: {}, s: {maskings: {kind: {mapping: {lung: cancer, skin: cancer, flu: flu}}}, default: kind}}"
    text = f"label: y\nsensitive: [s]\nquasi_identifiers: [a]\nattributes: {attributes}\n"
    plan_file = write("plan.yaml", text)
    plan = load_plan(plan_file, configurations_needed=False)
    [raw] = find_configurations(table, replace_default(plan), Requirement({"l": 2})).configurations
    [masked] = find_configurations(table, plan, Requirement({"l": 2})).configurations
    assert raw.maskings == {"a": "identity", "s": "identity"}
    assert masked.maskings == {"a": "drop", "s": "kind"}
    write_plan(plan_file, plan, [masked], plan_file.with_name("found.yaml"), "found")
    assert "{a: drop}" in plan_file.with_name("found.yaml").read_text()


def test_an_attribute_with_tokens_that_is_not_searched_has_one(write):
    write("salt.txt", "0123456789abcdef")
    table = write("t.csv", "a,name,y\n1,Ann,n\n1,Bob,m\n")
    attributes = "{a: {}, name: {maskings: {coded: {token: {salt_file: salt.txt}}}}}"
    text = f"label: y\nquasi_identifiers: [a]\nattributes: {attributes}\n"
    plan = load_plan(write("plan.yaml", text), configurations_needed=False)
    [found] = find_configurations(table, plan, Requirement({"k": 2})).configurations
    assert found.maskings == {"a": "identity", "name": "coded"}


def replace_default(plan):
    return replace(plan, attributes=tuple(replace(each, default="identity") for each in plan.attributes))


def test_what_is_left_to_chance_takes_no_part(write):
    table = write("t.csv", "a,y\n1,n\n1,m\n2,n\n2,m\n")
    attribute = "{type: string, maskings: {r: {randomised_response: {keep: 0.8}}, s: {shuffle: {}}}}"
    text = f"seed: 12345678901234567890\nlabel: y\nattributes: {{a: {attribute}}}\n"
    plan = load_plan(write("plan.yaml", text), configurations_needed=False)
    found = find_configurations(table, plan, Requirement({"k": 3}))
    assert found.nodes == 2
    assert [each.maskings for each in found.configurations] == [{"a": "drop"}]


def test_who_has_tokens_for_an_attribute_is_not_offered_to_share_it_raw(write):
    write("salt.txt", "0123456789abcdef")
    table = write("t.csv", "a,y\n" + "1,n\n1,n\n2,n\n2,m\n" * 9)
    plan = load_plan(
        write("plan.yaml", "label: y\nattributes: {a: {maskings: {coded: {token: {salt_file: salt.txt}}}}}\n"),
        configurations_needed=False,
    )
    found = find_configurations(table, plan, Requirement({"k": 2}))
    assert [each.maskings for each in found.configurations] == [{"a": "coded"}]


def test_nothing_holds_and_the_coarsest_is_named(write):
    table = write("t.csv", "a,y\n1,n\n2,m\n3,m\n")
    plan = load_plan(write("plan.yaml", "label: y\nattributes: {a: {}}\n"), configurations_needed=False)
    with pytest.raises(
        NothingHoldsError, match=r"^plan.yaml: no configuration meets k=2, l=3, at most 0.5 .*k=3, l=2, and 3 of 3"
    ):
        find_configurations(table, plan, Requirement({"k": 2, "l": 3}, 0.5))


@for_each(
    ("requirement", "message"),
    [
        (Requirement({}), "nothing is required"),
        (Requirement({"epsilon": 1}), "'epsilon' cannot be required"),
        (Requirement({"tt": 1}), "did you mean 't'"),
        (Requirement({"k": 5}, 1.0), "at least 0 and below 1, not 1.0"),
        (Requirement({"k": 5}, -0.1), "at least 0 and below 1"),
        (Requirement({"k": 5}, float("nan")), "at least 0 and below 1"),
        (Requirement({"l": 2}), "sensitive: names no attribute, but l needs one"),
    ],
)
def test_requirements_that_make_no_sense(write, requirement, message):
    table = write("t.csv", "a,y\n1,n\n")
    text = "label: y\nsensitive: []\nattributes: {a: {}}\n"
    plan = load_plan(write("plan.yaml", text), configurations_needed=False)
    with pytest.raises(PlanError, match=message):
        find_configurations(table, plan, requirement)


def test_without_a_quasi_identifier_there_is_nothing_to_search(write):
    text = "label: y\nsensitive: [a]\nattributes: {a: {}}\n"
    plan = load_plan(write("plan.yaml", text), configurations_needed=False)
    with pytest.raises(PlanError, match="no attribute is a quasi-identifier"):
        find_configurations(write("t.csv", "a,y\n1,n\n"), plan, Requirement({"k": 1}))


def test_too_many_to_check_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(evaluation_module, "_MOST_ONE_BY_ONE", 5)
    records, maskings, sensitive, _, _ = problem_of(0, [{}])
    table, plan = written(tmp_path, records, maskings, sensitive)
    with pytest.raises(PlanError, match=r"t would have to be checked one by one for \d+ combinations"):
        find_configurations(table, plan, Requirement({"t": 0.5}, 0.5))


@pytest.mark.long
@for_each("seed", range(20))
def test_of_a_lattice_too_large_to_decide_the_best_is_found_and_proven(tmp_path, monkeypatch, seed):
    records, maskings, sensitive, require, share = problem_of(seed, [{"k": 3}, {"k": 2, "l": 2}, {"l": 2}])
    table, plan = written(tmp_path, [*records, *records], maskings, sensitive)
    if seed % 2:  # the coarsest choices are then several
        kept = tuple(replace(attribute, limits=Limits(kept=True)) for attribute in plan.attributes[:ATTRIBUTES])
        plan = replace(plan, attributes=(*kept, *plan.attributes[ATTRIBUTES:]))
    try:
        every = find_configurations(table, plan, Requirement(require, share), seconds=HOURS)
    except NothingHoldsError:
        every = None
    monkeypatch.setattr(evaluation_module, "LARGEST_LATTICE", 0)
    monkeypatch.setattr(explorations, "LARGEST_LATTICE", 0)
    monkeypatch.setattr(exploration_module, "_IDLE_ROUNDS", 20)
    if seed % 4 > 1:  # searched nearby first
        monkeypatch.setattr(explorations, "_QUICKLY_DECIDED", 0)
    if every is None:
        with pytest.raises(NothingHoldsError):
            find_configurations(table, plan, Requirement(require, share), seconds=HOURS)
        return
    found = find_configurations(table, plan, Requirement(require, share), seconds=HOURS)
    [best], [point] = every.frontier, found.frontier
    assert point.minimal is None
    assert point.utility <= best.utility + 1e-9
    assert point.utility * (1 + point.at_most_more) >= best.utility - 1e-9
    assert point.complete
    assert point.utility == pytest.approx(best.utility, abs=1e-9)
    again = find_configurations(table, plan, Requirement(require, share), seconds=HOURS)
    assert (found.configurations, found.evaluated) == (again.configurations, again.evaluated)
    assert found.shares == again.shares
    with pytest.raises(PlanError, match="one by one"):
        find_configurations(table, plan, Requirement({"t": 0.5}, 0.5), seconds=HOURS)


@pytest.mark.long
def test_several_requirements_make_a_frontier(health_table, tmp_path):
    """Each point is what its requirement alone leads to, and each configuration kept keeps its promise."""
    source = health_table.with_name("start.yaml")
    plan = load_plan(source, configurations_needed=False)
    required = [Requirement({"k": k, "l": 2}, share) for k in (2, 20) for share in (0, 0.01)]
    found = find_configurations(health_table, plan, required, most=20, seconds=HOURS)
    assert [point.requirement for point in found.frontier] == required
    assert len(found.configurations) <= 20
    for point in found.frontier:
        alone = find_configurations(health_table, plan, point.requirement, most=1, seconds=HOURS).frontier[0]
        assert (point.minimal, point.complete) == (alone.minimal, True)
        assert point.utility == pytest.approx(alone.utility, rel=1e-12)
        assert point.configuration.maskings == alone.configuration.maskings
        assert point.configuration in found.configurations
        assert point.configuration.privacy["k"] >= point.requirement.privacy["k"]
    loose, strict = ([point.utility for point in found.frontier][at] for at in (slice(0, 2), slice(2, 4)))
    assert all(one >= other for one, other in zip(loose, strict, strict=True))
    write_plan(source, plan, found.configurations, tmp_path / "found.yaml", "found")
    assert not assess(health_table, load_plan(tmp_path / "found.yaml")).check_failures[1:]


@pytest.mark.long
@for_each("measure", ["joint", "mutual_information", "chi_square"])
def test_the_order_is_that_of_advice_on_an_exact_entry(health_table, measure):
    plan = load_plan(health_table.with_name("start.yaml"), configurations_needed=False)
    required = [Requirement({"k": 5}, 0.01), Requirement({"k": 50}, 0.0)]
    found = find_configurations(health_table, plan, required, measure=measure, most=40, seconds=HOURS)
    configured = replace(plan, configurations=found.configurations)
    advice = advise(summarize(health_table, configured, name="found", pairs=True), measure)
    assert [row.id for row in advice.ranking] == [each.id for each in found.configurations]
    assert [row.utility for row in advice.ranking] == pytest.approx(list(found.utilities), rel=1e-9)


def test_ctrl_c_keeps_the_best_so_far(health_table):
    plan = load_plan(health_table.with_name("plan.yaml"), configurations_needed=False)
    calls = []

    def interrupt(done, total):
        calls.append((done, total))
        if len(calls) == 4:
            raise KeyboardInterrupt

    required = [Requirement({"k": 5}, 0.01), Requirement({"k": 10}, 0.01)]
    found = find_configurations(health_table, plan, required, seconds=HOURS, progress=interrupt)
    assert found.interrupted
    assert not found.complete
    assert [total for _, total in calls] == [2000] * 4
    for point in found.frontier:
        assert point.configuration.privacy["k"] >= point.requirement.privacy["k"]
        assert point.at_most_more > 0
    assert found.cut.startswith("Ctrl-C ended the search for k = 5 and k = 10: up to ")


def test_when_the_time_is_up_the_best_so_far_counts(health_table):
    plan = load_plan(health_table.with_name("plan.yaml"), configurations_needed=False)
    found = find_configurations(health_table, plan, Requirement({"k": 5}, 0.01), seconds=1e-9)
    assert not found.interrupted
    assert not found.complete
    assert found.configurations[0].privacy["k"] >= 5


def test_nothing_is_finer_than_a_default(write):
    table = write("t.csv", "a,b,y\n" + "1,1,n\n2,2,m\n3,3,n\n" * 2)
    attributes = "{a: {maskings: {two: {mapping: {1: x, 2: y, 3: x}}}, default: two}, b: {default: drop}}"
    plan = load_plan(write("plan.yaml", f"label: y\nattributes: {attributes}\n"), configurations_needed=False)
    found = find_configurations(table, plan, Requirement({"k": 1}), seconds=HOURS)
    assert found.nodes == 2
    assert found.configurations[0].maskings == {"a": "two", "b": "drop"}


def test_a_default_that_is_left_to_chance_cannot_limit_a_search(write):
    attribute = "{type: string, maskings: {r: {randomised_response: {keep: 0.8}}}, default: r}"
    text = f"seed: 12345678901234567890\nlabel: y\nattributes: {{a: {attribute}}}\n"
    plan = load_plan(write("plan.yaml", text), configurations_needed=False)
    with pytest.raises(PlanError, match="'r' leaves the quasi-identifier 'a' to chance"):
        find_configurations(write("t.csv", "a,y\n1,n\n1,m\n"), plan, Requirement({"k": 1}))


def test_an_attribute_whose_values_are_forbidden_is_masked(write):
    table = write("t.csv", "a,b,y\n" + "1,1,n\n2,2,m\n3,3,n\n" * 2)
    masked = "maskings: {two: {mapping: {1: x, 2: y, 3: x}}}, identity: false"
    text = f"label: y\nquasi_identifiers: [a]\nattributes: {{a: {{{masked}}}, b: {{{masked}}}}}\n"
    plan = load_plan(write("plan.yaml", text), configurations_needed=False)
    found = find_configurations(table, plan, Requirement({"k": 1}), seconds=HOURS)
    assert found.configurations[0].maskings == {"a": "two", "b": "drop"}


def test_choices_with_too_many_values_to_compare_are_named(write, monkeypatch):
    monkeypatch.setattr(problem_module, "MOST_COLUMNS", 8)
    records = "".join(f"{n % 5},{n % 4},{n % 7},{'nm'[n % 2]}\n" for n in range(140))
    attributes = "{a: {type: integer, maskings: {two: {bucketize: {width: 3}}}}, b: {}, c: {}}"
    text = f"label: y\nquasi_identifiers: [a, b]\nattributes: {attributes}\n"
    plan = load_plan(write("plan.yaml", text), configurations_needed=False)
    found = find_configurations(write("t.csv", f"a,b,c,y\n{records}"), plan, Requirement({"k": 1}), seconds=HOURS)
    assert found.ignored == {"c": ("identity",), "a": ("identity",)}
    assert found.configurations[0].maskings["a"] == "two"


@for_each("measure", ["joint_interactions", "g3", "jiont"])
def test_measures_that_cannot_guide_a_search(write, measure):
    plan = load_plan(write("plan.yaml", "label: y\nattributes: {a: {}}\n"), configurations_needed=False)
    with pytest.raises(PlanError, match=f"does not support the measure '{measure}'"):
        find_configurations(write("t.csv", "a,y\n1,n\n1,m\n"), plan, Requirement({"k": 1}), measure=measure)
