from datetime import UTC, datetime

from app.console.charts import Step, Timeline
from tests.app.console.charts.svg import parsed


def test_steps_are_an_ordered_list_that_says_when_by_whom_and_why():
    steps = [
        Step("requested", "done", datetime(2026, 3, 1, 12, tzinfo=UTC), "insurer", "<b>care</b>"),
        Step("approved", "current"),
        Step("delivered", "next"),
    ]
    section = parsed(Timeline("requests", "What has happened", steps))
    first, second, third = section.iter("li")
    assert [" ".join(text.split()) for text in first.itertext() if text.strip()] == [
        "requested", "2026-03-01 12:00", "by", "insurer", "<b>care</b>",
    ]  # fmt: skip
    assert next(first.iter("time")).get("datetime") == "2026-03-01T12:00:00+00:00"
    assert second.get("aria-current") == "step"
    assert third.get("class") == "timeline-next"
