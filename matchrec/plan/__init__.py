"""What a query asks for goes in, a `MatchPlan` comes out, checked and resolved: what it means.

Syntax is dropped, and with it which language the query was written in.
"""
