-- Dry spells: ten days or more without any rain, and the rain of the day that ended each of them.
-- Days and spells are both common table expressions; NEXT looks at the row after the match.
WITH days AS (
    SELECT origin, CAST(hour_local AS DATE) AS day, SUM(precip) AS rain
    FROM weather
    GROUP BY origin, CAST(hour_local AS DATE)
),
spells AS (
    SELECT *
    FROM days MATCH_RECOGNIZE (
        PARTITION BY origin
        ORDER BY day
        MEASURES
            FIRST(DRY.day) AS first_day,
            COUNT(DRY.day) AS days,
            NEXT(LAST(DRY.rain)) AS rain_after
        PATTERN (DRY{10,})
        DEFINE DRY AS rain = 0
    )
)
SELECT origin, first_day, days, ROUND(rain_after, 2) AS rain_after
FROM spells
ORDER BY days DESC, origin, first_day
