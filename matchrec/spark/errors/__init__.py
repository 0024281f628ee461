"""An error of Spark or a worker goes in, one in the user's terms comes out; traces are dropped."""
