"""One partition in several tasks: from which rows each slice of it is searched."""
