// RUN: vcattn-opt %s --vcattn-split-keys --canonicalize | FileCheck %s
// RUN: vcattn-opt %s --vcattn-split-keys=keys=2048 --canonicalize | FileCheck %s --check-prefix=SHORT
// RUN: vcattn-opt %s --vcattn-split-keys=keys=-1 --canonicalize | FileCheck %s --check-prefix=WHOLE

#target = #vcattn.target<"sm_90a">
#schedule = #vcattn.schedule<tile_q = 128, tile_k = 64, stages = 4, consumers = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, promotion = 16>

// WHOLE-NOT: vcattn.merge_attention

// 8 tiles of work for 132 multiprocessors: 13 shards of 8192 keys.
// CHECK-LABEL: func @few_queries(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<1x8x16x128xi8>, %[[QS:[^:]*]]: tensor<1x8x16xf32>, %[[K:[^:]*]]: tensor<1x8x100000x128xi8>
// CHECK-DAG: %[[OUT:.*]] = tensor.empty() : tensor<13x1x8x16x128xf32>
// CHECK-DAG: %[[LSE:.*]] = tensor.empty() : tensor<13x1x8x16xf32>
// CHECK: %[[P:.*]]:2 = vcattn.packed_attention ins(%[[Q]], %[[QS]], %[[K]],
// CHECK-SAME: outs(%[[OUT]], %[[LSE]] : tensor<13x1x8x16x128xf32>, tensor<13x1x8x16xf32>)
// CHECK-SAME: split_keys = 8192 : i64
// CHECK-SAME: test.note
// CHECK: %[[O:.*]] = vcattn.merge_attention %[[P]]#0, %[[P]]#1 : (tensor<13x1x8x16x128xf32>, tensor<13x1x8x16xf32>) -> tensor<1x8x16x128xbf16>
// CHECK: return %[[O]]
// SHORT-LABEL: func @few_queries(
// SHORT: split_keys = 2048 : i64{{.*}} tensor<49x1x8x16x128xf32>
func.func @few_queries(%q: tensor<1x8x16x128xi8>, %qs: tensor<1x8x16xf32>, %k: tensor<1x8x100000x128xi8>, %ks: tensor<1x8x782x4xf32>, %v: tensor<1x8x782x136x128xf8E4M3FN>, %vs: tensor<1x8x128xf32>, %m: tensor<1x8x49x16x2x8x8xf16>, %o: tensor<1x8x16x128xbf16>) -> (tensor<1x8x16x128xbf16>) {
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x16x128xi8>, tensor<1x8x16xf32>, tensor<1x8x100000x128xi8>, tensor<1x8x782x4xf32>, tensor<1x8x782x136x128xf8E4M3FN>, tensor<1x8x128xf32>, tensor<1x8x49x16x2x8x8xf16>)
      outs(%o : tensor<1x8x16x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule, test.note} -> tensor<1x8x16x128xbf16>
  return %0 : tensor<1x8x16x128xbf16>
}

// Enough work as it is, or too few keys for merging to pay.
// CHECK-LABEL: func @many_queries(
// CHECK-NOT: vcattn.merge_attention
// CHECK: return
// SHORT-LABEL: func @many_queries(
// SHORT: split_keys = 2048 : i64{{.*}} tensor<49x1x16x4096x128xf32>
func.func @many_queries(%q: tensor<1x16x4096x128xi8>, %qs: tensor<1x16x4096xf32>, %k: tensor<1x16x100000x128xi8>, %ks: tensor<1x16x782x4xf32>, %v: tensor<1x16x782x136x128xf8E4M3FN>, %vs: tensor<1x16x128xf32>, %m: tensor<1x16x49x16x2x8x8xf16>, %o: tensor<1x16x4096x128xbf16>) -> (tensor<1x16x4096x128xbf16>) {
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x16x4096x128xi8>, tensor<1x16x4096xf32>, tensor<1x16x100000x128xi8>, tensor<1x16x782x4xf32>, tensor<1x16x782x136x128xf8E4M3FN>, tensor<1x16x128xf32>, tensor<1x16x49x16x2x8x8xf16>)
      outs(%o : tensor<1x16x4096x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x16x4096x128xbf16>
  return %0 : tensor<1x16x4096x128xbf16>
}

// CHECK-LABEL: func @few_keys(
// CHECK-NOT: vcattn.merge_attention
// CHECK: return
// SHORT-LABEL: func @few_keys(
// SHORT-NOT: vcattn.merge_attention
// SHORT: return
func.func @few_keys(%q: tensor<1x4x1x128xi8>, %qs: tensor<1x4x1xf32>, %k: tensor<1x4x2048x128xi8>, %ks: tensor<1x4x16x4xf32>, %v: tensor<1x4x16x136x128xf8E4M3FN>, %vs: tensor<1x4x128xf32>, %m: tensor<1x4x1x16x2x8x8xf16>, %o: tensor<1x4x1x128xbf16>) -> (tensor<1x4x1x128xbf16>) {
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x4x1x128xi8>, tensor<1x4x1xf32>, tensor<1x4x2048x128xi8>, tensor<1x4x16x4xf32>, tensor<1x4x16x136x128xf8E4M3FN>, tensor<1x4x128xf32>, tensor<1x4x1x16x2x8x8xf16>)
      outs(%o : tensor<1x4x1x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x4x1x128xbf16>
  return %0 : tensor<1x4x1x128xbf16>
}

// The log-sum-exp, if it is asked for, is the merged one.
// CHECK-LABEL: func @lse_bthd(
// CHECK: vcattn.packed_attention {{.*}} outs({{.*}} : tensor<8x2x1x8x128xf32>, tensor<8x2x8x1xf32>)
// CHECK: %[[O:.*]], %[[L:.*]] = vcattn.merge_attention {{.*}} {layout = #vcattn.layout<bthd>} : (tensor<8x2x1x8x128xf32>, tensor<8x2x8x1xf32>) -> (tensor<2x1x8x128xbf16>, tensor<2x8x1xf32>)
// CHECK: return %[[O]], %[[L]]
func.func @lse_bthd(%q: tensor<2x1x8x128xi8>, %qs: tensor<2x8x1xf32>, %k: tensor<2x65536x2x128xi8>, %ks: tensor<2x2x512x4xf32>, %v: tensor<2x2x512x136x128xf8E4M3FN>, %vs: tensor<2x2x128xf32>, %m: tensor<2x2x32x16x2x8x8xf16>, %o: tensor<2x1x8x128xbf16>, %l: tensor<2x8x1xf32>) -> (tensor<2x1x8x128xbf16>, tensor<2x8x1xf32>) {
  %0:2 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<2x1x8x128xi8>, tensor<2x8x1xf32>, tensor<2x65536x2x128xi8>, tensor<2x2x512x4xf32>, tensor<2x2x512x136x128xf8E4M3FN>, tensor<2x2x128xf32>, tensor<2x2x32x16x2x8x8xf16>)
      outs(%o, %l : tensor<2x1x8x128xbf16>, tensor<2x8x1xf32>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule, layout = #vcattn.layout<bthd>} -> tensor<2x1x8x128xbf16>, tensor<2x8x1xf32>
  return %0#0, %0#1 : tensor<2x1x8x128xbf16>, tensor<2x8x1xf32>
}

// Shapes that say nothing split only where an option does.
// CHECK-LABEL: func @dynamic(
// CHECK-NOT: vcattn.merge_attention
// CHECK: return
// SHORT-LABEL: func @dynamic(
// SHORT-SAME: %[[Q:[^:]*]]: tensor<1x8x?x128xi8>, %{{[^:]*}}: tensor<1x8x?xf32>, %[[K:[^:]*]]: tensor<1x8x?x128xi8>
// SHORT-DAG: %[[KEYS:.*]] = tensor.dim %[[K]], %c2
// SHORT-DAG: %[[SHARDS:.*]] = arith.ceildivui %[[KEYS]], %c2048
// SHORT: vcattn.packed_attention {{.*}} tensor<?x1x8x?x128xf32>, tensor<?x1x8x?xf32>
// SHORT: vcattn.merge_attention
func.func @dynamic(%q: tensor<1x8x?x128xi8>, %qs: tensor<1x8x?xf32>, %k: tensor<1x8x?x128xi8>, %ks: tensor<1x8x?x4xf32>, %v: tensor<1x8x?x136x128xf8E4M3FN>, %vs: tensor<1x8x128xf32>, %m: tensor<1x8x?x16x2x8x8xf16>, %o: tensor<1x8x?x128xbf16>) -> (tensor<1x8x?x128xbf16>) {
  %0 = vcattn.packed_attention
      ins(%q, %qs, %k, %ks, %v, %vs, %m : tensor<1x8x?x128xi8>, tensor<1x8x?xf32>, tensor<1x8x?x128xi8>, tensor<1x8x?x4xf32>, tensor<1x8x?x136x128xf8E4M3FN>, tensor<1x8x128xf32>, tensor<1x8x?x16x2x8x8xf16>)
      outs(%o : tensor<1x8x?x128xbf16>)
      {cast = #vcattn.cast<expcast>, scale = 0.5 : f64, target = #target, schedule = #schedule} -> tensor<1x8x?x128xbf16>
  return %0 : tensor<1x8x?x128xbf16>
}
