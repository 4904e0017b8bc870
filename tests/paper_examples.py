"""The worked examples of the paper on Aegis (SIGMOD 2025) and of its draft, with the numbers that their texts give."""

import numpy as np

LABELS = ("VP", "P", "M", "G", "VG")
"""The paper's classes of health, from very poor to very good, in the order of its tables."""

FIGURE_3 = {
    "Age": ["10", "10", "43", "65", "75", "80"],
    "Weight": ["30", "31", "63", "71", "80", "78"],
    "Zip": ["21162", "21168", "22170", "23175", "23173", "25165"],
    "Health": ["G", "G", "M", "P", "VP", "VG"],
}
"""The excerpt of figure 3."""

AGES = (10, 17, 43, 55, 60, 65, 75, 80)
AGE_COUNTS = np.array([4, 12, 4, 30, 20, 10, 10, 10])
HEALTH_COUNTS = {"VG": 14, "G": 16, "M": 30, "P": 25, "VP": 15}
"""The marginal distributions of 100 people in figure 3."""

YOUNG = np.array([age <= 45 for age in AGES])
MASKED_AGE = np.array([[0, 0, 1, 7, 12], [15, 25, 29, 9, 2]])
"""(young and old, classes) The counts of section 4.3."""

SAID = {"mutual_information": 0.640, "g3": 0.53, "chi_square": 85.96}
"""What section 3.2.1 says of age and health; it gives no joint counts."""

MASKED_BY_M1 = {
    "Age": ["1-10", "1-10", "31-40", "61-70", "71-80", "71-80"],
    "Weight": ["3*", "3*", "6*", "7*", "8*", "7*"],
    "Zip": ["*"] * 6,
}
MASKED_BY_M2 = {
    "Age": ["Young", "Young", "Young", "Old", "Old", "Old"],
    "Weight": ["30-35", "30-35", "60-65", "70-75", "80-85", "75-80"],
    "Zip": FIGURE_3["Zip"],
}
"""The two masked tables of section 2. Age 43 is said to be in 31-40."""

DRAFT_AGES = (21, 25, 30, 42, 48, 55)
DRAFT_HEALTH = ("Good", "Good", "Moderate", "Poor", "Poor", "Good")
"""The ages of the draft's table 1, which its figure 1 lacks in the text, and the label of that figure."""

DRAFT_LABELS = ("Good", "Moderate", "Poor")
DRAFT_MASKED = {
    "D1": ("20-29", "20-29", "30-39", "40-49", "40-49", "50-59"),
    "D2": ("20-40", "20-40", "20-40", "40-60", "40-60", "40-60"),
    "D3": ("2x", "2x", "3x", "4x", "4x", "5x"),
}
"""The masked ages of the draft's figure 3."""

DRAFT_WEIGHTS = {
    "D1": ("5x", "5x", "6x", "7x", "8x", "8x"),
    "D2": ("50-60", "50-60", "60-69", "70-79", "80-89", "70-79"),
    "D3": ("5x", "5x", "6x", "7x", "8x", "8x"),
}
"""Its masked weights: 78, the last, is 8x in two of them, though 71 is 7x."""

DRAFT_HEIGHTS = {"D1": ("*",) * 6, "D2": tuple("123456"), "D3": tuple("123456")}
"""Its heights, hidden or as they are, all different; the draft's figure 1 has postcodes in their place."""

DRAFT_TABLES = {
    "D1": [[2, 0, 0], [0, 1, 0], [0, 0, 2], [1, 0, 0]],
    "D2": [[3, 1, 0], [1, 0, 1]],
    "D3": [[2, 0, 0], [0, 1, 0], [0, 0, 2], [0, 0, 1]],
}
"""The counts of masked age and health as the draft's tables 2 to 4 print them."""


def counted(masked: tuple[str, ...], health: tuple[str, ...], labels: tuple[str, ...]) -> np.ndarray:
    """Return (masked values, labels) how often each occurs with each, in the order of first occurrence."""
    rows = list(dict.fromkeys(masked))
    table = np.zeros((len(rows), len(labels)), dtype=np.int64)
    for value, label in zip(masked, health, strict=True):
        table[rows.index(value), labels.index(label)] += 1
    return table
