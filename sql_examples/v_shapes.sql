-- V-shapes in share prices: the close falls for at least three days in a row, then rises day after
-- day until it is back at the price where the fall began. The steep ones mark panics that were
-- over within days (October 2008, the flash crash of May 2010).
SELECT ticker, top_date, bottom_date, back_date, ROUND(100 * (1 - bottom / top), 1) AS fall_percent
FROM stocks MATCH_RECOGNIZE (
    PARTITION BY ticker
    ORDER BY date
    MEASURES
        TOP.date AS top_date,
        LAST(FALL.date) AS bottom_date,
        BACK.date AS back_date,
        TOP.close AS top,
        LAST(FALL.close) AS bottom
    ONE ROW PER MATCH
    AFTER MATCH SKIP TO LAST BACK -- one V may begin where the last one ended
    PATTERN (TOP FALL{3,} RISE*? BACK)
    DEFINE
        FALL AS close < PREV(close),
        RISE AS close > PREV(close),
        BACK AS close > PREV(close) AND close >= TOP.close
)
WHERE bottom <= 0.95 * top
ORDER BY fall_percent DESC, ticker, top_date
