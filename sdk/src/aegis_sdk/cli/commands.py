"""The registry of the SDK's commands."""

from aegis_sdk.cli.group import Command, CommandSection, Group

SECTION = CommandSection(
    title="Commands",
    commands=(
        Command(
            "aegis_sdk.cli.entries:search",
            "Search for data that you may request.",
            "aegis search health --attribute age --require k=10",
        ),
        Command(
            "aegis_sdk.cli.advise:advise",
            "Ask which configuration loses the least utility.",
            "aegis advise ENTRY_ID --measure mutual_information --require k=5 --weights age=2,zip=0.5",
        ),
        Group(
            "requests",
            "Request masked tables, and decide on requests.",
            is_open=True,
            commands=(
                Command(
                    "aegis_sdk.cli.requests:new",
                    "Request the masked table that suits you best, or a given one.",
                    "aegis requests new ENTRY_ID --purpose 'A study of care' --contact me@lab.example --require k=5",
                ),
                Command(
                    "aegis_sdk.cli.requests:list_",
                    "List data requests.",
                    "aegis requests list --state advised --side provider",
                ),
                Command(
                    "aegis_sdk.cli.requests:show",
                    "Show a data request with its history.",
                    "aegis requests show REQUEST_ID",
                ),
                Command(
                    "aegis_sdk.cli.requests:approve",
                    "Approve a data request.",
                    "aegis requests approve REQUEST_ID --why 'The board has agreed'",
                ),
                Command(
                    "aegis_sdk.cli.requests:decline",
                    "Decline a data request, with a reason.",
                    "aegis requests decline REQUEST_ID --why 'Not for advertising'",
                ),
                Command(
                    "aegis_sdk.cli.requests:counter",
                    "Offer a configuration other than the recommended one.",
                    "aegis requests counter REQUEST_ID c0227 --why 'k = 10 for this purpose'",
                ),
                Command(
                    "aegis_sdk.cli.requests:accept",
                    "Accept the configuration that a provider offers instead.",
                    "aegis requests accept REQUEST_ID",
                ),
                Command(
                    "aegis_sdk.cli.requests:withdraw",
                    "Withdraw a data request before anything is delivered.",
                    "aegis requests withdraw REQUEST_ID --why 'The study is over'",
                ),
            ),
        ),
        Command(
            "aegis_sdk.cli.receive:receive",
            "Download a delivered table, and verify it against its entry.",
            "aegis receive REQUEST_ID --output health.csv",
        ),
        Command(
            "aegis_sdk.cli.publish:publish",
            "Publish an entry and print its id.",
            "aegis publish entry.json",
        ),
        Group(
            "entries",
            "List, show and manage entries.",
            commands=(
                Command(
                    "aegis_sdk.cli.entries:list_",
                    "List the entries that you may see.",
                    "aegis entries list --keyword health",
                ),
                Command(
                    "aegis_sdk.cli.show:show",
                    "Show what an entry contains.",
                    "aegis entries show entry.json --attribute age",
                ),
                Command(
                    "aegis_sdk.cli.entries:preview",
                    "Save made-up rows of a configuration, and its columns.",
                    "aegis entries preview ENTRY_ID --configuration c0036 --to preview",
                ),
                Command(
                    "aegis_sdk.cli.croissant:croissant",
                    "Describe a delivered table in Croissant.",
                    "aegis entries croissant ENTRY_ID --configuration c0036 --table delivered.csv",
                ),
                Command(
                    "aegis_sdk.cli.entries:visibility",
                    "Show or change who sees an entry.",
                    "aegis entries visibility ENTRY_ID --tenant partner --tenant lab",
                ),
                Command(
                    "aegis_sdk.cli.entries:sign_off",
                    "Show others a version that awaits its sign-off.",
                    "aegis entries sign-off ENTRY_ID --version 2",
                ),
                Command(
                    "aegis_sdk.cli.entries:delete",
                    "Delete an entry with all its versions and advice.",
                    "aegis entries delete ENTRY_ID --yes",
                ),
            ),
        ),
        Group(
            "dsp",
            "Request tables over the Dataspace Protocol.",
            commands=(
                Command(
                    "aegis_sdk.cli.dsp:catalog",
                    "List what a provider offers over the Dataspace Protocol, and the privacy that each promises.",
                    "aegis dsp catalog https://data.hospital.example",
                ),
                Command(
                    "aegis_sdk.cli.dsp:request",
                    "Negotiate a table over the Dataspace Protocol, and receive it.",
                    "aegis dsp request https://data.hospital.example urn:uuid:DATASET --purpose 'A study of care'",
                ),
            ),
        ),
        Group(
            "edc",
            "Offer entries in connectors of the Eclipse Dataspace Components.",
            commands=(
                Command(
                    "aegis_sdk.cli.edc:push",
                    "Offer an entry in a connector of the Eclipse Dataspace Components.",
                    "aegis edc push ENTRY_ID --management https://connector.hospital.example/management",
                ),
            ),
        ),
        Command(
            "aegis_sdk.cli.audit:audit",
            "Get or check the receipt of a request, or list the audit log.",
            "aegis audit REQUEST_ID --output receipt.jws",
        ),
    ),
)
