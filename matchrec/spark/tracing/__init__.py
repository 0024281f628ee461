"""One partition on the driver: the rows that a trace searches, and the values of what it asks."""
