-- Sessions by time gap: a glucose sensor reports every five minutes while it is worn. A pause of
-- more than half an hour starts a new session. The short sessions show where the sensor failed.
SELECT session, started_at, ended_at, readings, ROUND(average, 1) AS average
FROM glucose MATCH_RECOGNIZE (
    ORDER BY measured_at
    MEASURES
        MATCH_NUMBER() AS session,
        FIRST(measured_at) AS started_at,
        LAST(measured_at) AS ended_at,
        COUNT(*) AS readings,
        AVG(glucose) AS average
    PATTERN (START MORE*)
    DEFINE MORE AS measured_at - PREV(measured_at) <= INTERVAL '30' MINUTE
)
ORDER BY session
