"""The parts of the page: each makes a `Section`, of the outcomes of training or of the studies."""
