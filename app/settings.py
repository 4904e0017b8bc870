"""The settings of the service, each an environment variable `AEGIS_...`."""

import re
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import quote, urlsplit

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

MEBIBYTE = 2**20

#: The hosts that only this machine reaches.
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


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


def _parsed(value: object) -> object:
    return numbers_by_name(value) if isinstance(value, str) else value


PrivacyNumbers = Annotated[dict[str, float], NoDecode, BeforeValidator(_parsed)]


def with_password(url: str, file: Path) -> str:
    """The database URL with the password that a file holds, any characters in it escaped.

    Raises:
        ValueError: the file cannot be read, or is empty.
    """
    try:
        password = file.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        message = f"the password cannot be read from {file}: {getattr(error, 'strerror', None) or 'no UTF-8'}"
        raise ValueError(message) from None
    if not password:
        message = f"the file of the password, {file}, is empty"
        raise ValueError(message)
    parts = urlsplit(url)
    user, _, hosts = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user.partition(':')[0]}:{quote(password, safe='')}@{hosts}").geturl()


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
    data_dir: Path = Field(default=Path(".aegis/data"), description="Directory of the embedded PostgreSQL's files.")
    host: str = Field(default="127.0.0.1", description="Address to listen on; any but loopback requires a key.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    workers: int = Field(default=1, ge=0, description="Number of workers that `serve` starts beside the API.")
    max_body_bytes: int = Field(default=64 * MEBIBYTE, ge=1, description="Larger request bodies are refused with 413.")
    pool_size: int = Field(default=10, ge=1, description="Number of database connections that a process keeps open.")
    job_seconds: int = Field(default=3600, ge=1, description="Seconds after which a worker gives up a computation.")
    tenant_jobs: int = Field(
        default=4,
        ge=1,
        description="Most jobs of a tenant that run at the same time, light and heavy ones counted apart. "
        "More than the number of workers is of no use.",
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
        description="What becomes of uploads with exact counts of 1 to 4: refused with 422, refused unless the call "
        "accepts them, or accepted. Without it: `confirm`, or `accept` in development mode.",
    )
    require_privacy: PrivacyNumbers | None = Field(
        default=None,
        description="Privacy that a configuration must vouch for to compete, as in `k=5,t=0.2`; entries that vouch "
        "for none of it are refused.",
    )
    min_k: float | None = Field(default=None, ge=1, description="The same as `k` in `require_privacy`.")
    min_l: float | None = Field(default=None, ge=1, description="The same as `l` in `require_privacy`.")
    question_budget: int = Field(
        default=200,
        ge=1,
        description="Distinct questions that a tenant may ask about a version of an entry whose counts it may not "
        "read; the next one is refused with 429.",
    )
    oidc_issuer: str | None = Field(
        default=None, description="Trust tokens of this issuer (OpenID Connect) beside keys: the `iss` of its tokens."
    )
    oidc_audience: str = Field(default="aegis", description="The `aud` that tokens must have.")
    oidc_jwks_url: str | None = Field(
        default=None, description="Where the issuer's keys are; by default, its discovery document says so."
    )
    oidc_algorithms: str = Field(
        default="RS256,ES256", description="Algorithms by which tokens may be signed, with commas between."
    )
    oidc_leeway_seconds: float = Field(default=60.0, ge=0, le=600, description="How far clocks may differ.")
    oidc_tenant_claim: str = Field(
        default="tenant", description="The claim with the name of the tenant; a dot leads into an object."
    )
    oidc_roles_claim: str = Field(
        default="scope", description="The claim with names of roles: a list, or a text with blanks between."
    )
    oidc_roles: str = Field(
        default="aegis:consume=consumer,aegis:provide=provider,aegis:review=reviewer,"
        "aegis:administer=administrator,aegis:operate=operator",
        description="What names of roles in tokens stand for; a token with several may do what each of them may.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="What to log.")

    @field_validator("database_url")
    @classmethod
    def _put_password(cls, url: str | None, info: ValidationInfo) -> str | None:
        file = info.data.get("database_password_file")  # validated before, in the order of the fields
        return url if url is None or file is None else with_password(url, file)
