"""Tables of questions, answers and references."""
