import psycopg
import pytest
from pydantic import ValidationError

from app.settings import Settings

AWKWARD = "p@ss/w:rd%41 #?ä'"


@pytest.fixture
def password_file(tmp_path):
    file = tmp_path / "password"
    file.write_text(f"{AWKWARD}\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("url", ["postgresql://aegis@db:5433/aegis", "postgresql://aegis:old@db:5433/aegis"])
def test_the_password_of_the_database_may_be_in_a_file(password_file, url):
    settings = Settings(database_url=f"{url}?sslmode=require", database_password_file=password_file)
    assert psycopg.conninfo.conninfo_to_dict(settings.database_url) == {
        "user": "aegis",
        "password": AWKWARD,
        "host": "db",
        "port": "5433",
        "dbname": "aegis",
        "sslmode": "require",
    }


def test_a_file_without_a_url_says_nothing(password_file):
    assert Settings(database_url=None, database_password_file=password_file).database_url is None


@pytest.mark.parametrize(
    ("content", "told"), [(None, "No such file"), (b"", "empty"), (b"\n", "empty"), (b"\xff", "UTF-8")]
)
def test_a_file_that_has_no_password_is_named(tmp_path, content, told):
    file = tmp_path / "password"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ValidationError, match=f"(?s){file}.*{told}"):
        Settings(database_url="postgresql://aegis@db/aegis", database_password_file=file)


@pytest.mark.parametrize(("name", "instead"), [("AEGIS_MIN_K", "k=5"), ("AEGIS_MIN_L", "l=5")])
def test_a_former_demand_for_privacy_is_not_ignored(name, instead, monkeypatch):
    monkeypatch.setenv(name, "5")
    with pytest.raises(ValidationError, match=f"{name} is gone; set AEGIS_REQUIRE_PRIVACY={instead} instead"):
        Settings()
