"""The Aegis service: a catalogue of masked summaries and an advisor over them."""
