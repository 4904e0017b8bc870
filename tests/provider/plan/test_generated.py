"""Generated tables in a plan: strictly read, and written again as they are."""

import pytest

from aegis_provider import PlanError, load_plan, write_plan
from aegis_provider.plan.generated import GeneratedTable
from tests.for_each import for_each

DIGEST = "0f" * 32
PLAN = """label: y
attributes:
  a: {maskings: {tens: {bucketize: {width: 10}}}}
configurations:
  c1: {a: tens}
privacy:
  c1: {k: 5}
  g1: {membership: 0.55, epsilon: 1}
holdout: 0.25
generated:
  g1:
    file: tables/made.csv
    sha256: DIGEST
    method: trees
    weights: {privacy: 5, value: 0, attributes: {a: {privacy: 1, importance: 0.5}}}
    attacks: {membership: {value: 0.5, low: 0.48, high: 0.52, chance: 0.5}}
    delta: 0.00001
""".replace("DIGEST", DIGEST)


def test_a_plan_states_generated_tables(write, tmp_path):
    plan = load_plan(write("plan.yaml", PLAN))
    assert plan.holdout == 0.25
    assert plan.generated == (
        GeneratedTable(
            "g1",
            tmp_path / "tables/made.csv",
            DIGEST,
            {
                "method": "trees",
                "weights": {"privacy": 5, "value": 0, "attributes": {"a": {"privacy": 1, "importance": 0.5}}},
                "attacks": {"membership": {"value": 0.5, "low": 0.48, "high": 0.52, "chance": 0.5}},
                "delta": 1e-5,
                "privacy": {"membership": 0.55, "epsilon": 1},
            },
        ),
    )
    assert [each.id for each in plan.configurations] == ["c1"]
    assert tmp_path / "tables/made.csv" in plan.files


def test_it_is_written_again_for_another_folder(write, tmp_path):
    source = write("plan.yaml", PLAN)
    plan = load_plan(source)
    (tmp_path / "below").mkdir()
    write_plan(source, plan, plan.configurations, tmp_path / "below" / "again.yaml", "Again.")
    again = load_plan(tmp_path / "below" / "again.yaml")
    assert [each.stated for each in again.generated] == [each.stated for each in plan.generated]
    assert [each.file.resolve() for each in again.generated] == [each.file for each in plan.generated]
    assert again.holdout == plan.holdout


@for_each(
    ("old", "new", "message"),
    [
        (f"sha256: {DIGEST}", "sha256: 0f0f", "generated.g1.sha256: expected a SHA-256"),
        (f"    sha256: {DIGEST}\n", "", "generated.g1: `sha256` is missing"),
        ("    method: trees\n", "", "generated.g1: `method` is missing"),
        ("    method: trees", "    method: trees\n    made: today", "generated.g1: unknown key 'made'"),
        ("holdout: 0.25\n", "", "`holdout` is missing"),
        ("holdout: 0.25", "holdout: 0", "holdout: must be from 0.001 to 0.9, not 0"),
        ("holdout: 0.25", "holdout: 0.95", "holdout: must be from 0.001 to 0.9, not 0.95"),
        ("high: 0.52", "high: 0.49", "generated.g1: attacks.membership"),
        ("membership: {value", "guessing: {value", "generated.g1: attacks.guessing: Unknown attack"),
        ("membership: 0.55", "membership: 0.51", "generated.g1: privacy.membership: Is 0.51, below"),
        ("membership: 0.55", "k: 5", "generated.g1: privacy.k: A generated table promises"),
        ("privacy: 5, value", "privacy: five, value", "generated.g1.weights.privacy"),
        ("importance: 0.5}", "importance: 1.5}", "generated.g1: weights.attributes.a.importance"),
        ("  g1:\n    file", "  c1:\n    file", "generated: 'c1' is a configuration, too"),
        ("  c1: {k: 5}", "  c1: {k: 5}\n  g2: {k: 5}", "privacy: unknown configuration 'g2'"),
        ("holdout: 0.25", "holdout: 0.25\nsuppressed: {g1: 3}", "suppressed: unknown configuration 'g1'"),
        ("generated:", "generated: none\nseed:", "generated: expected `name: value` pairs"),
    ],
)
def test_what_no_entry_could_say_is_refused_with_its_place(write, old, new, message):
    assert old in PLAN
    with pytest.raises(PlanError) as failure:
        load_plan(write("plan.yaml", PLAN.replace(old, new)))
    assert message in str(failure.value)
    assert str(failure.value).startswith("plan.yaml: ")


def test_it_is_no_masked_configuration(write):
    plan = load_plan(write("plan.yaml", PLAN))
    with pytest.raises(PlanError, match="'g1' is a generated table; name a masked configuration"):
        plan.configuration("g1")
