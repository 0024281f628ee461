"""The types in the signatures of matchrec, for annotations of your own code:

    from matchrec.types import DialectName, Score

    def run(dialect: DialectName) -> Score: ...

First the types of arguments, then the records that results hold.
"""

from matchrec.api.frames import Frame as Frame
from matchrec.api.front_end import QueryKind as QueryKind
from matchrec.api.inputs import ColumnsOrSql as ColumnsOrSql
from matchrec.api.inputs import FrameOrLiteral as FrameOrLiteral
from matchrec.api.rule_versions import Rules as Rules
from matchrec.arguments import AggregatePer as AggregatePer
from matchrec.arguments import Algorithm as Algorithm
from matchrec.arguments import Arguments as Arguments
from matchrec.arguments import Condition as Condition
from matchrec.arguments import DialectName as DialectName
from matchrec.arguments import DurationLike as DurationLike
from matchrec.arguments import Grid as Grid
from matchrec.arguments import KeyValue as KeyValue
from matchrec.arguments import NamedArguments as NamedArguments
from matchrec.arguments import OnError as OnError
from matchrec.arguments import OrderValue as OrderValue
from matchrec.arguments import PatternOutput as PatternOutput
from matchrec.arguments import SaseOutput as SaseOutput
from matchrec.arguments import Sort as Sort
from matchrec.arguments import SourceLanguage as SourceLanguage
from matchrec.arguments import SqlValue as SqlValue
from matchrec.arguments import TargetDialect as TargetDialect
from matchrec.arguments import Transport as Transport
from matchrec.arguments import WindowKind as WindowKind
from matchrec.compile.counted_coverage import Figures as Figures
from matchrec.compile.counted_coverage import NearestStart as NearestStart
from matchrec.explain.charts.backtest import MissReason as MissReason
from matchrec.explain.charts.backtest import Score as Score
from matchrec.explain.clause_coverage import FalsePart as FalsePart
from matchrec.explain.clause_coverage import LoopCoverage as LoopCoverage
from matchrec.explain.clause_coverage import OccurrenceCoverage as OccurrenceCoverage
from matchrec.explain.clause_coverage import RunEnding as RunEnding
from matchrec.source import Source as Source
from matchrec.source import Span as Span

__all__ = [name for name in globals() if name[0].isupper()]
