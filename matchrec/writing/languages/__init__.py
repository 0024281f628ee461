"""What each language can say: a plan goes in, its text comes out, or why there is none."""
