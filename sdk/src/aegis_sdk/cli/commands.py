"""The registry of the SDK's commands."""

from aegis_sdk.cli.group import Command, CommandSection

SECTION = CommandSection(
    title="Commands",
    commands=(
        Command(
            "aegis_sdk.cli.show:show",
            "Show what an entry contains.",
            "aegis show entry.json --attribute age",
        ),
        Command(
            "aegis_sdk.cli.publish:publish",
            "Publish an entry and print its id.",
            "aegis publish entry.json",
        ),
        Command(
            "aegis_sdk.cli.listing:list",
            "List the entries that you may see.",
            "aegis list --keyword health",
        ),
        Command(
            "aegis_sdk.cli.search:search",
            "Search for data that you may request.",
            "aegis search health --attribute age --require k=10",
        ),
        Command(
            "aegis_sdk.cli.visibility:visibility",
            "Show or change who sees an entry.",
            "aegis visibility ENTRY_ID --tenant partner --tenant lab",
        ),
        Command(
            "aegis_sdk.cli.sign_off:sign_off",
            "Let others see a version that awaits its sign-off.",
            "aegis sign-off ENTRY_ID --version 2",
        ),
        Command(
            "aegis_sdk.cli.advise:advise",
            "Ask which configuration loses the least utility.",
            "aegis advise ENTRY_ID --measure mutual_information --require k=5 --weights age=2,zip=0.5",
        ),
        Command(
            "aegis_sdk.cli.request:request",
            "Request the masked table that suits you best.",
            "aegis request ENTRY_ID --purpose 'A study of care' --contact me@lab.example --require k=5",
        ),
        Command(
            "aegis_sdk.cli.requests:requests",
            "Show data requests: a list, or one with its history.",
            "aegis requests --state advised --side provider",
        ),
        Command(
            "aegis_sdk.cli.decisions:approve",
            "Approve a data request.",
            "aegis approve REQUEST_ID --why 'The board has agreed'",
        ),
        Command(
            "aegis_sdk.cli.decisions:decline",
            "Decline a data request, and say why.",
            "aegis decline REQUEST_ID --why 'Not for advertising'",
        ),
        Command(
            "aegis_sdk.cli.decisions:counter",
            "Offer another configuration than a data request was advised.",
            "aegis counter REQUEST_ID c0227 --why 'k = 10 for this purpose'",
        ),
        Command(
            "aegis_sdk.cli.decisions:accept",
            "Accept the configuration that a provider offers instead.",
            "aegis accept REQUEST_ID",
        ),
        Command(
            "aegis_sdk.cli.decisions:withdraw",
            "Take a data request back before anything is delivered.",
            "aegis withdraw REQUEST_ID --why 'The study is over'",
        ),
        Command(
            "aegis_sdk.cli.receive:receive",
            "Download a delivered table, and verify that it is what its entry says.",
            "aegis receive REQUEST_ID --output health.csv",
        ),
        Command(
            "aegis_sdk.cli.audit:audit",
            "Get or check the receipt of a request, or list who did what.",
            "aegis audit REQUEST_ID --output receipt.jws",
        ),
        Command(
            "aegis_sdk.cli.delete:delete",
            "Delete an entry with all its versions and advice.",
            "aegis delete ENTRY_ID --yes",
        ),
    ),
)
