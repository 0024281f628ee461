"""Matching over a streaming DataFrame: `applyInPandasWithState` around a search that goes on."""
