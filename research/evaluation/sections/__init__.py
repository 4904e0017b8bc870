"""The parts of the page. Each module makes a `Section` from the outcomes of training or from the studies."""
