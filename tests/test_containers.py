"""Checks of the image and the composition that need no container engine."""

import re
from pathlib import Path

import pytest
import typer
import yaml

from app.cli import cli
from app.settings import Settings

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMMANDS = set(typer.main.get_command(cli).commands)


def aegis_services() -> dict[str, dict]:
    return {name: service for name, service in COMPOSE["services"].items() if service["image"] == "aegis"}


def test_what_the_image_copies_exists_and_is_not_ignored():
    admitted = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = [
        word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE) for word in line.split()
    ]
    assert copied
    assert all((ROOT / name).exists() and name.split("/")[0] in admitted for name in copied)


def test_the_image_runs_as_an_ordinary_user_in_its_last_stage():
    assert re.search(r"^USER (?!root)\w+$", DOCKERFILE.split("\nFROM ")[-1], re.MULTILINE)


@pytest.mark.parametrize("service", aegis_services())
def test_every_service_runs_a_command_that_there_is(service):
    default = re.search(r'^CMD \["(\w+)"', DOCKERFILE, re.MULTILINE)[1]
    command = aegis_services()[service].get("command", [default])
    assert command[0] in COMMANDS


@pytest.mark.parametrize("service", aegis_services())
def test_every_variable_is_one_that_the_service_reads(service):
    known = {f"AEGIS_{name.upper()}" for name in Settings.model_fields} | {"AEGIS_FIRST_KEY_FILE", "PGPASSWORD"}
    used = set(aegis_services()[service]["environment"]) | set(re.findall(r"AEGIS_\w+(?==)", DOCKERFILE))
    assert used
    assert used <= known


def test_nothing_starts_before_the_one_migration_is_done():
    waiting = {name: service["depends_on"] for name, service in aegis_services().items() if name != "migrate"}
    assert set(waiting) == {"api", "worker"}
    assert all(need == {"migrate": {"condition": "service_completed_successfully"}} for need in waiting.values())


def test_no_password_is_written_down():
    assert all("?" in line for line in (ROOT / "docker-compose.yml").read_text().splitlines() if "PASSWORD" in line)
