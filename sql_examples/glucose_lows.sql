-- Lows of half an hour or more (six readings below 60 mg/dl): the last good reading before and the
-- first after. The exclusion {- -} leaves the low readings themselves out of the rows, yet the
-- measures still count them.
SELECT episode, edge, measured_at, glucose, low_readings, lowest
FROM glucose MATCH_RECOGNIZE (
    ORDER BY measured_at
    MEASURES
        MATCH_NUMBER() AS episode,
        CLASSIFIER() AS edge,
        FINAL COUNT(LOW.glucose) AS low_readings,
        FINAL MIN(LOW.glucose) AS lowest
    ALL ROWS PER MATCH
    PATTERN (BEFORE {- LOW{6,} -} AFTER)
    DEFINE
        BEFORE AS glucose >= 60,
        LOW AS glucose < 60 AND measured_at - PREV(measured_at) <= INTERVAL '10' MINUTE,
        AFTER AS glucose >= 60 AND measured_at - PREV(measured_at) <= INTERVAL '10' MINUTE
)
ORDER BY measured_at
