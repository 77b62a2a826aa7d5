// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @no_multiple() {
  // expected-error @+1 {{'constant' op expects a multiple of 8, but got 12}}
  %a = constant 12 : !cute.i32<divby 8>
  return
}

// -----

func.func @too_wide() {
  // expected-error @+1 {{'constant' op expects a number of 8 bits, but got 128}}
  %a = constant 128 : !cute.i8<divby 4>
  return
}

// -----

func.func @another_number() {
  // expected-error @+1 {{'cute.constant' op expects the number in its type, 4, but got 5}}
  %a = cute.constant 5 : !cute.int_tuple<"4">
  return
}

// -----

func.func @several_numbers() {
  // expected-error @+1 {{'constant' op expects an integer type such as !cute.int or !cute.i32<divby 8>}}
  %a = constant 5 : !cute.shape<"(?,?)">
  return
}

// -----

func.func @no_number() {
  // expected-error @+1 {{'constant' op expects an integer type such as !cute.int or !cute.i32<divby 8>}}
  %a = constant 5 : !cute.layout<"4:1">
  return
}

// -----

func.func @no_type() {
  // expected-error @+1 {{'cute.constant' op expects a number and its type: constant 16384 : !cute.int}}
  %a = cute.constant 5
  return
}

// -----

func.func @generic_no_multiple() {
  // expected-error @+1 {{'cute.constant' op expects a multiple of 8, but got 12}}
  %a = "cute.constant"() <{number = 12 : i32}> : () -> !cute.i32<divby 8>
  return
}

// -----

func.func @generic_other_width() {
  // expected-error @+1 {{'cute.constant' op expects a number as wide as its result, 64 bits, but got 32}}
  %a = "cute.constant"() <{number = 12 : i32}> : () -> !cute.i64<divby 4>
  return
}

// -----

func.func @generic_known() {
  // expected-error @+1 {{'cute.constant' op expects a type with a single dynamic leaf such as !cute.int_tuple<"?">}}
  %a = "cute.constant"() <{number = 12 : i32}> : () -> !cute.int_tuple<"12">
  return
}

// -----

func.func @generic_layout() {
  // expected-error @+1 {{result #0 must be one number}}
  %a = "cute.constant"() <{number = 12 : i32}> : () -> !cute.layout<"?:1">
  return
}
