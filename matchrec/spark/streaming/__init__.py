"""Queries over a streaming DataFrame, whose result is a stream of matches.

A match is output once no later row can change it. Spark's `applyInPandasWithState` keeps the state
of a search between two micro-batches, with the rows that the search still needs.

    stream_checks           checks whether a query can run over a stream
    event_preparation       the columns that Spark computes, and the operator that runs the searches
    stream_worker           the worker of a bucket of keys: reads the state, searches, writes the
                            state
    arrival                 sorts events as they arrive
    search                  the interface of searches, and the search for consecutive rows
    event_selection         the search with event selection
    event_selection_states  the states of this search
    key_rows                the rows of this search
    key_states              converts the states of searches to the state of a bucket, and back
    bucket_state            the state of a bucket, which is stored between two micro-batches
    keyed_values            values of many keys in flat arrays
"""
