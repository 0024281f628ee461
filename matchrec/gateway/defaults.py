"""Where a gateway can listen, and where by default. Importing this module does not import gRPC."""

from __future__ import annotations

# `matchrec.serve` and `matchrec serve` show these values in the signature and in --help.
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 15002

# The greatest port of TCP.
MAX_PORT = 65_535
