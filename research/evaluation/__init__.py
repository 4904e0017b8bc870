"""The evaluation: models trained on every configuration of many tables, compared with every ranker's pick."""
