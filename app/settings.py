"""The settings of the service, each an environment variable `AEGIS_...`."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

MEBIBYTE = 2**20


class Settings(BaseSettings):
    """Settings of one process of the service; see docs/operations.md."""

    model_config = SettingsConfigDict(env_prefix="AEGIS_")

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
    question_budget: int = Field(
        default=200,
        ge=1,
        description="Distinct questions that a tenant may ask about a version of an entry whose counts it may not "
        "read; the next one is refused with 429.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(default="INFO", description="What to log.")
