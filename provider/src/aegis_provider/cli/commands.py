"""The registry of the provider's commands, which `aegis` loads through this distribution's entry point."""

from aegis_sdk.cli.group import Command, CommandSection, Group

SECTION = CommandSection(
    title="Commands on the provider's machine",
    commands=(
        Command(
            "aegis_provider.cli.release:release",
            "Mask a table so that it can be shared and stays useful.",
            "aegis release health.csv --label health --require k=5 --output release",
        ),
        Command(
            "aegis_provider.cli.refresh:refresh",
            "Repeat a release on its table as it is today.",
            "aegis refresh release health.csv",
        ),
        Group(
            "plan",
            "Draft a plan for a table and find its configurations.",
            commands=(
                Command(
                    "aegis_provider.cli.start:start",
                    "Profile a table and draft a plan for it.",
                    "aegis plan start health.csv --label health --output plan.yaml",
                ),
                Command(
                    "aegis_provider.cli.configurations:configurations",
                    "Find the configurations that meet the requirements and keep the most utility.",
                    "aegis plan configurations health.csv --plan plan.yaml --require k=5 --require l=2 "
                    "--suppress-at-most 0.01 --most 1000 --output found.yaml",
                ),
                Command(
                    "aegis_provider.cli.configurations:cells",
                    "Suppress single cells instead of whole records.",
                    "aegis plan cells health.csv --plan found.yaml --output cells.yaml",
                ),
            ),
        ),
        Command(
            "aegis_provider.cli.summarize:summarize",
            "Count a table as its plan says and write the catalogue entry.",
            "aegis summarize health.csv --plan plan.yaml --name health --output entry.json --pairs",
        ),
        Command(
            "aegis_provider.cli.disclose:disclose",
            "Show what the counts of an entry give away.",
            "aegis disclose entry.json --table health.csv --plan plan.yaml --html disclosure.html",
        ),
        Command(
            "aegis_provider.cli.disclose:risk",
            "Measure the privacy of a table and of its releases.",
            "aegis risk health.csv --plan plan.yaml --html risk.html",
        ),
        Command(
            "aegis_provider.cli.check:check",
            "Train models on releases to see if the advice held.",
            "aegis check health.csv --plan plan.yaml --configurations c32,c30",
        ),
        Command(
            "aegis_provider.cli.augment:augment",
            "Measure what the counts of entries add to your own table.",
            "aegis augment my.csv --label y --keys region,month --save joined.csv",
        ),
        Command(
            "aegis_provider.cli.apply:apply",
            "Write the table as a configuration masks it.",
            "aegis apply health.csv --plan plan.yaml --configuration c17 --output masked.csv",
        ),
        Command(
            "aegis_provider.cli.independence:independence",
            "Make attributes exactly independent of others.",
            "aegis independence people.csv --plan plan.yaml --hide age,occupation --from income --clusters 3 "
            "--output masked.csv",
        ),
        Group(
            "ledger",
            "Show what left of a table, or erase people from it.",
            commands=(
                Command(
                    "aegis_provider.cli.ledger:show",
                    "Show what left of the tables of this machine.",
                    "aegis ledger show health",
                ),
                Command(
                    "aegis_provider.cli.ledger:forget",
                    "Erase what a ledger keeps of people; that something left is never erased.",
                    "aegis ledger forget health --people erased.txt",
                ),
            ),
        ),
        Group(
            "synth",
            "Generate tables and measure their utility.",
            commands=(
                Command(
                    "aegis_provider.cli.generate:generate",
                    "Generate a table that resembles this one, with records drawn by a model.",
                    "aegis synth generate health.csv --plan plan.yaml --output synthetic.parquet",
                ),
                Command(
                    "aegis_provider.cli.generate:fidelity",
                    "Measure the utility and fidelity of a release.",
                    "aegis synth fidelity synthetic.parquet --against health.csv --plan plan.yaml --html fidelity.html",
                ),
            ),
        ),
        Group(
            "requests",
            "Fulfil data requests.",
            commands=(
                Command(
                    "aegis_provider.cli.requests:fulfil",
                    "Mask a table for an approved data request and deliver it.",
                    "aegis requests fulfil REQUEST_ID health.csv --plan plan.yaml --to s3://bucket/shared",
                ),
                Command(
                    "aegis_provider.cli.requests:relink",
                    "Renew the link to a delivered table, for example after a presigned link expired.",
                    "aegis requests relink REQUEST_ID --to s3://bucket/shared",
                ),
                Command(
                    "aegis_provider.cli.requests:agent",
                    "Approve and fulfil data requests unattended, by the rules of a policy file.",
                    "aegis requests agent --policy policy.yaml",
                ),
            ),
        ),
    ),
)
