"""The service accepts an entry that the provider's tools make with every kind of masking function, and answers it."""

import csv

import numpy as np
import pytest

from aegis_provider import load_plan
from tests.provider.documents import summarize
from tests.service import ask, publish

PLAN = """
label: ill
seed: 20260721
attributes:
  age:
    hierarchy: {intervals: [5, 10, 20]}
    maskings:
      age-frequent: {bucketize: {equal_frequency: 4}}
      age-limits: {top_bottom: {top: 70, bottom: 25}}
      age-noise: {noise: {kind: laplace, scale: 4, step: 5, lower: 0, upper: 100}}
  seen:
    hierarchy: {dates: [month, quarter, year]}
    maskings:
      seen-end: {blur: {keep: 2, at: end}}
  town:
    hierarchy: {prefixes: [3, 2]}
    maskings:
      town-token: {token: {salt_file: salt.txt}}
      town-tree: {hierarchy: {tree: {north: [T010, T011, T020], south: [T110, T121]}, level: 1}}
  smoker:
    maskings:
      smoker-response: {randomised_response: {keep: 0.7}}
      smoker-pram: {pram: {transition: {no: {no: 0.9, yes: 0.1}, yes: {yes: 1}}}}
      smoker-shuffled: {shuffle: {}}
configurations:
  fine: {age: age-1, seen: seen-1, town: town-1, smoker: identity}
  coarse: {age: age-3, seen: seen-3, town: town-tree, smoker: drop}
  tokens: {age: age-frequent, seen: seen-end, town: town-token, smoker: smoker-pram}
  chance: {age: age-noise, seen: seen-2, town: town-2, smoker: smoker-response}
  shuffled: {age: age-limits, seen: drop, town: town-1, smoker: smoker-shuffled}
"""


@pytest.fixture(scope="module")
def entry(tmp_path_factory):
    folder = tmp_path_factory.mktemp("every")
    random = np.random.default_rng(1)
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "seen", "town", "smoker", "ill"])
        for age in random.integers(18, 90, 600):
            smoker = random.random() < 0.4
            ill = "yes" if random.random() < (age / 200 + 0.4 * smoker) else "no"
            seen = f"20{random.integers(22, 24)}-{random.integers(1, 13):02}-{random.integers(1, 29):02}"
            town = random.choice(["T010", "T011", "T020", "T110", "T121"])
            rows.writerow([age, seen, town, "yes" if smoker else random.choice(["no", ""]), ill])
    (folder / "salt.txt").write_text("a salt of more than sixteen bytes", encoding="utf-8")
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return summarize(folder / "table.csv", load_plan(folder / "plan.yaml"), name="every-function")


@pytest.mark.long
@pytest.mark.parametrize("measure", ["mutual_information", "chi_square", "g3"])
async def test_the_service_ranks_all_configurations(api, worker, entry, measure):
    head = await publish(api, entry)
    asked = await ask(api, head["id"], measure=measure, limit=10)
    assert asked.status_code == 202, asked.text
    await worker.run()
    answer = (await api.get(asked.headers["Location"])).json()
    assert answer["status"] == "succeeded", answer["problem"]
    assert {row["configuration"] for row in answer["ranking"]} == {"fine", "coarse", "tokens", "chance", "shuffled"}
    found = {attribute["name"]: attribute for attribute in answer["attributes"]}
    assert all(attribute["reconstruction"]["converged"] for attribute in found.values())
    assert found["town"]["knowledge"] == "no_histogram"
    assert found["age"]["maskings"]["age-noise"]["source"] == "counts"
    assert found["smoker"]["maskings"]["smoker-shuffled"]["source"] == "counts"


async def test_tokens_are_worth_as_much_as_the_values_themselves(api, worker, entry):
    head = await publish(api, entry)
    asked = await ask(api, head["id"], limit=10)
    await worker.run()
    answer = (await api.get(asked.headers["Location"])).json()
    [town] = (attribute for attribute in answer["attributes"] if attribute["name"] == "town")
    assert town["maskings"]["town-token"]["deviation"] == 0
    assert town["maskings"]["town-token"]["utility"] == town["reference_utility"]
    assert town["maskings"]["town-token"]["utility"] > town["maskings"]["town-1"]["utility"] > 0
