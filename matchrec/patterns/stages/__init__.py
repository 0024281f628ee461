"""The Pattern API: calls build stages, and stages are lowered to the same plan as any query.

    Pattern.begin("a").where("x > 1").followed_by("b").one_or_more()

builds two stages, of which the second one is a loop. A group is a stage that has stages.

    builder       the calls: `Pattern`
    after_match   where a search resumes after a match: `AfterMatch`
    tree          the stages that they build
    calls         stages as the calls that build them
    steps         stages as the steps of a plan
    checks        what a pattern may not have
    query         a `Pattern`, and what is returned of its matches
    conditions    which event each reference of a condition reads
    definitions   the tests of stages, loops and windows
    lower         all of these as a `MatchPlan`
"""
