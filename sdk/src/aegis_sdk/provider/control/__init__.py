"""Controls that the counts of an entry go through before they are published, so that they give away less."""
