# ===- ir_text.py - IR of one-op functions ---------------------------------=== #
#
# Part of the vcattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Text of a function that applies one level-2 op to its arguments.

An operand is a Value: an array and its element type; its type is a Tensor.
"""

from typing import NamedTuple

import numpy as np

from number_formats import F32, bf16_bits, bf16_value

ELEMENT = {
    np.dtype(F32): "f32",
    np.dtype(np.int8): "i8",
    np.dtype(np.uint8): "f8E4M3FN",
    np.dtype(np.int32): "i32",
    np.dtype(bool): "i1",
    np.dtype(np.float16): "f16",
    np.dtype(np.uint16): "bf16",
}


class Value(NamedTuple):
    array: np.ndarray
    element: str


def value(array, element=None):
    """An operand of the array's own type; float32 that stand for `element` are stored as such."""
    if element == "bf16":
        array = bf16_bits(array)
    elif element == "f16":
        array = array.astype(np.float16)
    return Value(array, element or ELEMENT[array.dtype])


def as_float(array, element):
    """A result as float32, exactly."""
    return bf16_value(array) if element == "bf16" else array.astype(F32)


class Tensor(NamedTuple):
    """A type; sizes of the dimensions in `unknown` are left out of its text."""

    shape: tuple
    element: str
    unknown: tuple = ()

    def __str__(self):
        sizes = ("?" if i in self.unknown else str(size) for i, size in enumerate(self.shape))
        return f"tensor<{'x'.join([*sizes, self.element])}>"


def join(types):
    return ", ".join(map(str, types))


def function(body, arguments, results):
    """@main: `body` uses %0, %1, ... (types in arguments) and defines %r:N."""
    inputs = ", ".join(f"%{'abcdefghijkl'[i]}: {t}" for i, t in enumerate(arguments))
    names = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    left = f"%r:{len(results)}" if len(results) > 1 else "%r"
    types = join(results)
    return f"func.func @main({inputs}) -> ({types}) {{\n  {left} = {body}\n  return {names} : {types}\n}}\n"


def method_op(name, operands, results, attributes="", word=""):
    """vcattn.NAME on its operands; `word` stands between the first and the second."""
    names = [f"%{'abcdefghijkl'[i]}" for i in range(len(operands))]
    listed = f"{names[0]} {word} {names[1]}" if word else ", ".join(names)
    body = f"vcattn.{name} {listed} {{{attributes}}} : ({join(operands)}) -> ({join(results)})"
    return function(body, operands, results)


def attention_op(name, operands, results, attributes):
    """vcattn.attention or vcattn.quantized_attention.

    operands: (role, type) in the op's order; roles are query, key, value, scale, mask, means,
    lengths, blocks.
    """
    listed = ""
    for i, (role, _) in enumerate(operands):
        word = {"query": "", "key": ", ", "value": ", "}.get(role, f" {role} ")
        listed += f"{word}%{'abcdefghijkl'[i]}"
    types = [t for _, t in operands]
    if name == "quantized_attention":
        ending = f"({join(types)}) -> ({join(results)})"
        return function(f"vcattn.{name} {listed} {{{attributes}}} : {ending}", types, results)
    for i, (role, t) in enumerate(operands):
        if role in ("mask", "means", "lengths", "blocks"):
            listed = listed.replace(f" {role} %{'abcdefghijkl'[i]}", f" {role} %{'abcdefghijkl'[i]} : {t}")
    ending = f"{join(types[:3])} -> {join(results)}"
    return function(f"vcattn.{name} {listed} {{{attributes}}} : {ending}", types, results)
