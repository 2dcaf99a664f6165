//===- Attention.cpp - attention and quantized_attention as loops ---------===//
//
// Part of the vcattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One iteration per block of 32 queries of a head: over the key tiles, scores,
// softmax and values, with the rows' state in small buffers of its own.
//
//===----------------------------------------------------------------------===//

#include "AttentionLoops.h"
#include "vcattn/Conversion/NarrowFloat.h"
#include <limits>

using namespace mlir;
using namespace vcattn;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Integer scores are exact as 1.5 * 2^23 + dot, |dot| <= 127^2 D < 2^22.
static constexpr int64_t kMaxIntegerDim = 260;

namespace {
/// The tensors that an iteration carries through the tiles.
struct BlockState {
  enum { Scores, Accumulator, Maxima, Denominators, Factors, Sums, Count };
};

class AttentionLowering {
public:
  AttentionLowering(LoopBuilder &b, const AttentionOperands &p)
      : b(b), p(p), f32(b.getF32Type()) {}

  SmallVector<Value> lower();

private:
  using Values = SmallVector<Value>;

  /// Where a query stands among `keys` keys.
  Value positionOf(Value query, Value keys);
  /// The first key that a query may see, and the end of those it may; the
  /// mask and the block mask aside.
  Value firstKey(Value query, Value keys);
  Value endOfKeys(Value query, Value keys);
  Value decodeQueries(Value batch, Value head, Value first);
  Values initialState();
  Values runTile(Value batch, Value head, Value keyHead, Value first,
                 Value rows, Value keys, Value queries, Value tile,
                 ArrayRef<Value> state);
  /// Is the entry of the block mask for the queries from `first` on and the
  /// keys of `tile` set?
  Value isBlockSeen(Value batch, Value head, Value first, Value tile);
  Value writeRow(Value batch, Value keyHead, Value row, ArrayRef<Value> state,
                 Value result);

  LoopBuilder &b;
  const AttentionOperands &p;
  AttentionTiles t;
  Type f32;
};
} // namespace

Value AttentionLowering::positionOf(Value query, Value keys) {
  return p.causal == Causality::BottomRight
             ? b.add(query, b.sub(keys, t.q.tokens))
             : query;
}

Value AttentionLowering::firstKey(Value query, Value keys) {
  if (p.left() < 0)
    return b.index(0);
  return b.maxS(b.sub(positionOf(query, keys), b.index(p.left())), b.index(0));
}

Value AttentionLowering::endOfKeys(Value query, Value keys) {
  if (p.right() < 0)
    return keys;
  Value end = b.add(positionOf(query, keys), b.index(p.right() + 1));
  return b.minS(b.maxS(end, b.index(0)), keys);
}

/// Queries of a block in FP32, [32, D]; past the last one its copies.
Value AttentionLowering::decodeQueries(Value batch, Value head, Value first) {
  int64_t lanes = LoopBuilder::lanes(t.q.dim);
  Value last = b.sub(t.q.tokens, b.index(1));
  Value block = b.empty({b.index(kQueryBlock), b.index(t.q.dim)}, f32);
  return b.loop(
      b.index(0), b.index(kQueryBlock), {block},
      [&](Value row, ArrayRef<Value> block) {
        TokenIndex at{batch, head, b.minS(b.add(first, row), last), b.index(0)};
        Values x = b.readF32(p.query, at.in(p.layout), t.q.dim, lanes);
        return Values{b.writeAll(x, block[0], {row, b.index(0)})};
      })[0];
}

SmallVector<Value> AttentionLowering::initialState() {
  Value rows = b.index(kQueryBlock);
  Values state(BlockState::Count);
  state[BlockState::Scores] = b.empty({rows, b.index(kTileKeys)}, f32);
  state[BlockState::Accumulator] = b.empty({rows, b.index(t.paddedDim)}, f32);
  for (int i : {BlockState::Maxima, BlockState::Denominators,
                BlockState::Factors, BlockState::Sums})
    state[i] = b.empty({rows}, f32);
  Value zeros = b.floatConstant(VectorType::get({kLanes}, f32), 0.0);
  return b.loop(b.index(0), rows, state, [&](Value row, ArrayRef<Value> old) {
    Values state(old);
    Value &accumulator = state[BlockState::Accumulator];
    accumulator = b.steps(t.paddedDim, kLanes, {accumulator},
                          [&](Value d, ArrayRef<Value> old) {
                            return Values{b.write(zeros, old[0], {row, d})};
                          })[0];
    auto set = [&](int i, double value) {
      state[i] = b.insert(b.floatConstant(f32, value), state[i], {row});
    };
    set(BlockState::Maxima, -kInfinity);
    set(BlockState::Denominators, 0.0);
    // Rows past the last query are multiplied along, unread.
    set(BlockState::Factors, 0.0);
    set(BlockState::Sums, 0.0);
    return state;
  });
}

SmallVector<Value> AttentionLowering::runTile(Value batch, Value head,
                                              Value keyHead, Value first,
                                              Value rows, Value keys,
                                              Value queries, Value tile,
                                              ArrayRef<Value> old) {
  Values state(old);
  Value zero = b.index(0);
  auto matrixOf = [&](Value tensor) {
    auto type = cast<ShapedType>(tensor.getType());
    return b
        .slice(tensor, {batch, keyHead, tile, zero, zero},
               {b.getIndexAttr(1), b.getIndexAttr(1), b.getIndexAttr(1),
                b.getIndexAttr(type.getDimSize(3)),
                b.getIndexAttr(type.getDimSize(4))},
               /*keptDims=*/2)
        .tensor;
  };
  Value groups = b.ceilDiv(rows, kRegisterRows);
  state[BlockState::Scores] = emitScores(b, queries, matrixOf(t.keys),
                                         state[BlockState::Scores], groups);

  Value tileStart = b.mul(tile, b.index(kTileKeys));
  int64_t size =
      cast<ShapedType>(p.key.getType()).getDimSize(getTokensDim(p.layout));
  bool limited = p.right() >= 0 || p.lengths || ShapedType::isDynamic(size) ||
                 size % kTileKeys != 0;
  state = b.loop(zero, rows, state, [&](Value i, ArrayRef<Value> old) {
    Values state(old);
    Value query = b.add(first, i);
    TileRow row{batch, head, keyHead, query, tile, Value(), Value()};
    if (p.left() >= 0)
      row.start = b.sub(firstKey(query, keys), tileStart);
    if (limited)
      row.end = b.sub(endOfKeys(query, keys), tileStart);
    Values scores =
        b.readF32(state[BlockState::Scores], {i, zero}, kTileKeys, kLanes);
    CastRow cast = emitSoftmaxRow(b, p, t, row, scores,
                                  b.extract(state[BlockState::Maxima], {i}));
    Value denominator = b.addF(
        b.mulF(b.extract(state[BlockState::Denominators], {i}), cast.factor),
        cast.sum);
    auto set = [&](int which, Value x) {
      state[which] = b.insert(x, state[which], {i});
    };
    set(BlockState::Maxima, cast.maximum);
    set(BlockState::Denominators, denominator);
    set(BlockState::Factors, cast.factor);
    set(BlockState::Sums, cast.sum);
    state[BlockState::Scores] =
        b.writeAll(cast.probabilities, state[BlockState::Scores], {i, zero});
    return state;
  });

  Value means;
  if (t.means)
    means = b.row(t.means, {batch, keyHead, blockOfTile(b, tile), zero},
                  t.paddedDim)
                .tensor;
  Value values = matrixOf(t.values);
  auto product = [&](bool skipUnseen) {
    return emitValues(b, state[BlockState::Scores], values, means,
                      state[BlockState::Factors], state[BlockState::Sums],
                      state[BlockState::Accumulator], groups, skipUnseen);
  };
  if (!t.finite) {
    state[BlockState::Accumulator] = product(/*skipUnseen=*/false);
    return state;
  }
  // 0 * NaN is NaN: values that a query does not see must not meet it.
  Value finite = b.extract(t.finite, {batch, keyHead, tile});
  Value isFinite = b.cmpI(arith::CmpIPredicate::ne, finite,
                          b.intConstant(finite.getType(), 0));
  state[BlockState::Accumulator] = b.branch(
      isFinite, [&] { return Values{product(false)}; },
      [&] { return Values{product(true)}; })[0];
  return state;
}

Value AttentionLowering::isBlockSeen(Value batch, Value head, Value first,
                                     Value tile) {
  // The queries of an iteration lie within one block of 128.
  Value queryBlock =
      b.createOrFold<arith::DivUIOp>(first, b.index(kBlockTokens));
  return b.extract(p.blocks, {b.broadcastIndex(p.blocks, 0, batch),
                              b.broadcastIndex(p.blocks, 1, head), queryBlock,
                              blockOfTile(b, tile)});
}

/// One row of the result: accumulator / denominator * value scale.
Value AttentionLowering::writeRow(Value batch, Value keyHead, Value row,
                                  ArrayRef<Value> state, Value result) {
  int64_t lanes = LoopBuilder::lanes(t.valueDim);
  Value denominator = b.extract(state[BlockState::Denominators], {row});
  Value isEmpty =
      b.cmpF(arith::CmpFPredicate::OEQ, denominator, b.floatConstant(f32, 0.0));
  return b.steps(
      t.valueDim, lanes, {result}, [&](Value d, ArrayRef<Value> old) {
        Value x = b.read(state[BlockState::Accumulator], {row, d}, lanes);
        x = b.divF(x, b.splat(denominator, lanes));
        if (p.valueScale)
          x = b.mulF(x, b.read(p.valueScale, {batch, keyHead, d}, lanes));
        x = b.select(isEmpty, b.floatConstant(x.getType(), 0.0), x);
        x = emitFromF32(b, x, p.resultElement);
        return Values{b.write(x, old[0], {row, d})};
      })[0];
}

SmallVector<Value> AttentionLowering::lower() {
  t = packTiles(b, p);
  Value blocks = b.ceilDiv(t.q.tokens, kQueryBlock);
  TokenIndex shape{t.q.batch, t.q.heads, t.q.tokens, b.index(t.valueDim)};
  Values outputs{b.empty(shape.in(p.layout), p.resultElement)};
  if (p.wantsLse)
    outputs.push_back(b.empty({t.q.batch, t.q.heads, t.q.tokens}, f32));
  return b.forall(
      {t.q.batch, t.q.heads, blocks}, outputs,
      [&](ArrayRef<Value> i, ArrayRef<Value> out) {
        Value batch = i[0], head = i[1], zero = b.index(0);
        Value first = b.mul(i[2], b.index(kQueryBlock));
        Value rows = b.minS(b.sub(t.q.tokens, first), b.index(kQueryBlock));
        Value keyHead = b.createOrFold<arith::DivUIOp>(head, t.group);
        Value queries = decodeQueries(batch, head, first);
        // The first query sees the first key, the last one the last.
        Value keys = b.countedTokens(p.lengths, batch, t.k.tokens);
        Value last = b.add(first, b.sub(rows, b.index(1)));
        Value firstTile = b.createOrFold<arith::DivUIOp>(firstKey(first, keys),
                                                         b.index(kTileKeys));
        Value endTile = b.ceilDiv(endOfKeys(last, keys), kTileKeys);
        Values state =
            b.loop(firstTile, endTile, initialState(),
                   [&](Value tile, ArrayRef<Value> state) {
                     auto run = [&] {
                       return runTile(batch, head, keyHead, first, rows, keys,
                                      queries, tile, state);
                     };
                     if (!p.blocks)
                       return run();
                     return b.branch(isBlockSeen(batch, head, first, tile), run,
                                     [&] { return Values(state); });
                   });

        OpFoldResult one = b.getIndexAttr(1);
        OpFoldResult count = getAsOpFoldResult(rows);
        SmallVector<OpFoldResult> sizes(4, one);
        sizes[getTokensDim(p.layout)] = count;
        sizes[kChannelDim] = b.getIndexAttr(t.valueDim);
        SmallVector<LoopBuilder::Slice> slices{
            b.slice(out[0], TokenIndex{batch, head, first, zero}.in(p.layout),
                    sizes, /*keptDims=*/2)};
        Values written{slices[0].tensor};
        if (p.wantsLse) {
          slices.push_back(b.slice(out[1], {batch, head, first},
                                   {one, one, count}, /*keptDims=*/1));
          written.push_back(slices[1].tensor);
        }
        written =
            b.loop(zero, rows, written, [&](Value row, ArrayRef<Value> old) {
              Values next{writeRow(batch, keyHead, row, state, old[0])};
              if (p.wantsLse)
                next.push_back(b.insert(
                    emitLse(b, p, b.extract(state[BlockState::Maxima], {row}),
                            b.extract(state[BlockState::Denominators], {row})),
                    old[1], {row}));
              return next;
            });
        for (auto [slice, tensor] : llvm::zip_equal(slices, written))
          slice.tensor = tensor;
        return slices;
      });
}

static LogicalResult checkProblem(const AttentionOperands &p) {
  if (failed(checkStaticDim(p.op, p.query, "query")) ||
      failed(checkStaticDim(p.op, p.key, "key")) ||
      failed(checkStaticDim(p.op, p.value, "value")))
    return failure();
  int64_t dim = cast<ShapedType>(p.query.getType()).getDimSize(kChannelDim);
  if (p.hasIntegerScores() && dim > kMaxIntegerDim)
    return p.op->emitOpError("cannot be lowered to loops: integer scores are "
                             "exact up to head dimension ")
           << kMaxIntegerDim << ", got " << dim;
  return success();
}

static Type elementOf(Value tensor) {
  return cast<ShapedType>(tensor.getType()).getElementType();
}

Lowered vcattn::lowerAttention(LoopBuilder &b, AttentionOp op) {
  AttentionOperands p{op,
                      op.getQuery(),
                      op.getKey(),
                      op.getValue(),
                      /*queryScale=*/Value(),
                      /*keyScale=*/Value(),
                      /*valueScale=*/Value(),
                      op.getMask(),
                      op.getMeans(),
                      op.getLengths(),
                      op.getBlockMask(),
                      op.getScale().convertToDouble(),
                      op.getCausal(),
                      op.getWindowAttr(),
                      op.getLayout(),
                      /*cast=*/std::nullopt,
                      elementOf(op.getResult()),
                      static_cast<bool>(op.getLse())};
  if (failed(checkProblem(p)))
    return failure();
  return AttentionLowering(b, p).lower();
}

Lowered vcattn::lowerQuantizedAttention(LoopBuilder &b,
                                        QuantizedAttentionOp op) {
  AttentionOperands p{op,
                      op.getQuery(),
                      op.getKey(),
                      op.getValue(),
                      op.getQueryScale(),
                      op.getKeyScale(),
                      op.getValueScale(),
                      op.getMask(),
                      op.getMeans(),
                      op.getLengths(),
                      op.getBlockMask(),
                      op.getScale().convertToDouble(),
                      op.getCausal(),
                      op.getWindowAttr(),
                      op.getLayout(),
                      op.getCast(),
                      elementOf(op.getResult()),
                      static_cast<bool>(op.getLse())};
  if (failed(checkProblem(p)))
    return failure();
  return AttentionLowering(b, p).lower();
}
