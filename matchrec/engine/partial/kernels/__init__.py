"""The kernel of this room."""
