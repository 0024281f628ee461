"""The functions that users call: each joins a front end, the compile path and Spark, no more."""
