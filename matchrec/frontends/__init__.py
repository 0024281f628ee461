"""Front ends: text or calls in, `MatchPlan` out.

Each language keeps its own syntax nodes and lowers them; afterwards no one knows which it was. What
several languages share stands here: the PATTERN grammar and the reading of scalar expressions.
"""
