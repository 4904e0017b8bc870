"""Writes `visits.csv`: stays of made-up patients in a made-up hospital, most of whom came more than once.

Run it as `python -m examples.visits.make_visits`. A patient has an age, a sex, a district, an insurance and a frailty
that lasts; a stay has a department, an admission, a length and medicines, which depend on them, and so does whether
the patient came back within 30 days. The frail come most often, so the table has more records of them than people.
"""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TABLE = Path(__file__).parent / "visits.csv"
SEED = 2026
PATIENTS = 2_600
MOST_STAYS = 12

DISTRICTS = [
    "Altstadt",
    "Bergheim",
    "Eichfeld",
    "Hafen",
    "Lindenau",
    "Moosach",
    "Neuhof",
    "Ostend",
    "Seeberg",
    "Wiesen",
]
DEPARTMENTS = ("cardiology", "gastroenterology", "internal", "neurology", "oncology", "orthopaedics", "surgery")
RISKS = np.array([0.5, 0.1, 0.4, 0.2, 0.7, -0.6, -0.3])  # of coming back, in log odds, by department


def main() -> None:
    """Draws people, then their stays, and writes these in no order that tells whose they are."""
    random = np.random.default_rng(SEED)
    frailty = random.normal(size=PATIENTS)
    age = np.clip(random.normal(56 + 9 * frailty, 17), 18, 97).astype(int)
    sex = random.choice(["female", "male"], PATIENTS)
    district = random.choice(DISTRICTS, PATIENTS, p=np.arange(10, 0, -1) / 55)
    insurance = random.choice(["public", "private"], PATIENTS, p=[0.88, 0.12])
    stays = 1 + np.minimum(random.negative_binomial(1.5, 1 / (1 + 0.9 * np.exp(0.6 * frailty))), MOST_STAYS - 1)

    of = np.repeat(np.arange(PATIENTS), stays)
    random.shuffle(of)
    department = random.choice(len(DEPARTMENTS), len(of), p=[0.17, 0.13, 0.27, 0.1, 0.09, 0.13, 0.11])
    is_emergency = random.random(len(of)) < _chance(0.7 * frailty[of] - 0.2)
    length = 1 + random.poisson(np.exp(0.9 + 0.35 * frailty[of] + 0.3 * is_emergency))
    medicines = random.poisson(np.exp(0.9 + 0.4 * frailty[of] + 0.008 * (age[of] - 56)))
    odds = -1.6 + 0.9 * frailty[of] + RISKS[department] + 0.6 * is_emergency + 0.08 * (length - 4)
    comes_back = random.random(len(of)) < _chance(odds)

    numbers = random.permutation(90_000)[:PATIENTS] + 10_000
    columns = {
        "patient_id": [f"P{number}" for number in numbers[of]],
        "age": age[of],
        "sex": sex[of],
        "district": district[of],
        "insurance": insurance[of],
        "department": np.array(DEPARTMENTS)[department],
        "admission": np.where(is_emergency, "emergency", "planned"),
        "days": length,
        "medicines": medicines,
        "readmitted": np.where(comes_back, "yes", "no"),
    }
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _chance(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-odds)))


if __name__ == "__main__":
    main()
