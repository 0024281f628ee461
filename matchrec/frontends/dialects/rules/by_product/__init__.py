"""Rules that one product alone has."""
