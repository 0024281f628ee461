-- V-shapes in share prices: the close falls for at least three days in a row, by 5 % or more, then
-- rises day after day until it is back at the price where the fall began. The steep V-shapes are
-- panics that were over within days (October 2008, the flash crash of May 2010).
SELECT ticker, first_day, bottom_day, last_day, fall_percent
FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        TOP.date AS first_day,
        LAST(FALL.date) AS bottom_day,
        BACK.date AS last_day,
        ROUND(100 * (1 - LAST(FALL.close) / TOP.close), 1) AS fall_percent
    AFTER MATCH SKIP TO LAST BACK -- one V may begin where the last one ended
    PATTERN (TOP FALL{3,} RISE*? BACK)
    DEFINE
        FALL AS close < PREV(close),
        RISE AS close > PREV(close),
        BACK AS close > PREV(close) AND close >= TOP.close
)
WHERE fall_percent >= 5
ORDER BY fall_percent DESC, ticker, first_day
