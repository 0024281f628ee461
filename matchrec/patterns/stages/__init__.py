"""The Pattern API: calls go in, stages come out, and from them the same plan as of any query.

    Pattern.begin("a").where("x > 1").followed_by("b").one_or_more()

is two stages, of which the second is looped; a group is a stage of stages.
"""
