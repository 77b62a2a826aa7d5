// RUN: cute-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{failed to parse int_tuple from "": expected a number, '?' or '('}}
func.func private @empty(!cute.int_tuple<"">)

// -----

// expected-error @+1 {{failed to parse shape from "four": expected a number, '?' or '('}}
func.func private @word(!cute.shape<"four">)

// -----

// expected-error @+1 {{failed to parse coord from "x": expected a number, '?', '_' or '('}}
func.func private @coord_word(!cute.coord<"x">)

// -----

// expected-error @+1 {{expected a number, '?' or '('}}
func.func private @minus(!cute.int_tuple<"-">)

// -----

// expected-error @+1 {{expected a number, '?' or '('}}
func.func private @two_commas(!cute.shape<"(1,,2)">)

// -----

// expected-error @+1 {{expected ',' or ')'}}
func.func private @open(!cute.int_tuple<"(1,(2,3)">)

// -----

// expected-error @+1 {{expected ',' or ')'}}
func.func private @separator(!cute.stride<"(1;2)">)

// -----

// expected-error @+1 {{failed to parse shape from "(1,2))": unexpected text after the value}}
func.func private @behind(!cute.shape<"(1,2))">)

// -----

// expected-error @+1 {{unexpected text after the value}}
func.func private @list(!cute.int_tuple<"1,2">)

// -----

// 2^63
// expected-error @+1 {{the number does not fit in 64 bits}}
func.func private @large(!cute.int_tuple<"9223372036854775808">)

// -----

// expected-error @+1 {{the number does not fit in 64 bits}}
func.func private @very_large(!cute.int_tuple<"(1,99999999999999999999)">)

// -----

// -2^63 - 1
// expected-error @+1 {{the number does not fit in 64 bits}}
func.func private @negative_large(!cute.int_tuple<"-9223372036854775809">)

// -----

// expected-error @+1 {{expected i1, i8, i16, i32, i64, div=N or '}' after '?{'}}
func.func private @width(!cute.int_tuple<"?{i12}">)

// -----

// expected-error @+1 {{expected i1, i8, i16, i32, i64, div=N or '}' after '?{'}}
func.func private @two_widths(!cute.int_tuple<"?{i32 i64}">)

// -----

// expected-error @+1 {{expected i1, i8, i16, i32, i64, div=N or '}' after '?{'}}
func.func private @open_braces(!cute.shape<"?{i64">)

// -----

// expected-error @+1 {{expected '=' after 'div'}}
func.func private @divisor_sign(!cute.shape<"?{div 8}">)

// -----

// expected-error @+1 {{expected a number after 'div='}}
func.func private @divisor_missing(!cute.shape<"?{div=}">)

// -----

// expected-error @+1 {{a divisor must be positive}}
func.func private @divisor_zero(!cute.shape<"?{i64 div=0}">)

// -----

// expected-error @+1 {{'_' is only allowed in coordinates and tiles}}
func.func private @underscore(!cute.int_tuple<"(1,_)">)

// -----

// expected-error @+1 {{'_' is only allowed in coordinates and tiles}}
func.func private @underscore_in_stride(!cute.stride<"_">)

// -----

// expected-error @+1 {{expected a number, '?' or '('}}
func.func private @underscore_in_layout(!cute.layout<"(2,_):(1,2)">)

// -----

// Only strides are scaled basis vectors.
// expected-error @+1 {{expected ',' or ')'}}
func.func private @basis_in_shape(!cute.shape<"(2@0,3)">)

// -----

// expected-error @+1 {{expected a mode number after '@'}}
func.func private @mode_missing(!cute.stride<"?@">)

// -----

// expected-error @+1 {{a basis mode must be from 0 to 255}}
func.func private @mode_negative(!cute.stride<"1@-1">)

// -----

// expected-error @+1 {{a basis mode must be from 0 to 255}}
func.func private @mode_large(!cute.stride<"(1@0,1@256)">)

// -----

// expected-error @+1 {{a basis vector has at most 64 indices}}
func.func private @basis_long(!cute.stride<"1@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0@0">)

// -----

// expected-error @+1 {{expects scaled-basis strides to have integer values, not ratios, but got "(1/2@0,1@1)"}}
func.func private @ratio(!cute.stride<"(1/2@0,1@1)">)

// -----

// expected-error @+1 {{expects scaled-basis strides to have integer values, not ratios, but got "(1@0,3/4@1)"}}
func.func private @ratio_in_layout(!cute.layout<"(2,3):(1@0,3/4@1)">)

// -----

// expected-error @+1 {{expects scaled-basis strides to have integer values, not ratios, but got "(1/2@0,1@1)"}}
func.func private @ratio_in_composed(!cute.composed_layout<"(2,3):(1/2@0,1@1) o 0 o 2:1">)

// -----

// expected-error @+1 {{a stride must be an integer}}
func.func private @fraction(!cute.stride<"1/2">)

// -----

// expected-error @+1 {{expected a number after '/'}}
func.func private @denominator(!cute.stride<"1/">)

// -----

// 0 may stand beside basis vectors, other numbers may not.
// expected-error @+1 {{expects strides to be either all-integer or all-scaled-basis (zero integers allowed when mixed), but got "((1,1@0),0)"}}
func.func private @mixed(!cute.stride<"((1,1@0),0)">)

// -----

// expected-error @+1 {{expects strides to be either all-integer or all-scaled-basis (zero integers allowed when mixed), but got "(?,1@0)"}}
func.func private @mixed_layout(!cute.layout<"(2,3):(?,1@0)">)

// -----

// Mode 0 is a number to one and a tuple to the other.
// expected-error @+1 {{expects scaled-basis paths to agree on mode-index depth (no path may terminate at a node that another path continues through), but got "(1@0,1@1@0)"}}
func.func private @mixed_depth(!cute.stride<"(1@0,1@1@0)">)

// -----

// expected-error @+1 {{shape and stride must be congruent, but shape (2,3) has 2 modes and stride (1) has 1 mode}}
func.func private @congruent(!cute.layout<"(2,3):(1)">)

// -----

// expected-error @+1 {{shape and stride must be congruent, but shape (2,3) has 2 modes and stride 1 is a scalar}}
func.func private @congruent_scalar(!cute.layout<"(2,3):1">)

// -----

// expected-error @+1 {{shape and stride must be congruent, but in mode [1,1] shape 4 is a scalar and stride (6,7) has 2 modes}}
func.func private @congruent_inside(!cute.layout<"(2,(3,4)):(1,(2,(6,7)))">)

// -----

// expected-error @+1 {{expected a number, '?' or '('}}
func.func private @stride_missing(!cute.layout<"4:">)

// -----

// expected-error @+1 {{expects positive shape mode, but got "(4,0):(1,4)": mode [1] has extent 0}}
func.func private @zero_extent(!cute.layout<"(4,0):(1,4)">)

// -----

// expected-error @+1 {{mode [0,1] has extent -3}}
func.func private @negative_extent(!cute.layout<"((2,-3),4):((1,2),6)">)

// -----

// expected-error @+1 {{failed to parse tile from "none": expected a layout, '_' or '['}}
func.func private @tile_word(!cute.tile<"none">)

// -----

// expected-error @+1 {{expected a layout, '_' or '['}}
func.func private @tile_empty_slot(!cute.tile<"[4:1;;_]">)

// -----

// expected-error @+1 {{expected ';' or ']'}}
func.func private @tile_open(!cute.tile<"[4:1;_">)

// -----

// expected-error @+1 {{expected ';' or ']'}}
func.func private @tile_comma(!cute.tile<"[4:1,8:1]">)

// -----

// expected-error @+1 {{expects positive shape mode, but got "(2,0):(1,2)": mode [1] has extent 0}}
func.func private @tile_extent(!cute.tile<"[4:1;(2,0):(1,2)]">)

// -----

// expected-error @+1 {{shape and stride must be congruent}}
func.func private @tile_congruent(!cute.tile<"[4:1;(2,2):1]">)

// -----

// expected-error @+1 {{expected S<bits,base,shift>}}
func.func private @swizzle_word(!cute.swizzle<"3,4,3">)

// -----

// expected-error @+1 {{expected a number in S<bits,base,shift>}}
func.func private @swizzle_empty(!cute.swizzle<"S<>">)

// -----

// expected-error @+1 {{expected ',' and another number: S<bits,base,shift>}}
func.func private @swizzle_short(!cute.swizzle<"S<3,4>">)

// -----

// expected-error @+1 {{expected '>'}}
func.func private @swizzle_open(!cute.swizzle<"S<3,4,3">)

// -----

// expected-error @+1 {{unexpected text after the value}}
func.func private @swizzle_behind(!cute.swizzle<"S<3,4,3> o 0">)

// -----

// The fields would overlap: 3 bits, 2 apart.
// expected-error @+1 {{S<bits,base,shift> needs |shift| >= bits and |shift| + bits + base <= 32}}
func.func private @swizzle_shift(!cute.swizzle<"S<3,4,2>">)

// -----

// 5 + 5 + 23 = 33
// expected-error @+1 {{S<bits,base,shift> needs |shift| >= bits and |shift| + bits + base <= 32}}
func.func private @swizzle_wide(!cute.swizzle<"S<5,23,5>">)

// -----

// expected-error @+1 {{S<bits,base,shift> needs |shift| >= bits}}
func.func private @swizzle_negative(!cute.swizzle<"S<-1,4,3>">)

// -----

// expected-error @+1 {{expected ' o ' between the parts of A o offset o B}}
func.func private @composed_o(!cute.composed_layout<"S<3,4,3>, 0, 8:1">)

// -----

// expected-error @+1 {{expected ' o ' between the parts of A o offset o B}}
func.func private @composed_two(!cute.composed_layout<"8:1 o 2">)

// -----

// expected-error @+1 {{'?' or '('}}
func.func private @composed_offset(!cute.composed_layout<"8:1 o _ o 4:1">)

// -----

// expected-error @+1 {{expects a non-trivial composed layout (with swizzle bits or non-zero offset); use `!cute.layout` for trivial wraps, but got "S<0,4,3> o 0 o 8:1"}}
func.func private @composed_trivial(!cute.composed_layout<"S<0,4,3> o 0 o 8:1">)

// -----

// expected-error @+1 {{expects positive shape mode, but got "(4,5):(1,4) o 2 o (0,3):(1,2)": mode [0] has extent 0}}
func.func private @composed_extent(!cute.composed_layout<"(4,5):(1,4) o 2 o (0,3):(1,2)">)

// -----

// expected-error @+1 {{mode [1] has extent 0}}
func.func private @composed_inner_extent(!cute.composed_layout<"(4,0):(1,4) o 2 o 3:1">)

// -----

// expected-error @+1 {{shape and stride must be congruent, but shape (8,8) has 2 modes and stride 8 is a scalar}}
func.func private @composed_congruent(!cute.composed_layout<"S<3,4,3> o 0 o (8,8):8">)

// -----

// expected-error @+1 {{expects strides to be either all-integer or all-scaled-basis}}
func.func private @composed_mixed(!cute.composed_layout<"8:1 o 2 o (2,3):(1,1@0)">)

// -----

// expected-error @+1 {{expects offset and `layout_eval(0, outer)` to be addable, but got 2 and (0,0)}}
func.func private @composed_addable(!cute.composed_layout<"(6,2):(1,3) o 2 o (2,3):(1@1,2@0)">)

// -----

// expected-error @+1 {{swizzle layout expects scalar `offset` and `outer` without scaled basis, but got 0 and (4,2):(1@0,1@1)}}
func.func private @composed_swizzled_tuple(!cute.composed_layout<"S<3,4,3> o 0 o (4,2):(1@0,1@1)">)

// -----

// expected-error @+1 {{to be scalar or weakly congruent to inner shape, but got sum (0,0) and inner shape (4,5,2)}}
func.func private @composed_profile(!cute.composed_layout<"(4,5,2):(1,4,20) o 0 o (2,3):(1@0,1@1)">)

// -----

// expected-error @+1 {{expected string: !cute.shape takes its text in quotes, or a rank from 1 to 16}}
func.func private @rank_zero(!cute.shape<0>)

// -----

// expected-error @+1 {{expected string: !cute.coord takes its text in quotes, or a rank from 1 to 16}}
func.func private @rank_large(!cute.coord<17>)

// -----

// expected-error @+1 {{expected string: !cute.layout takes its text in quotes, or a rank from 1 to 16}}
func.func private @two_ranks(!cute.layout<2, 3>)

// -----

// expected-error @+1 {{expected string: !cute.int_tuple takes its text in quotes, or a rank from 1 to 16}}
func.func private @no_text(!cute.int_tuple<>)

// -----

// expected-error @+1 {{expected string: !cute.tile takes its text in quotes, or two or more extents}}
func.func private @one_extent(!cute.tile<128>)

// -----

// expected-error @+1 {{the only mode has extent 0}}
func.func private @tile_zero(!cute.tile<128, 0>)

// -----

// expected-error @+1 {{expected string: !cute.swizzle takes its text in quotes}}
func.func private @swizzle_rank(!cute.swizzle<3>)

// -----

// expected-error @+1 {{expected string: !cute.composed_layout takes its text in quotes}}
func.func private @composed_rank(!cute.composed_layout<2>)

// -----

// expected-error @+1 {{shape and stride must be congruent, but shape (2,3) has 2 modes and stride (1) has 1 mode}}
func.func private @attribute() attributes {a = #cute.layout<"(2,3):(1)">}

// -----

// expected-error @+1 {{unknown  type `vector` in dialect `cute`}}
func.func private @no_type(!cute.vector<"4">)

// -----

// `x` is what the shape of a tile's `_` would be: a type may say so, no operation takes it.
func.func @no_extent(%a: !cute.shape<"(x,4)">) {
  // expected-error @+2 {{expects no error(`x`) in shape, but got '!cute.shape<"(x,4)">'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = cute.size(%a) : (!cute.shape<"(x,4)">) -> !cute.int_tuple<"4">
  return
}
