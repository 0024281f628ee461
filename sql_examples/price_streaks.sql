-- Streaks: at least seven closes in a row, each higher than the one before. Shows how rare a long
-- run of rising days is, and how much was gained in it.
SELECT ticker, first_day, last_day, days, gain_percent
FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        FIRST(RISE.date) AS first_day,
        LAST(RISE.date) AS last_day,
        COUNT(RISE.date) AS days,
        ROUND(100 * (LAST(RISE.close) / BASE.close - 1), 1) AS gain_percent
    PATTERN (BASE RISE{7,})
    DEFINE RISE AS close > PREV(close)
)
ORDER BY days DESC, ticker, first_day
