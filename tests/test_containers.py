"""Checks of the image and the composition that need no engine to build and run them."""

import re
from pathlib import Path

import pytest
import yaml

from app.cli.commands import cli
from app.settings import Settings

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMMANDS = set(cli.list_commands(None))


def aegis_services() -> dict[str, dict]:
    return {name: service for name, service in COMPOSE["services"].items() if service["image"] == "aegis"}


def test_the_image_runs_as_an_ordinary_user_in_its_last_stage():
    last = DOCKERFILE.split("\nFROM ")[-1]
    user = re.search(r"^USER (\d+):\1$", last, re.MULTILINE)[1]
    assert int(user) > 0
    assert f"--uid {user} " in last


def test_it_is_built_from_an_image_that_cannot_change_and_an_operator_can_choose_another():
    default = re.search(r"^ARG PYTHON=(\S+)$", DOCKERFILE, re.MULTILINE)[1]
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"python:[\d.]+-slim@sha256:[0-9a-f]{64}", default)
    assert set(bases) == {"${PYTHON}", "${WHEELS}", "scratch"}


@pytest.mark.parametrize("service", COMPOSE["services"])
def test_every_container_is_confined(service):
    container = COMPOSE["services"][service]
    assert container["read_only"] is True
    assert container["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in container["security_opt"]
    assert {"mem_limit", "pids_limit", "tmpfs"} <= set(container)
    assert ("cap_add" in container) == (service == "postgres")
    assert not {"privileged", "network_mode", "pid", "ipc"} & set(container)


def test_only_the_api_can_be_reached_and_only_from_this_machine():
    ports = {name: service["ports"] for name, service in COMPOSE["services"].items() if "ports" in service}
    assert set(ports) == {"api"}
    assert all(port.startswith("127.0.0.1:") for port in ports["api"])
    assert COMPOSE["services"]["postgres"]["networks"] == ["database"]
    assert COMPOSE["networks"]["database"] == {"internal": True}


def test_no_service_but_the_one_that_makes_the_first_key_can_write_to_a_volume():
    writing = {
        name for name, service in aegis_services().items() for v in service.get("volumes", ()) if v[-3:] != ":ro"
    }
    assert writing == {"migrate"}


@pytest.mark.parametrize("service", aegis_services())
def test_every_service_runs_a_command_that_there_is(service):
    default = re.search(r'^CMD \["(\w+)"', DOCKERFILE, re.MULTILINE)[1]
    command = aegis_services()[service].get("command", [default])
    assert command[0] in COMMANDS


@pytest.mark.parametrize("service", aegis_services())
def test_every_variable_is_one_that_the_service_reads(service):
    known = {f"AEGIS_{name.upper()}" for name in Settings.model_fields} | {"AEGIS_FIRST_KEY_FILE"}
    used = set(aegis_services()[service]["environment"]) | set(re.findall(r"AEGIS_\w+(?==)", DOCKERFILE))
    assert used
    assert used <= known


def test_the_database_is_healthy_only_once_others_can_reach_it():
    kind, command, *options = COMPOSE["services"]["postgres"]["healthcheck"]["test"]
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert (kind, command, given["--host"]) == ("CMD", "pg_isready", "127.0.0.1")
    assert given["--username"] == COMPOSE["services"]["postgres"]["environment"]["POSTGRES_USER"]


def test_nothing_starts_before_the_one_migration_is_done():
    waiting = {name: service["depends_on"] for name, service in aegis_services().items() if name != "migrate"}
    assert set(waiting) == {"api", "worker"}
    assert all(need == {"migrate": {"condition": "service_completed_successfully"}} for need in waiting.values())


def test_passwords_are_in_files_that_git_ignores():
    services = COMPOSE["services"].values()
    passwords = {name: value for each in services for name, value in each["environment"].items() if "PASSWORD" in name}
    secrets = {"database-password", "service-password"}
    assert passwords == {
        "AEGIS_DATABASE_PASSWORD_FILE": "/run/secrets/service-password",
        "AEGIS_OWNER_DATABASE_PASSWORD_FILE": "/run/secrets/database-password",
        "POSTGRES_PASSWORD_FILE": "/run/secrets/database-password",
    }
    assert COMPOSE["secrets"] == {name: {"file": f"./secrets/{name}"} for name in secrets}
    assert "/secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    assert "@" not in COMPOSE["services"]["api"]["environment"]["AEGIS_DATABASE_URL"].split("aegis_service@")[1]


def test_only_the_migration_has_what_the_owner_of_the_database_may_do():
    owner = COMPOSE["services"]["postgres"]["environment"]["POSTGRES_USER"]
    for name, service in aegis_services().items():
        assert ("AEGIS_OWNER_DATABASE_URL" in service["environment"]) == (name == "migrate")
        assert ("database-password" in service["secrets"]) == (name == "migrate")
        assert not service["environment"]["AEGIS_DATABASE_URL"].startswith(f"postgresql://{owner}@")


def test_all_that_sign_have_the_one_key_that_the_migration_makes():
    files = {service["environment"]["AEGIS_AUDIT_KEY_FILE"] for service in aegis_services().values()}
    assert len(files) == 1
    for service in aegis_services().values():
        assert any(volume.split(":")[1] == str(Path(*files).parent) for volume in service["volumes"])
