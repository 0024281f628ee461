"""The clause of one product in → the edits that make the same clause of another one of it.

clause_edits         all of them, part by part; expressions go to `fragments`
additions, limits    what one product has added; what another one lacks, an error by name
event_time           TIMESTAMP BY before the clause
defaults             what is not written and means something else
variables            names: their quotes and their case
unused_definitions   variables of DEFINE that PATTERN has not
exclusive_loops      greedy loops that give no rows back
"""
