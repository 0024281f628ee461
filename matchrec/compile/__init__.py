"""A plan goes in; an `Executable` comes out: columns of Spark, an engine's task, what is read."""
