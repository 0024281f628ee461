"""The meaning of a row pattern query: what goes in is any front end's request, what comes out is a MatchPlan."""
