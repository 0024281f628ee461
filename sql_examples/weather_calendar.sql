-- A calendar of July at JFK: every day once, labelled as part of a hot spell, of a wet spell, or of
-- neither. WITH UNMATCHED ROWS keeps the days of no spell, with NULL measures.
SELECT day, high, ROUND(rain, 2) AS rain, COALESCE(kind, 'neither') AS spell, day_of_spell
FROM (
    SELECT CAST(hour_local AS DATE) AS day, MAX(temp) AS high, SUM(precip) AS rain
    FROM weather
    WHERE origin = 'JFK' AND MONTH(hour_local) = 7
    GROUP BY CAST(hour_local AS DATE)
) MATCH_RECOGNIZE (
    ORDER BY day
    MEASURES
        LOWER(CLASSIFIER()) AS kind,
        RUNNING COUNT(*) AS day_of_spell
    ALL ROWS PER MATCH WITH UNMATCHED ROWS
    PATTERN (HOT{2,} | WET{2,})
    DEFINE
        HOT AS high >= 85,
        WET AS rain >= 0.05
)
ORDER BY day
