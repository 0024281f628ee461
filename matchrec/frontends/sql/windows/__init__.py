"""Row pattern recognition in windows (R020): a query's windows with PATTERN in, their plans out.

    blocks, find    which SELECT a window belongs to, and which calls are over it
    read            what stands between a window's parentheses → a clause and a frame
    edits           what stands in the query in place of the calls
    lower           clause, frame and calls → MatchPlan, in which PREV and NEXT keep to the frame

    SELECT id, low OVER w FROM t WINDOW w AS (ORDER BY id MEASURES LAST(x) AS low ...)
    SELECT id, `low OVER w` AS `low` FROM (each row of t, with the columns of its calls)

Dropped: nothing but the windows; the query around them stays Spark's.
"""
