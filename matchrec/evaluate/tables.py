"""Arrays as kernels take them: contiguous tables, alone or as the fields of a named tuple.

An array of numba may have any strides, and an index into it may count from the end: reading one
value is thirty instructions before they are optimised, and an array as an argument is seven or nine
of them at every call. Most of what a kernel costs to compile would be that. A table is an address
and a shape, rows one after another, and no index is negative. A named tuple is the address of its
fields, which no kernel changes, only what their tables hold.

`given` lays out in Python what a kernel is given, so that the wrapper of a kernel has little to do:
words of 64 bits, of a table its address and its shape, of a number or a truth value itself.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeVar

import numba.core
import numpy as np
from llvmlite.ir import Constant, Undefined
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_global,
    signature,
)
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr,
    lower_getattr_generic,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.numpy_support import from_dtype

config: Any = numba.core.config  # its types do not know all options

_C = TypeVar("_C", bound=type)


class Table(types.Type):
    """A contiguous array in C order. dtype: a numba type."""

    def __init__(self, dtype: types.Type, ndim: int) -> None:
        self.dtype = dtype
        self.ndim = ndim
        super().__init__(f"Table({dtype}, {ndim})")


class Record(types.Type):
    """A named tuple. fields: name and type of each."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.fields = fields
        super().__init__(name)

    @property
    def key(self) -> Any:
        return self.name, self.fields

    def place(self, name: str) -> tuple[int, types.Type]:
        """At which word a field begins, and its type."""
        at = 0
        for field, type_ in self.fields:
            if field == name:
                return at, type_
            at += _words(type_)
        raise AttributeError(name)


def _words(type_: types.Type) -> int:
    return 1 + type_.ndim if isinstance(type_, Table) else 1


_RECORDS: set[type] = set()


def record(named_tuple: _C) -> _C:
    """A named tuple of arrays, integers and truth values that kernels take by its address."""
    _RECORDS.add(named_tuple)
    return named_tuple


class Given:
    """An argument of a kernel. address: of its words, which live as long as this."""

    __slots__ = ("address", "kept", "type")

    def __init__(self, type_: types.Type, words: list[int], value: object) -> None:
        laid_out = np.array(words, np.int64)
        self.type = type_
        self.address = _address(laid_out)
        self.kept = laid_out, value


def given(value: Any) -> Any:
    """A value as a kernel takes it; numbers and None are taken as they are."""
    if isinstance(value, np.ndarray):
        return Given(_type_of(value), list(_words_of(value)), value)
    if type(value) not in _RECORDS:
        return value
    words = [word for field in value for word in _words_of(field)]
    fields = tuple(zip(value._fields, map(_type_of, value), strict=True))
    return Given(_record(type(value).__name__, fields), words, value)


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _words_of(value: Any) -> Iterator[int]:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous, "a kernel takes contiguous arrays"
        yield _address(value)
        yield from value.shape
    else:
        yield int(value)


def _type_of(value: Any) -> types.Type:
    if isinstance(value, np.ndarray):
        return _table(value.dtype, value.ndim)
    return types.boolean if isinstance(value, bool | np.bool_) else types.int64


@lru_cache
def _table(dtype: np.dtype[Any], ndim: int) -> Table:
    return Table(from_dtype(dtype), ndim)


@lru_cache
def _record(name: str, fields: tuple[tuple[str, types.Type], ...]) -> Record:
    return Record(name, fields)


@typeof_impl.register(Given)
def _typeof(value: Given, _: Any) -> types.Type:
    return value.type


@register_model(Table)
class _TableModel(models.StructModel):
    def __init__(self, manager: Any, table: Table) -> None:
        shape = types.UniTuple(types.intp, table.ndim)
        super().__init__(manager, table, [("data", types.CPointer(table.dtype)), ("shape", shape)])


@register_model(Record)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, record_type: Record) -> None:
        super().__init__(manager, record_type, cgutils.intp_t.as_pointer())


@unbox(Record)
def _unbox_record(_: Record, value: Any, c: Any) -> NativeValue:
    return NativeValue(_words_at(value, c))


@unbox(Table)
def _unbox_table(table: Table, value: Any, c: Any) -> NativeValue:
    return NativeValue(_loaded(c.context, c.builder, table, _words_at(value, c), 0))


def _words_at(value: Any, c: Any) -> Any:
    """The address of a Given."""
    address = c.pyapi.object_getattr_string(value, "address")
    words = c.builder.inttoptr(c.pyapi.long_as_longlong(address), cgutils.intp_t.as_pointer())
    c.pyapi.decref(address)
    return words


def _loaded(context: Any, builder: Any, type_: types.Type, words: Any, place: int) -> Any:
    """The value that begins at a word. As no word changes, it may be read as often as one likes."""

    def load(at: int, as_type: Any) -> Any:
        pointer = builder.gep(words, [cgutils.intp_t(at)])
        word = builder.load(builder.bitcast(pointer, as_type.as_pointer()))
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        return word

    if not isinstance(type_, Table):
        word = load(place, cgutils.intp_t)
        return cgutils.is_not_null(builder, word) if type_ is types.boolean else word
    data = load(place, context.get_value_type(types.CPointer(type_.dtype)))
    sizes = [load(place + 1 + axis, cgutils.intp_t) for axis in range(type_.ndim)]
    return _made(context, builder, type_, data, sizes)


def _made(context: Any, builder: Any, table_type: Table, data: Any, sizes: list[Any]) -> Any:
    """A table at an address."""
    table = Constant(context.get_value_type(table_type), Undefined)
    table = builder.insert_value(table, data, 0)
    for axis, size in enumerate(sizes):
        table = builder.insert_value(table, size, [1, axis])
    return table


def _size(builder: Any, table: Any, axis: int) -> Any:
    return builder.extract_value(table, [1, axis])


@infer_getattr
class _Fields(AttributeTemplate):
    key = Record

    def generic_resolve(self, value: Record, attr: str) -> Any:  # type: ignore[override]
        return dict(value.fields).get(attr)


@lower_getattr_generic(Record)
def _field(context: Any, builder: Any, record_type: Record, words: Any, name: str) -> Any:
    place, type_ = record_type.place(name)
    return _loaded(context, builder, type_, words, place)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = Table

    def resolve_shape(self, table: Table) -> types.Type:
        return types.UniTuple(types.intp, table.ndim)


@lower_getattr(Table, "shape")
def _shape(_: Any, builder: Any, __: Table, table: Any) -> Any:
    return builder.extract_value(table, 1)


def _parts(index: types.Type) -> tuple[types.Type, ...]:
    return tuple(getattr(index, "types", (index,)))


def _indexed(table: types.Type, index: types.Type) -> tuple[types.Type, types.Type] | None:
    """What `table[index]` is, and the index as it is taken: numbers, then perhaps one slice."""
    if not isinstance(table, Table):
        return None
    parts = _parts(index)
    sliced = isinstance(parts[-1], types.SliceType)
    numbers = parts[:-1] if sliced else parts
    left = table.ndim - len(numbers)
    if not all(isinstance(one, types.Integer) for one in numbers) or left < sliced:
        return None
    taken = [*[types.intp] * len(numbers), *parts[len(numbers) :]]
    as_taken = types.Tuple(taken) if isinstance(index, types.BaseTuple) else taken[0]
    return (Table(table.dtype, left) if left else table.dtype), as_taken


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, _: Any) -> Any:
        table, index = args
        found = _indexed(table, index)
        return found and signature(found[0], table, found[1])


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, _: Any) -> Any:
        table, index = args[:2]
        found = _indexed(table, index)
        return found and signature(types.none, table, found[1], table.dtype)


def _indices(builder: Any, index_type: types.Type, index: Any) -> list[Any]:
    if isinstance(index_type, types.BaseTuple):
        return list(cgutils.unpack_tuple(builder, index))
    return [index]


def _place(context: Any, builder: Any, table_type: Table, table: Any, indices: list[Any]) -> Any:
    """Where a value lies, or the first of the values that further indices would tell apart."""
    if config.BOUNDSCHECK:  # for tests of kernels
        for axis, index in enumerate(indices):
            cgutils.do_boundscheck(context, builder, index, _size(builder, table, axis), axis)
    offset = indices[0]
    for axis in range(1, table_type.ndim):
        offset = builder.mul(offset, _size(builder, table, axis))
        if axis < len(indices):
            offset = builder.add(offset, indices[axis])
    return builder.gep(builder.extract_value(table, 0), [offset])


@lower_builtin(operator.getitem, Table, types.Any)
def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    table_type, index_type = sig.args
    table = args[0]
    indices = _indices(builder, index_type, args[1])
    if not isinstance(sig.return_type, Table):
        place = _place(context, builder, table_type, table, indices)
        return context.data_model_manager[table_type.dtype].load_from_data_pointer(builder, place)
    last = _parts(index_type)[-1]
    left = [_size(builder, table, axis) for axis in range(len(indices), table_type.ndim)]
    if isinstance(last, types.SliceType):  # its end may lie behind the end of the row
        part = context.make_helper(builder, last, indices.pop())
        size = _size(builder, table, len(indices))
        stop = builder.select(builder.icmp_signed("<", part.stop, size), part.stop, size)
        indices.append(part.start)
        left = [builder.sub(stop, part.start), *left]
    data = _place(context, builder, table_type, table, indices)
    return _made(context, builder, sig.return_type, data, left)


@lower_builtin(operator.setitem, Table, types.Any, types.Any)
def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    table_type, index_type, _ = sig.args
    indices = _indices(builder, index_type, args[1])
    place = _place(context, builder, table_type, args[0], indices)
    builder.store(context.data_model_manager[table_type.dtype].as_data(builder, args[2]), place)
    return context.get_dummy_value()
