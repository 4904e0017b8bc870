"""What a model trained on a masked table will reach, from counts alone."""

from aegis_advisor.expected.performance import Expected, expect, expect_number, expect_of_trace

__all__ = ["Expected", "expect", "expect_number", "expect_of_trace"]
