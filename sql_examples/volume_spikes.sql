-- Days on which the volume was more than four times the average of the twenty days before. SUBSET
-- names all 21 rows at once, so the measures can show the average with the spike next to the
-- average without it.
SELECT ticker, spike_date, volume, calm_volume, whole_volume, day_percent
FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        SPIKE.date AS spike_date,
        SPIKE.volume AS volume,
        ROUND(AVG(CALM.volume)) AS calm_volume,
        ROUND(AVG(WHOLE.volume)) AS whole_volume,
        ROUND(100 * (SPIKE.close / LAST(CALM.close) - 1), 1) AS day_percent
    AFTER MATCH SKIP TO NEXT ROW -- the window of twenty days slides by one day
    PATTERN (CALM{20} SPIKE)
    SUBSET WHOLE = (CALM, SPIKE)
    DEFINE SPIKE AS volume > 4 * AVG(CALM.volume)
)
ORDER BY ticker, spike_date
