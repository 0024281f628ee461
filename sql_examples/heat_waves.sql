-- Heat waves at New York's airports in 2013: at least three days in a row with 90 °F or more.
-- The input of the clause is a subquery that makes one row per day from hourly readings.
SELECT origin, first_day, last_day, days, hottest
FROM (
    SELECT origin, CAST(hour_local AS DATE) AS day, MAX(temp) AS high
    FROM weather
    GROUP BY origin, CAST(hour_local AS DATE)
) MATCH_RECOGNIZE (
    PARTITION BY origin
    ORDER BY day
    MEASURES
        FIRST(day) AS first_day,
        LAST(day) AS last_day,
        COUNT(*) AS days,
        MAX(high) AS hottest
    PATTERN (ONSET HOT{2,})
    DEFINE
        ONSET AS high >= 90,
        HOT AS high >= 90 AND day = DATE_ADD(PREV(day), 1)
)
ORDER BY origin, first_day
