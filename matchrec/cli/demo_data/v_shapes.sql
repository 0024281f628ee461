SELECT ticker, first_day, bottom_day, last_day, fall_percent
FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        TOP.date AS first_day,
        LAST(FALL.date) AS bottom_day,
        BACK.date AS last_day,
        ROUND(100 * (1 - LAST(FALL.close) / TOP.close), 1) AS fall_percent
    AFTER MATCH SKIP TO LAST BACK
    PATTERN (TOP FALL{3,} RISE*? BACK)
    DEFINE
        FALL AS close < PREV(close),
        RISE AS close > PREV(close),
        BACK AS close > PREV(close) AND close >= TOP.close
)
WHERE fall_percent >= 5
ORDER BY fall_percent DESC, ticker, first_day
