"""Does the advice hold up? Models trained on every configuration of many tables, against every ranker's pick."""
