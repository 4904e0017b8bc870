"""What a model trained on a masked table will reach, from counts alone."""

from aegis_advisor.expected.performance import Expected, expect, expect_number, expect_of_trace
from aegis_advisor.expected.sampling import beyond_table

__all__ = ["Expected", "beyond_table", "expect", "expect_number", "expect_of_trace"]
