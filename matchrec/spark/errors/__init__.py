"""What Spark and its workers say, in the user's terms."""
