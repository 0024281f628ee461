"""The Pattern API: calls build stages, and stages are lowered to the same plan as any query.

    Pattern.begin("a").where("x > 1").followed_by("b").one_or_more()

builds two stages, of which the second one is a loop. A group is a stage that has stages.
"""
