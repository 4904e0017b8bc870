"""The service-wide settings that matter to users."""

from dataclasses import dataclass

from app.edge.state import State
from app.pages.words import count, size
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting.

    Attributes:
        variable: its environment variable.
        value: the current value, in words.
        meaning: its effect.
    """

    variable: str
    value: str
    meaning: str


def service_settings(state: State) -> dict[str, tuple[Setting, ...]]:
    """The settings by topic, without secrets and database URLs."""
    return {"Requirements of entries": _of_entries(state), "Limits of tenants": _of_tenants(state)}


def _of_entries(state: State) -> tuple[Setting, ...]:
    policy, admission = state.policy, state.admission
    return (
        _setting("small_counts", admission.small_counts.rule.value),
        _setting("min_cell", "not set" if policy.min_cell is None else count(policy.min_cell)),
        _setting("require_noise", _yes(policy.require_noise)),
        _setting("max_epsilon", "not set" if policy.max_epsilon is None else f"{policy.max_epsilon:g}"),
        _setting("require_privacy", ", ".join(words for _, words in admission.required.in_words()) or "nothing"),
        _setting("max_body_bytes", size(state.max_body_bytes)),
    )


def _of_tenants(state: State) -> tuple[Setting, ...]:
    limits = state.limits
    quota = ", ".join(f"{name} {count(limit)}" for name, limit in limits.quota.numbers.items())
    return (
        _setting("question_budget", count(state.question_budget)),
        _setting("quota", quota or "none"),
        _setting("tenant_jobs", count(state.tenant_jobs)),
        _setting("rate_limit", "none" if limits.requests is None else count(limits.requests.amount)),
        _setting("request_days", count(limits.request_days)),
        _setting("webhooks_allow_private", _yes(state.webhooks_allow_private)),
        _setting("links_allow_private", _yes(state.links_allow_private)),
    )


def _setting(name: str, value: str) -> Setting:
    return Setting(f"AEGIS_{name.upper()}", value, str(Settings.model_fields[name].description).replace("`", ""))


def _yes(value: bool) -> str:  # noqa: FBT001 -- what is said
    return "yes" if value else "no"
