// A layout is a function from coordinates to indices.

// Row i and column j of a matrix of 4 rows of 8, row-major: 8 i + j.
func.func @row_major(%i: i32, %j: i32) -> i32 {
  %layout = cute.static "(4,8):(8,1)"
  %index = cute.layout_eval (%i, %j), %layout
  %x = cute.get_scalars %index
  return %x : i32
}

// The same for a matrix whose size and pitch are unknown at compile time.
func.func @any_matrix(%m: i32, %n: i32, %pitch: i64, %i: i32, %j: i32) -> i64 {
  %layout = cute.make_layout((%m, %n), (%pitch, 1))
  %index = cute.layout_eval (%i, %j), %layout
  %x = cute.get_scalars %index
  return %x : i64
}

// Element i of tile t, where a tile has 2 rows and 4 columns: the layout, divided by the tile.
func.func @tile(%i: i32, %t: i32) -> i32 {
  %layout = cute.static "(4,8):(8,1)"
  %tiles = cute.zipped_divide %layout, (2, 4)
  %index = cute.layout_eval (%i, %t), %tiles
  %x = cute.get_scalars %index
  return %x : i32
}
