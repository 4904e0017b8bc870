"""The provider's commands of `aegis`: one file for each, named in `commands`."""
