// RUN: cute-opt %s -cute-layout-analysis 2>%t.table | FileCheck %s
// RUN: FileCheck %s --check-prefix=TABLE --input-file=%t.table
// RUN: cute-opt %s -cute-layout-analysis=print=false 2>&1 | FileCheck %s --check-prefix=QUIET

// QUIET-NOT: place
// TABLE:      place {{ *}}layout {{ *}}size {{ *}}cosize {{ *}}vector {{ *}}injective {{ *}}contiguous {{ *}}order
// CHECK-LABEL: func.func @analysed
func.func @analysed(%s: !cute.shape<"(?,4)">, %d: !cute.stride<"(4,1)">) {
  // cosize 3*8 + 7*1 + 1 = 32 of 32 indices; coordinates 0, 1 have indices 0, 8.
  // CHECK: cute.static {cosize = 32 : i64, is_column_major = false, is_contiguous = true, is_injective = true, is_row_major = true, size = 32 : i64, vector = 1 : i64} : !cute.layout<"(4,8):(8,1)">
  // TABLE-NEXT: [[#@LINE+1]]:8 {{ *}}(4,8):(8,1) {{ *}}32 {{ *}}32 {{ *}}1 {{ *}}yes {{ *}}yes {{ *}}row
  %0 = cute.static : !cute.layout<"(4,8):(8,1)">
  // 4 neighbours, then a gap of 12.
  // CHECK: cute.static {cosize = 116 : i64, is_column_major = false, is_contiguous = false, is_injective = true, is_row_major = false, size = 32 : i64, vector = 4 : i64} : !cute.layout<"(4,8):(1,16)">
  // TABLE-NEXT: (4,8):(1,16) {{ *}}32 {{ *}}116 {{ *}}4 {{ *}}yes {{ *}}no {{ *}}other
  %1 = cute.static : !cute.layout<"(4,8):(1,16)">
  // (0,1) and (2,0) have index 2.
  // CHECK: cute.static {cosize = 6 : i64, is_column_major = false, is_contiguous = false, is_injective = false, is_row_major = false, size = 8 : i64, vector = 4 : i64} : !cute.layout<"(4,2):(1,2)">
  // TABLE-NEXT: (4,2):(1,2) {{ *}}8 {{ *}}6 {{ *}}4 {{ *}}no {{ *}}no {{ *}}other
  %2 = cute.static : !cute.layout<"(4,2):(1,2)">
  // CHECK: cute.make_layout(%{{.*}}, %{{.*}}) {is_column_major = false, is_row_major = true}
  // TABLE-NEXT: (?,4):(4,1) {{ *}}? {{ *}}?
  %3 = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(4,1)">) -> !cute.layout<"(?,4):(4,1)">
  return
}
