"""Sessions, migrations, roles and probes of the database."""
