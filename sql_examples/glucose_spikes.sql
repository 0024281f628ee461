-- Glucose spikes: from a normal level (below 140 mg/dl), a rise of 80 mg/dl or more within an hour.
-- The reluctant quantifier stops at the first reading that is high enough, so the time that the
-- rise took is the shortest.
SELECT start_at, spike_at, start_glucose, spike_glucose, readings
FROM glucose MATCH_RECOGNIZE (
    ORDER BY measured_at
    MEASURES
        BASE.measured_at AS start_at,
        SPIKE.measured_at AS spike_at,
        BASE.glucose AS start_glucose,
        SPIKE.glucose AS spike_glucose,
        COUNT(*) AS readings
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN (BASE RISING*? SPIKE)
    DEFINE
        BASE AS glucose < 140,
        RISING AS measured_at - BASE.measured_at < INTERVAL '1' HOUR,
        SPIKE AS glucose >= BASE.glucose + 80
            AND measured_at - BASE.measured_at <= INTERVAL '1' HOUR
)
ORDER BY start_at
