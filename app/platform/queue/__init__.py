"""The job queue, its lanes and its workers' presence."""
