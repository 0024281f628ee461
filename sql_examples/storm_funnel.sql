-- A funnel of four steps, in order, with anything between them: pressure falls three hours running,
-- heavy rain comes within 12 hours, and within another 12 the sky is clear and pressure rises.
-- The reluctant quantifiers take as few rows as they can, so each step is the first of its kind.
SELECT origin, alarm_local, rain_local, clear_local, hours_of_warning, rain_fallen
FROM weather MATCH_RECOGNIZE (
    PARTITION BY origin
    ORDER BY hour_utc
    MEASURES
        LAST(FALLING.hour_local) AS alarm_local,
        RAIN.hour_local AS rain_local,
        CLEAR.hour_local AS clear_local,
        COUNT(WAITING.hour_utc) + 1 AS hours_of_warning,
        ROUND(RAIN.precip + COALESCE(SUM(PASSING.precip), 0), 2) AS rain_fallen
    PATTERN (FALLING{3} WAITING{0,11}? RAIN PASSING{0,11}? CLEAR)
    DEFINE
        FALLING AS pressure <= PREV(pressure) - 0.5,
        RAIN AS precip >= 0.2,
        CLEAR AS visib = 10 AND precip = 0 AND pressure > PREV(pressure)
)
ORDER BY alarm_local, origin
