"""Errors of SASE+ queries."""
