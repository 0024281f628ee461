"""Mathematical functions of floats as Spark has them, compiled: StrictMath to the last bit."""
