"""Steps and code over registers, compiled: what they do for a row that a run tries to map."""
