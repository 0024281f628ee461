"""Sessions: what a machine needs, which interpreter the workers run, where `install` stands."""
