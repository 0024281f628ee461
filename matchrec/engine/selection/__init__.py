"""Event selection: rows may be skipped, and all matches may be asked for.

Both algorithms share their records (`records`), the order of matches (`ordering`), after-match skip
strategies (`skip`, and `skip_release` while a search goes on), and the graph of all matches.
"""
