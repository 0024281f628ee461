"""Errors of a running query: their sentences, their rows, and how they reach the driver."""
