"""Conditions have the values on the workers that they have in Spark."""
