// RUN: cute-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{shape and stride must be congruent}}
func.func @f(%a: !cute.layout<"(2,3):(1)">) { return }

// -----

// expected-error @+1 {{expected}}
func.func @f(%a: !cute.layout<"(2,3:(1,2)">) { return }

// -----

// expected-error @+1 {{expected string: !cute.layout takes its text in quotes, or a rank from 1 to 16}}
func.func @f(%a: !cute.layout<2, 3>) { return }

// -----

// expected-error @+1 {{rank}}
func.func @f(%a: !cute.shape<0>) { return }

// -----

// expected-error @+1 {{'_' is only allowed in coordinates and tiles}}
func.func @f(%a: !cute.shape<"(2,_)">) { return }
