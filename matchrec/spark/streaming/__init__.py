"""Queries over a streaming DataFrame, whose result is a stream of matches.

A match is output once no later row can change it. Spark's `applyInPandasWithState` keeps the state
of a search between two micro-batches, with the rows that the search still needs.

    prepare        the columns that Spark computes, the operator that runs the searches, and which
                   queries a stream allows
    stream_worker  the worker of a bucket of keys: read the state, search, write the state
    arrival        how events are put in order
    key_state      stores what searches need to know about each key
    memory         what is stored between two micro-batches
    by_key         values of many keys in flat arrays
    search         what searches have in common, and the search for consecutive rows
    selecting      the search with event selection
"""
