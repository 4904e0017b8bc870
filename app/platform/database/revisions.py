"""The revisions of the schema, found in the installed package as well as in a checkout."""

from functools import cache
from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

_HERE = Path(__file__).resolve()
#: A wheel has the revisions inside the package; a checkout has them in its root directory.
_LOCATIONS = (_HERE.parents[2] / "migrations", _HERE.parents[3] / "migrations")


def is_checkout() -> bool:
    """Whether the revisions are those of a checkout, to which one can be added."""
    return not _LOCATIONS[0].is_dir()


def configuration(database_url: str) -> Config:
    """Alembic's configuration for one database."""
    config = Config(_HERE.parents[3] / "alembic.ini")
    config.set_main_option("script_location", str(next(place for place in _LOCATIONS if place.is_dir())))
    config.attributes["database_url"] = database_url
    return config


@cache
def newest_revision() -> str | None:
    """The revision that this version of the service works with."""
    return ScriptDirectory.from_config(configuration("")).get_current_head()


@cache
def known_revisions() -> frozenset[str]:
    """All revisions that this version of the service knows."""
    script = ScriptDirectory.from_config(configuration(""))
    return frozenset(one.revision for one in script.walk_revisions())
