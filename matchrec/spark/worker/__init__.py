"""Inside Spark's Python workers: batches of sorted rows go in, batches of output rows come out."""
