"""Rules of Oracle: texts that are NULL, dates that are numbers of days, formats, functions."""
