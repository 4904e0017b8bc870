"""The registry of the operator's commands."""

import sys
from typing import NoReturn

from aegis_sdk.cli.group import version_options
from app.cli.group import Command, CommandGroup, fail
from app.platform.build import DISTRIBUTION
from app.platform.errors import OperatorError, RefusalError

cli = CommandGroup(
    "Run and administer the Aegis service. Every option has an environment variable `AEGIS_...`.",
    {
        "serve": Command("app.cli.serving:serve", "Run the whole service until SIGTERM."),
        "api": Command("app.cli.serving:api", "Run the API alone, as `serve` starts it.", hidden=True),
        "worker": Command("app.cli.serving:worker", "Run one more worker, on any machine that can reach the database."),
        "migrate": Command("app.cli.migrating:migrate", "Bring the database to the newest revision."),
        "openapi": Command("app.cli.describing:openapi", "Write the OpenAPI document."),
        "replay": Command(
            "app.cli.replay:replay",
            "Compute an answer again from the counts of its version, and compare it with the stored one bit for bit.",
        ),
        "keys": CommandGroup(
            "Create, list and revoke API keys, and renew the server key.",
            {
                "create": Command("app.cli.keys:create_key", "Create a key and print it."),
                "list": Command(
                    "app.cli.keys:list_keys",
                    "List every key ever created: prefix, tenant, role, whether it is valid, and when it was last "
                    "used.",
                ),
                "revoke": Command("app.cli.keys:revoke_key", "Revoke a key."),
                "renew-server-key": Command(
                    "app.cli.keys:renew_server_key",
                    "Replace the key of the digests shown to others, and compute these digests again.",
                ),
            },
        ),
        "tenants": CommandGroup(
            "Set and list the policies and quotas of tenants.",
            {
                "set": Command(
                    "app.cli.tenants:set_tenant",
                    "Set a tenant's policy, which adds to the service's, and its quota.",
                ),
                "list": Command("app.cli.tenants:list_tenants", "List every tenant with its policy."),
            },
        ),
        "audit": CommandGroup(
            "Export the audit log, and check an exported one.",
            {
                "export": Command(
                    "app.cli.audit_export:export",
                    "Write the whole audit log: JSON lines, first the signed heads, then the records, oldest first.",
                ),
                "verify": Command("app.cli.audit:verify", "Check an exported log without a database."),
            },
        ),
    },
    version_options("aegis-server", DISTRIBUTION),
)


def main() -> NoReturn:
    """Run a command. An error that the operator can correct is one line, with exit code 2."""
    try:
        cli(auto_envvar_prefix="AEGIS")
    except (OperatorError, RefusalError) as error:
        fail(str(error))
    sys.exit(0)
