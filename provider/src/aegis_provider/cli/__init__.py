"""The provider's commands of `aegis`, one file each; `commands` lists them."""
