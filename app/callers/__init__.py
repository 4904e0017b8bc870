"""Who calls: API keys, tokens of an issuer, sessions of the console."""
