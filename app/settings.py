"""The settings of the service, each an environment variable `AEGIS_...`."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

MEBIBYTE = 2**20

#: The hosts that only this machine can reach.
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

#: Removed settings, with the criterion of `AEGIS_REQUIRE_PRIVACY` that replaces them.
FORMER: Final = {"AEGIS_MIN_K": "k", "AEGIS_MIN_L": "l"}


def numbers_by_name(text: str) -> dict[str, float]:
    """The numbers in a text like `k=5,t=0.2`, by name.

    Raises:
        ValueError: a part is not NAME=NUMBER, or a name has two numbers.
    """
    numbers: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name in numbers or not re.fullmatch(r"\d+\.?\d*|\.\d+", number, re.ASCII):
            message = f"{part!r}: give NAME=NUMBER, each name once, as in k=5,t=0.2"
            raise ValueError(message)
        numbers[name] = float(number)
    return numbers


#: An origin as browsers send it (RFC 6454, section 6.2).
_ORIGIN = re.compile(r"https?://(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?")

#: The ports that browsers omit from an origin.
_DEFAULT_PORT = re.compile(r"http:.*:80|https:.*:443")


def origins_in(text: str) -> tuple[str, ...]:
    """The origins in a text like `https://a.example,https://b.example:8443`.

    Raises:
        ValueError: a part is not an origin as browsers send it.
    """
    origins = tuple(filter(None, map(str.strip, text.split(","))))
    for origin in origins:
        if not _ORIGIN.fullmatch(origin) or _DEFAULT_PORT.fullmatch(origin):
            message = (
                f"{origin!r} is not an origin: give it in full, in lower case and without a path or a default "
                "port, as in https://data.example.org; * is not possible"
            )
            raise ValueError(message)
    return origins


Origins = Annotated[
    tuple[str, ...],
    NoDecode,
    BeforeValidator(lambda value: origins_in(value) if isinstance(value, str) else value),
]


def limits_by_name(text: str) -> dict[str, float | str]:
    """The limits of privacy in a text like `k=5,t=0.2`, or `k=5,unit=person` if they must count people.

    Raises:
        ValueError: a part is neither NAME=NUMBER nor `unit=person`, or the unit has no limit.
    """
    parts = list(filter(None, map(str.strip, text.split(","))))
    numbers = numbers_by_name(",".join(part for part in parts if part != _OF_PEOPLE))
    if _OF_PEOPLE not in parts:
        return {**numbers}
    if not numbers:
        message = f"{_OF_PEOPLE} says what limits count: give one, as in k=5,{_OF_PEOPLE}"
        raise ValueError(message)
    return {**numbers, "unit": "person"}


_OF_PEOPLE: Final = "unit=person"

NumbersByName = Annotated[
    dict[str, float],
    NoDecode,
    BeforeValidator(lambda value: numbers_by_name(value) if isinstance(value, str) else value),
]
LimitsByName = Annotated[
    dict[str, float | Literal["person"]],
    NoDecode,
    BeforeValidator(lambda value: limits_by_name(value) if isinstance(value, str) else value),
]


def console_origin_in(text: str) -> str:
    """The one origin in a text.

    Raises:
        ValueError: not an origin, or one without TLS, where a password could be intercepted.
    """
    [origin, *others] = origins_in(text) or [""]
    if others or not (origin.startswith("https:") or urlsplit(origin).hostname in LOOPBACK):
        message = f"{text!r} is not one origin with https, such as https://aegis.example.org"
        raise ValueError(message)
    return origin


ConsoleOrigin = Annotated[str, AfterValidator(console_origin_in)]


@dataclass(frozen=True, slots=True)
class DatabaseUrls:
    """The database URLs of the owner, who migrates, and of the service; equal if there is one role."""

    owner: str
    service: str


class Settings(BaseSettings):
    """Settings of one process of the service; see docs/operations.md."""

    model_config = SettingsConfigDict(env_prefix="AEGIS_")

    database_password_file: Path | None = Field(
        default=None, description="File with the password for `database_url`, which then need not be in the URL."
    )
    database_url: str | None = Field(
        default=None,
        description="URL of the PostgreSQL database; without it, an embedded server is started in `data_dir`.",
    )
    owner_database_password_file: Path | None = Field(
        default=None, description="File with the password for `owner_database_url`."
    )
    owner_database_url: str | None = Field(
        default=None,
        description="URL of the same database for the role that owns and migrates it; without it, `database_url`. If "
        "both have the same role, the service could change its audit log.",
    )
    data_dir: Path = Field(default=Path(".aegis/data"), description="Directory of the embedded PostgreSQL's files.")
    host: str = Field(default="127.0.0.1", description="Address to listen on; any but loopback requires a key.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    workers: int = Field(default=1, ge=0, description="Number of workers that `serve` starts beside the API.")
    max_body_bytes: int = Field(default=64 * MEBIBYTE, ge=1, description="Larger request bodies are refused with 413.")
    pool_size: int = Field(default=10, ge=1, description="Number of open database connections per process.")
    job_seconds: int = Field(default=3600, ge=1, description="Seconds after which a worker gives up a computation.")
    stop_seconds: float = Field(
        default=8.0,
        ge=0,
        description="Seconds for a worker to stop; its unfinished jobs go back to the queue.",
    )
    drain_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Seconds for which a stopping API continues, but reports that it is not ready, so that load "
        "balancers send their requests elsewhere.",
    )
    tenant_jobs: int = Field(
        default=4,
        ge=1,
        description="A tenant's most concurrent jobs, light and heavy ones counted separately. "
        "More than the number of workers is of no use.",
    )
    quota: NumbersByName = Field(
        default={"entries": 1_000, "versions": 10_000, "bytes": 20_000_000_000, "advice": 10_000},
        description="What a tenant may store (entries, versions, bytes) and ask in 24 hours (advice), as in "
        "entries=100,advice=500; limits that are not named do not apply. Not in development mode.",
    )
    rate_limit: int = Field(
        default=3_000,
        ge=0,
        description="Most requests of a tenant in a minute, in each API process; 0: no limit. Not in development mode.",
    )
    wrong_keys: int = Field(default=30, ge=0, description="Most wrong keys from an address in a minute; 0: no limit.")
    trusted_proxies: str | None = Field(
        default=None,
        description="Addresses or networks of proxies whose `X-Forwarded-For` is trusted, separated by commas.",
    )
    advice_days: int | None = Field(
        default=None, ge=1, description="Days for which finished advice is stored; by default, without limit."
    )
    versions_kept: int | None = Field(
        default=None, ge=1, description="Number of an entry's latest versions that are stored; by default, all."
    )
    request_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        description="Days without an action after which a data request expires.",
    )
    disk_dir: Path | None = Field(
        default=None,
        description="A directory on the disk of the database. `serve` sets it for the embedded one.",
    )
    disk_reserve_bytes: int = Field(
        default=500_000_000,
        ge=0,
        description="If this disk has fewer bytes free, new entries, versions and questions are refused with 507.",
    )
    reconstruction_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Seconds after which the reconstruction of an attribute stops, converged or not.",
    )
    min_cell: int | None = Field(
        default=None, ge=2, description="Uploads with a count below this, except 0, are refused with 422."
    )
    require_noise: bool = Field(default=False, description="Uploads with a count table without noise are refused.")
    max_epsilon: float | None = Field(
        default=None,
        gt=0,
        description="Uploads whose noise spends a larger epsilon, or that lack noise, are refused.",
    )
    small_counts: Literal["refuse", "confirm", "accept"] | None = Field(
        default=None,
        description="The handling of uploads with exact counts of 1 to 4: refused with 422, refused unless the call "
        "accepts them, or accepted. Without it: `confirm`, or `accept` in development mode.",
    )
    require_privacy: LimitsByName | None = Field(
        default=None,
        description="Privacy that a configuration must guarantee to compete, as in `k=5,t=0.2`, or `k=5,unit=person` "
        "if it must count people; entries in which no configuration guarantees a required criterion are refused.",
    )
    question_budget: int = Field(
        default=200,
        ge=1,
        description="Distinct questions that a tenant may ask about a version of an entry whose counts it may not "
        "read; the next one is refused with 429.",
    )
    webhooks_allow_private: bool = Field(
        default=False,
        description="Whether webhooks may lead into private networks and use HTTP; for development only.",
    )
    links_allow_private: bool = Field(
        default=False,
        description="Whether links to delivered tables may lead into private networks and use HTTP; for development "
        "only.",
    )
    audit_key: SecretStr | None = Field(
        default=None,
        description="The private key (Ed25519) that signs heads of the audit log and receipts: PEM, or its 32 bytes as "
        "base64 or hexadecimal digits.",
    )
    audit_key_file: Path | None = Field(
        default=None,
        description="File with this key; `serve` and `migrate` create it if there is none. By default, it is beside "
        "the embedded database.",
    )
    oidc_issuer: str | None = Field(
        default=None, description="Trust tokens of this issuer (OpenID Connect) beside keys: the `iss` of its tokens."
    )
    oidc_audience: str = Field(default="aegis", description="The `aud` that tokens must have.")
    oidc_jwks_url: str | None = Field(
        default=None, description="Address of the issuer's keys; by default, the one in its discovery document."
    )
    oidc_algorithms: str = Field(
        default="RS256,ES256", description="Accepted signature algorithms of tokens, separated by commas."
    )
    oidc_leeway_seconds: float = Field(default=60.0, ge=0, le=600, description="Allowed clock difference.")
    oidc_tenant_claim: str = Field(
        default="tenant", description="The claim with the name of the tenant; a dot leads into an object."
    )
    oidc_roles_claim: str = Field(
        default="scope", description="The claim with names of roles: a list, or a text separated by spaces."
    )
    oidc_roles: str = Field(
        default="aegis:consume=consumer,aegis:provide=provider,aegis:review=reviewer,"
        "aegis:administer=administrator,aegis:operate=operator",
        description="The role of every name in tokens; a token with several names has all their rights.",
    )
    console: bool = Field(default=True, description="Whether the service has pages for people (the console).")
    oidc_client_id: str | None = Field(
        default=None,
        min_length=1,
        description="Let people sign in to the console at the issuer, with this client id of the service.",
    )
    oidc_client_secret: SecretStr | None = Field(default=None, description="The client's secret, if it has one.")
    oidc_client_secret_file: Path | None = Field(default=None, description="File with the client's secret.")
    oidc_scopes: str | None = Field(
        default=None,
        description="Scopes requested for signing in, separated by spaces; by default `openid`, and the names of the "
        "roles if `oidc_roles_claim` is `scope` or `scp`.",
    )
    console_origin: ConsoleOrigin | None = Field(
        default=None, description="Origin of the console for browsers, such as https://aegis.example.org."
    )
    console_session_hours: int = Field(
        default=8, ge=1, le=168, description="Hours after which a session of the console ends, even if it is used."
    )
    cors_origins: Origins | None = Field(
        default=None, description="Origins whose pages may call the API from a browser, separated by commas."
    )
    hsts_seconds: int | None = Field(
        default=None,
        ge=0,
        description="Seconds for which browsers must use HTTPS only (`Strict-Transport-Security`); only behind TLS.",
    )
    metrics_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Separate port for the API's metrics; 0 picks a free one.",
    )
    metrics_host: str = Field(default="127.0.0.1", description="Address of that port.")
    worker_metrics_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Port on which a worker serves its metrics; 0 picks a free one. `serve` counts up from it.",
    )
    worker_metrics_host: str = Field(default="127.0.0.1", description="Address on which a worker serves its metrics.")
    traces_endpoint: str | None = Field(
        default=None, description="Endpoint for traces (OTLP over HTTP), such as http://127.0.0.1:4318/v1/traces."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="What to log.")

    @field_validator("owner_database_url", "database_url")
    @classmethod
    def _put_password(cls, url: str | None, info: ValidationInfo) -> str | None:
        file = info.data.get(f"{str(info.field_name).removesuffix('url')}password_file")  # validated before
        if url is None or file is None:
            return url
        password, parts = quote(text_in(file, "the password"), safe=""), urlsplit(url)
        user, _, hosts = parts.netloc.rpartition("@")
        return parts._replace(netloc=f"{user.partition(':')[0]}:{password}@{hosts}").geturl()

    @field_validator("metrics_port")
    @classmethod
    def _refuse_same_port(cls, port: int | None, info: ValidationInfo) -> int | None:
        if port and port == info.data.get("port"):
            message = "choose another port than that of the API"
            raise ValueError(message)
        return port

    @model_validator(mode="after")
    def _refuse_former(self) -> Self:
        """Refuse a removed privacy setting: a service that ignored it would require nothing."""
        for name in FORMER.keys() & os.environ.keys():
            message = f"{name} is gone; set AEGIS_REQUIRE_PRIVACY={FORMER[name]}={os.environ[name]} instead"
            raise ValueError(message)
        return self

    @property
    def urls(self) -> DatabaseUrls | None:
        """The URLs of the database; None for an embedded one."""
        if self.database_url is None:
            return None
        return DatabaseUrls(owner=self.owner_database_url or self.database_url, service=self.database_url)

    def of_worker(self, number: int) -> dict[str, str]:
        """The environment variables of the worker that `serve` starts with this number, from 1."""
        first = self.worker_metrics_port
        return {"AEGIS_WORKER_METRICS_PORT": str(first + number - 1)} if first else {}


def text_in(file: Path, what: str) -> str:
    """The secret in a file, without its line end.

    Raises:
        ValueError: the file cannot be read, or is empty.
    """
    try:
        secret = file.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{what} cannot be read from {file}: {getattr(error, 'strerror', None) or 'not UTF-8'}"
        raise ValueError(message) from None
    if not secret:
        message = f"the file of {what}, {file}, is empty"
        raise ValueError(message)
    return secret
