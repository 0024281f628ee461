"""numba's compiler, set up for kernels: a kernel is optimised with all that it calls, at once.

numba optimises and compiles each function by itself, then again in each function that calls it. A
kernel calls thirty to sixty functions, one in the other, most of them small, so that is most of the
time. Here a function that only kernels call stays as it was written; the kernel takes in what it
calls. And of numba's passes over a function only those run that kernels need.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numba.core
from numba._dynfunc import make_function
from numba.core.cgutils import alloca_once, is_not_null
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.types import Dispatcher, unliteral
from numba.core.typing.context import Context
from numba.core.untyped_passes import (
    DeadBranchPrune,
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    RewriteSemanticConstants,
    TranslateByteCode,
)

from matchrec.evaluate.builtin import meant

config: Any = numba.core.config  # its types do not know all options


class _Part(JITCodeLibrary):
    """The code of a function that kernels call, as it was written."""

    def add_llvm_module(self, module: Any) -> None:
        self._final_module.link_in(module)

    def finalize(self) -> None:
        self._finalized = True

    def parts(self) -> Iterator[Any]:
        """What this code calls, and what that calls."""
        for library in self._linking_libraries:
            yield library
            if isinstance(library, _Part):
                yield from library.parts()


class _Whole(_Part):
    """The code of a kernel and of all that it calls, optimised together."""

    def finalize(self) -> None:
        self._linking_libraries = list(dict.fromkeys(self.parts()))
        JITCodeLibrary.finalize(self)

    def _optimize_final_module(self) -> None:
        made = self._codegen._module_pass_manager()
        manager, *builder = made if isinstance(made, tuple) else (made,)  # alone in older ones
        manager.run(self._final_module, *builder)


class _Bare(Lower):
    """Lowers a function without what counts references or tells a debugger where variables are."""

    def alloca(self, name: str, its_type: Any) -> Any:
        return alloca_once(self.builder, self.context.get_value_type(its_type), name=name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:  # noqa: ARG002 -- for debuggers
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        pass


class _Apart(_Bare):
    """Lowers a function that stays where it is, unless its code is to stand where it is called.

    Left to itself, LLVM takes large and rarely needed functions into the loop of a search, which
    makes that slower.
    """

    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        if "alwaysinline" not in self.function.attributes:
            self.function.attributes.add("noinline")


class _Call:
    """Calls a function, and does not ask whether it has raised an error: it cannot.

    libs: where its code is. signature: the types of its arguments.
    """

    def __init__(self, function: Any, libs: tuple[_Part, ...]) -> None:
        self.function = function
        self.libs = libs
        self.signature = function.argtypes

    def __call__(self, context: Any, builder: Any, _: Any, args: Any) -> Any:
        convention, result_type = context.call_conv, self.function.restype
        result = alloca_once(builder, convention.get_return_type(result_type).pointee)
        callee = context.declare_function(builder.module, self.function)
        errors = builder.function.args[1]
        given = convention._get_arg_packer(self.signature).as_arguments(builder, args)
        code = builder.call(callee, [result, errors, *given])
        if config.BOUNDSCHECK:  # then it may
            with builder.if_then(is_not_null(builder, code), likely=False):
                builder.ret(code)
        return context.get_returned_value(builder, result_type, builder.load(result))


@register_pass(mutates_CFG=True, analysis_only=False)
class _WholeLowering(NativeLowering):
    """Lowers and compiles a kernel."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _Bare

    def run_pass(self, state: Any) -> bool:
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    """Lowers a function without compiling it; callers find it by an entry that is never called."""

    _name = "part_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return _Apart

    def run_pass(self, state: Any) -> bool:
        context, name = state.targetctx, state.func_id.unique_name
        state.library = _Part(context.codegen(), name)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        module = lowered.fndesc.lookup_module()
        entry = make_function(module, name, "", 0, lowered.env, (state.library,))
        call = _Call(lowered.fndesc, (state.library,))
        context.insert_func_defn([(call, entry, call.signature)])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


_PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    RewriteSemanticConstants,  # with the next one: what an argument that is None rules out
    DeadBranchPrune,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
)


class _Passes(PassManager):
    """Passes whose results are not analysed once more after each of them."""

    _ENFORCING = False


class _Remembering(Context):
    """A typing context that answers each question once: numba tries all overloads each time.

    A function is compiled for integers, not once more for what a variable begins with.
    """

    def resolve_value_type(self, val: Any) -> Any:
        return super().resolve_value_type(meant(val))

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if isinstance(func, Dispatcher):
            return super().resolve_function_type(func, tuple(map(unliteral, args)), kws)
        if kws:
            return super().resolve_function_type(func, args, kws)
        key = func, tuple(args)
        if key not in _ANSWERS:
            _ANSWERS[key] = super().resolve_function_type(func, args, kws)
        return _ANSWERS[key]


_ANSWERS: dict[Any, Any] = {}


class _Compiler(CompilerBase):
    """The passes that kernels need, and one to lower them."""

    lowering: type

    def __init__(self, typingctx: Any, *others: Any) -> None:
        remembering = copy(typingctx)
        remembering.__class__ = _Remembering
        super().__init__(remembering, *others)

    def define_pipelines(self) -> list[PassManager]:
        manager = _Passes("kernel")
        for one in (*_PASSES, self.lowering, NoPythonBackend):
            manager.add_pass(one, one.__name__)
        manager.finalize()
        return [manager]


class WholeCompiler(_Compiler):
    """Compiles what Python calls."""

    lowering = _WholeLowering


class PartCompiler(_Compiler):
    """Compiles what only kernels call."""

    lowering = _PartLowering
