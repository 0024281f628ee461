"""The compiled loops of event selection: four records go in, a status comes out."""
