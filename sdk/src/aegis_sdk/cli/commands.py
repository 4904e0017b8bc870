"""The registry of the SDK's commands."""

from aegis_sdk.cli.group import Command, CommandSection

SECTION = CommandSection(
    title="Commands",
    commands=(
        Command(
            "aegis_sdk.cli.show:show",
            "Say what an entry holds, and what is known of it.",
            "aegis show entry.json --attribute age",
        ),
        Command(
            "aegis_sdk.cli.publish:publish",
            "Publish an entry and print its id.",
            "aegis publish entry.json",
        ),
        Command(
            "aegis_sdk.cli.advise:advise",
            "Ask which configuration loses least.",
            "aegis advise ENTRY_ID --measure mutual_information --require k=5",
        ),
    ),
)
