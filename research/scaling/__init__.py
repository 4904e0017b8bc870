"""How the time and memory of advice grow with what is asked about."""
