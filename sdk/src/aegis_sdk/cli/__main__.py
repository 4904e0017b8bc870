from aegis_sdk.cli.main import main

main()
