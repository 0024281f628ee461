"""Before the match: a relation goes in; sorted partitions with what crosses come out."""
