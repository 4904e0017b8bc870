"""Made-up court records: what was known at the screening, and columns that only exist since the second offence."""

from datetime import date, timedelta

import numpy as np

RECORDS = 7_000
LABEL = "two_year_recid"
KNOWN = ("age", "age_cat", "race", "sex", "priors", "charge", "screened")
LEAKING = ("is_recid", "r_offense_date", "r_charge", "r_jail_in", "end")
"""What is there, or known, only after the second offence: whether there was one (in 2 years or later), its date, the
charge, the jail; and the day on which whoever offended again was looked for no more."""


def columns(records=RECORDS, seed=3, last=760):
    """Columns of texts by name, the label included; who offends again does so within `last` days."""
    random = np.random.default_rng(seed)
    age = np.clip(random.gamma(3, 6, records).astype(int) + 18, 18, 80)
    priors = random.geometric(0.25, records) - 1
    male = random.random(records) < 0.8
    odds = 0.25 * priors - 0.04 * (age - 30) + 0.4 * male - 0.5
    again = random.random(records) < 1 / (1 + np.exp(-odds))
    after = random.integers(5, last, records)  # days: some offend again, but after two years
    first = [date(2013, 1, 1) + timedelta(int(each)) for each in random.integers(0, 600, records)]
    second = [day + timedelta(int(days)) for day, days in zip(first, after, strict=True)]
    jailed = again & (random.random(records) < 0.7)
    charges = np.array(["battery", "theft", "possession", "driving", "fraud", "burglary"])

    def where(happened, values):
        return [str(value) if has else "" for has, value in zip(happened, values, strict=True)]

    later = [day + timedelta(int(days)) for day, days in zip(second, random.integers(0, 20, records), strict=True)]
    ended = [day + timedelta(800 + int(each)) for day, each in zip(first, random.integers(0, 90, records), strict=True)]
    return {
        "case_number": [f"13{place:06d}CF10A" for place in random.integers(0, records * 9 // 10, records)],
        "screened": list(map(str, first)),
        "age": list(map(str, age)),
        "age_cat": np.select([age < 25, age <= 45], ["under 25", "25 to 45"], "over 45").tolist(),
        "race": random.choice(
            ["African-American", "Caucasian", "Hispanic", "Other"], records, p=[0.5, 0.35, 0.1, 0.05]
        ).tolist(),
        "sex": np.where(male, "M", "F").tolist(),
        "sex_code": np.where(male, "1", "0").tolist(),
        "priors": list(map(str, priors)),
        "charge": random.choice(charges, records).tolist(),
        "is_recid": np.where(again, "1", "0").tolist(),
        "r_offense_date": where(again, second),
        "r_charge": where(again, random.choice(charges, records)),
        "r_jail_in": where(jailed, later),
        "end": [str(max(one, two)) for one, two in zip(ended, later, strict=True)],
        LABEL: np.where(again & (after <= 730), "1", "0").tolist(),
    }
