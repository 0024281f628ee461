"""Languages other than SQL, which are lowered to the same `MatchPlan` as a clause of SQL.

sase      text of SASE+
stages    calls of the `Pattern` API
"""
