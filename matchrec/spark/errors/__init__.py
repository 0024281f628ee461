"""Turn errors of Spark, Sail or a worker into errors in the user's terms."""
