"""All arith and math operations on every type, and the per-thread operations of gpu, vector and memref, as lines of MLIR,
each marked as accepted or rejected. sweep.py checks them."""
from itertools import product

FLOATS = ["f16", "bf16", "f32", "f64"]
F8 = ["f8E4M3FN", "f8E5M2"]
INTS = ["i1", "i8", "i16", "i32", "i64", "index"]
WIDTH = {"f8E4M3FN": 8, "f8E5M2": 8, "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "f128": 128,
         "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
SHAPES = ["", "2x", "2x2x"]

UNARY = """absf acos acosh asin asinh atan atanh cbrt ceil cos cosh erf exp exp2 expm1 floor log log10 log1p log2
           round roundeven rsqrt sin sinh sqrt tan tanh trunc""".split()
# By their conversions upstream, on every rank: cheap to compile.
PLAIN = "absf ceil copysign floor fma round roundeven sqrt trunc".split()
INTEGER = """addi andi ceildivsi ceildivui divsi divui floordivsi maxsi maxui minsi minui muli ori remsi remui shli
             shrsi shrui subi xori""".split()
REAL = "addf divf maxnumf maximumf minnumf minimumf mulf remf subf".split()
CMPI = "eq ne slt sle sgt sge ult ule ugt uge".split()
CMPF = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()


class Case:
    """One operation: its operands' types, its results' types, and the line with {0} {1} {2} for operands."""

    def __init__(self, name, operands, results, line):
        self.name, self.operands, self.results, self.line = name, operands, results, line


def of(shape, element):
    return f"vector<{shape}{element}>" if shape else element


def binary(name, t, attribute="", result=None):
    sep = f" {attribute}," if attribute else ""
    return Case(name, [t, t], [result or t], f"{name}{sep} {{0}}, {{1}} : {t}")


def unary(name, t, to=None):
    return Case(name, [t], [to or t], f"{name} {{0}} : {t}" + (f" to {to}" if to else ""))


def floats(shape, e):
    t = of(shape, e)
    for u in UNARY:
        yield unary("math." + u, t)
    for u in ["atan2", "copysign", "powf"]:
        yield binary("math." + u, t)
    yield Case("math.fma", [t, t, t], [t], f"math.fma {{0}}, {{1}}, {{2}} : {t}")
    for i in ["i8", "i16", "i32"]:
        yield Case("math.fpowi", [t, of(shape, i)], [t], f"math.fpowi {{0}}, {{1}} : {t}, {of(shape, i)}")
    for u in REAL:
        yield binary("arith." + u, t)
    yield unary("arith.negf", t)
    for p in CMPF:
        yield binary("arith.cmpf", t, p, of(shape, "i1"))
    for i in [x for x in INTS if x != "index"]:
        for u in ["fptosi", "fptoui"]:
            yield unary("arith." + u, t, of(shape, i))
        for u in ["sitofp", "uitofp"]:
            yield unary("arith." + u, of(shape, i), t)
    for o in FLOATS + F8:
        if WIDTH[o] > WIDTH[e]:
            yield unary("arith.extf", t, of(shape, o))
        if WIDTH[o] < WIDTH[e] and not (o in F8 and e == "f64"):
            yield unary("arith.truncf", t, of(shape, o))
    yield unary("arith.bitcast", t, of(shape, f"i{WIDTH[e]}"))


def eights(shape, e):
    for o in FLOATS:
        yield unary("arith.extf", of(shape, e), of(shape, o))
    yield unary("arith.bitcast", of(shape, e), of(shape, "i8"))


def integers(shape, e):
    t, b = of(shape, e), of(shape, "i1")
    for u in INTEGER:
        yield binary("arith." + u, t)
    for p in CMPI:
        yield binary("arith.cmpi", t, p, b)
    yield Case("arith.addui_extended", [t, t], [t, b], f"arith.addui_extended {{0}}, {{1}} : {t}, {b}")
    if e == "index":
        return
    for u in ["mulsi_extended", "mului_extended"]:
        yield Case("arith." + u, [t, t], [t, t], f"arith.{u} {{0}}, {{1}} : {t}")
    for u in ["absi", "ctlz", "cttz", "ctpop"]:
        yield unary("math." + u, t)
    yield binary("math.ipowi", t)
    for u in ["index_cast", "index_castui"]:
        yield unary("arith." + u, t, of(shape, "index"))
        yield unary("arith." + u, of(shape, "index"), t)
    for o in [x for x in INTS if x != "index"]:
        if WIDTH[o] > WIDTH[e]:
            for u in ["extsi", "extui"]:
                yield unary("arith." + u, t, of(shape, o))
        if WIDTH[o] < WIDTH[e]:
            yield unary("arith.trunci", t, of(shape, o))


def any_type(shape, e):
    t = of(shape, e)
    yield Case("arith.select", ["i1", t, t], [t], f"arith.select {{0}}, {{1}}, {{2}} : {t}")
    if shape:
        yield Case("arith.select", [of(shape, "i1"), t, t], [t],
                   f"arith.select {{0}}, {{1}}, {{2}} : {of(shape, 'i1')}, {t}")
    if not shape and e not in F8:
        value = "true" if e == "i1" else "1" if e in INTS else "1.0"
        yield Case("arith.constant", [], [t], f"arith.constant {value}" + ("" if e == "i1" else f" : {t}"))


def costly(case, shape, element):
    """libdevice's f64 functions are long; once, as scalars, is enough."""
    plain = case.name.split(".")[1] in PLAIN
    library = case.name.startswith("math.") and not plain and element not in INTS
    return library and (element == "f64" and shape or element == "f16" and shape == "2x2x")


def elementwise():
    """(kernel's name, cases) for all that is accepted."""
    for shape in SHAPES:
        tag = shape.replace("x", "_")
        for e in FLOATS:
            cases = [c for c in floats(shape, e) if not costly(c, shape, e)]
            yield f"float_{tag}{e}", cases + list(any_type(shape, e))
        for e in F8:
            yield f"eight_{tag}{e}", list(eights(shape, e)) + list(any_type(shape, e))
        for e in INTS:
            yield f"integer_{tag}{e}", list(integers(shape, e)) + list(any_type(shape, e))


def refused():
    """(types, cases) that have to be refused at their own lines."""
    for e in ["f128", "f80", "tf32"]:
        yield [binary("arith.addf", e), unary("math.exp", e), binary("arith.cmpf", e, "oeq", "i1"),
               unary("arith.negf", of("4x", e)), unary("arith.truncf", e, "f16")]
    for e in F8:
        for shape in ["", "4x", "2x2x"]:
            t = of(shape, e)
            yield ([binary("arith." + u, t) for u in REAL] + [unary("math." + u, t) for u in UNARY] +
                   [binary("arith.cmpf", t, "oeq", of(shape, "i1")), unary("arith.negf", t),
                    unary("arith.fptosi", t, of(shape, "i32")), unary("arith.sitofp", of(shape, "i32"), t)])
    for e in ["f32", "bf16"]:
        t = f"vector<{e}>"
        yield [binary("arith.addf", t), unary("math.exp", t), unary("math.absf", t)]
    yield [binary("arith.addi", "vector<i32>"), binary("arith.addf", "vector<[4]xf32>")]


# ---- gpu, vector, memref ----

def kinds(element):
    if element in FLOATS:
        return "add mul minnumf maxnumf minimumf maximumf".split()
    return "add mul minsi maxsi minui maxui and or xor".split()


def gpu():
    for name in ["thread_id", "block_id", "block_dim", "grid_dim", "global_id", "cluster_id", "cluster_block_id",
                 "cluster_dim", "cluster_dim_blocks"]:
        for d in "xyz":
            yield Case("gpu." + name, [], ["index"], f"gpu.{name} {d}")
    yield Case("gpu.lane_id", [], ["index"], "gpu.lane_id")
    for name in ["subgroup_id", "subgroup_size", "num_subgroups"]:
        yield Case("gpu." + name, [], ["index"], f"gpu.{name} : index")
    for e, mode in product(["i32", "i64", "f32", "f64"], ["xor", "up", "down", "idx"]):
        yield Case("gpu.shuffle", [e, "i32", "i32"], [e, "i1"], f"gpu.shuffle {mode} {{0}}, {{1}}, {{2}} : {e}")
    for e in FLOATS + [x for x in INTS if x != "index"]:
        for k in kinds(e):
            yield Case("gpu.subgroup_reduce", [e], [e], f"gpu.subgroup_reduce {k} {{0}} : ({e}) -> {e}")
            yield Case("gpu.all_reduce", [e], [e], f"gpu.all_reduce {k} {{0}} {{{{}}}} : ({e}) -> {e}")
    v = "vector<2xf16>"
    yield Case("gpu.subgroup_reduce", [v], [v], f"gpu.subgroup_reduce add {{0}} : ({v}) -> {v}")
    yield Case("gpu.barrier", [], [], "gpu.barrier")
    yield Case("gpu.printf", ["i32"], [], 'gpu.printf "%d" {0} : i32')
    yield Case("gpu.dynamic_shared_memory", [], [],
               "gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>")


# Launches and allocations are the host's; matrices of warps have their own tests, func and its like are around
# each case.
GPU_ELSEWHERE = """alloc binary create_2to4_spmat create_bsr create_coo create_coo_aos create_csc create_csr
    create_dn_tensor dealloc destroy_dn_tensor destroy_sp_mat func host_register host_unregister launch launch_func
    memcpy memset module module_end return sddmm sddmm_buffer_size set_csr_pointers set_default_device spgemm_copy
    spgemm_create_descr spgemm_destroy_descr spgemm_work_estimation_or_compute spmat_get_size spmm spmm_buffer_size
    spmv spmv_buffer_size subgroup_mma_compute subgroup_mma_constant_matrix subgroup_mma_elementwise
    subgroup_mma_load_matrix subgroup_mma_store_matrix terminator wait yield""".split()


def vector():
    f, g, m = "vector<8xf32>", "vector<4x4xf32>", "vector<8xi1>"
    row, flat = "memref<?xf32>", "memref<64x64xf32>"

    def c(name, operands, results, rest):
        return Case("vector." + name, operands, results, f"vector.{name} {rest}")

    yield c("bitcast", [g], ["vector<4x8xf16>"], f"{{0}} : {g} to vector<4x8xf16>")
    yield c("broadcast", ["f32"], [g], f"{{0}} : f32 to {g}")
    yield c("compressstore", [row, "index", m, f], [], f"{{0}}[{{1}}], {{2}}, {{3}} : {row}, {m}, {f}")
    yield c("expandload", [row, "index", m, f], [f], f"{{0}}[{{1}}], {{2}}, {{3}} : {row}, {m}, {f} into {f}")
    yield c("constant_mask", [], [m], f"[3] : {m}")
    yield c("create_mask", ["index"], [m], f"{{0}} : {m}")
    maps = "affine_map<(i,j,k)->(i,k)>, affine_map<(i,j,k)->(k,j)>, affine_map<(i,j,k)->(i,j)>"
    for k in ["add", "maxnumf", "minimumf"]:
        yield c("contract", [g, g, g], [g], f"{{{{indexing_maps = [{maps}], iterator_types = "
                f"[\"parallel\",\"parallel\",\"reduction\"], kind = #vector.kind<{k}>}}}} {{0}}, {{1}}, {{2}} : "
                f"{g}, {g} into {g}")
    yield c("deinterleave", [f], ["vector<4xf32>", "vector<4xf32>"], f"{{0}} : {f} -> vector<4xf32>")
    yield c("interleave", [g, g], ["vector<4x8xf32>"], f"{{0}}, {{1}} : {g} -> vector<4x8xf32>")
    yield c("extractelement", [f, "index"], ["f32"], f"{{0}}[{{1}} : index] : {f}")
    yield c("insertelement", ["f32", f, "index"], [f], f"{{0}}, {{1}}[{{2}} : index] : {f}")
    yield c("extract", [g], ["vector<4xf32>"], f"{{0}}[1] : vector<4xf32> from {g}")
    yield c("extract", [g, "index"], ["f32"], f"{{0}}[{{1}}, 1] : f32 from {g}")
    yield c("insert", ["f32", g, "index"], [g], f"{{0}}, {{1}}[2, {{2}}] : f32 into {g}")
    yield c("extract_strided_slice", [g], ["vector<2x2xf32>"],
            f"{{0}} {{{{offsets=[1,1],sizes=[2,2],strides=[1,1]}}}} : {g} to vector<2x2xf32>")
    yield c("insert_strided_slice", ["vector<2x2xf32>", g], [g],
            f"{{0}}, {{1}} {{{{offsets=[1,1],strides=[1,1]}}}} : vector<2x2xf32> into {g}")
    yield c("fma", [g, g, g], [g], f"{{0}}, {{1}}, {{2}} : {g}")
    yield c("from_elements", ["f32", "f32"], ["vector<2x1xf32>"], "{0}, {1} : vector<2x1xf32>")
    i = "vector<8xi32>"
    yield c("gather", [row, "index", i, m, f], [f],
            f"{{0}}[{{1}}] [{{2}}], {{3}}, {{4}} : {row}, {i}, {m}, {f} into {f}")
    yield c("gather", [flat, "index", "vector<4x4xi32>", "vector<4x4xi1>", g], [g],
            f"{{0}}[{{1}}, {{1}}] [{{2}}], {{3}}, {{4}} : {flat}, vector<4x4xi32>, vector<4x4xi1>, {g} into {g}")
    yield c("scatter", [row, "index", i, m, f], [], f"{{0}}[{{1}}] [{{2}}], {{3}}, {{4}} : {row}, {i}, {m}, {f}")
    yield c("load", [flat, "index"], [f], f"{{0}}[{{1}}, {{1}}] : {flat}, {f}")
    yield c("store", [f, flat, "index"], [], f"{{0}}, {{1}}[{{2}}, {{2}}] : {flat}, {f}")
    yield c("mask", [m, f], ["f32"], f"{{0}} {{{{ vector.reduction <add>, {{1}} : {f} into f32 }}}} : {m} -> f32")
    yield c("mask", [m, row, "index", "f32"], [f],
            f"{{0}} {{{{ vector.transfer_read {{1}}[{{2}}], {{3}} : {row}, {f} }}}} : {m} -> {f}")
    yield c("maskedload", [row, "index", m, f], [f], f"{{0}}[{{1}}], {{2}}, {{3}} : {row}, {m}, {f} into {f}")
    yield c("maskedstore", [row, "index", m, f], [], f"{{0}}[{{1}}], {{2}}, {{3}} : {row}, {m}, {f}")
    for e in ["f32", "bf16", "i8", "i64"]:
        v, w, x = of("8x", e), of("4x4x", e), of("4x", e)
        for k in kinds(e):
            yield c("reduction", [v], [e], f"<{k}>, {{0}} : {v} into {e}")
            for d in [0, 1]:
                yield c("multi_reduction", [w, x], [x], f"<{k}>, {{0}}, {{1}} [{d}] : {w} to {x}")
    yield c("outerproduct", [f, f], ["vector<8x8xf32>"], f"{{0}}, {{1}} : {f}, {f}")
    yield c("scan", [g, "vector<4xf32>"], [g, "vector<4xf32>"],
            f"<add>, {{0}}, {{1}} {{{{inclusive = true, reduction_dim = 0 : i64}}}} : {g}, vector<4xf32>")
    yield c("shape_cast", [f], ["vector<2x2x2xf32>"], f"{{0}} : {f} to vector<2x2x2xf32>")
    yield c("shuffle", [f, f], ["vector<2xf32>"], f"{{0}}, {{1}} [0, 9] : {f}, {f}")
    yield c("splat", ["f32"], [g], f"{{0}} : {g}")
    yield c("step", [], ["vector<8xindex>"], ": vector<8xindex>")
    for attribute in ["", " {{permutation_map = affine_map<(a,b)->(b,a)>}}"]:
        yield c("transfer_read", [flat, "index", "f32"], [g], f"{{0}}[{{1}}, {{1}}], {{2}}{attribute} : {flat}, {g}")
        yield c("transfer_write", [g, flat, "index"], [], f"{{0}}, {{1}}[{{2}}, {{2}}]{attribute} : {g}, {flat}")
    yield c("transpose", [g], [g], f"{{0}}, [1, 0] : {g} to {g}")
    yield c("type_cast", [flat], [], f"{{0}} : {flat} to memref<vector<64x64xf32>>")


VECTOR_REFUSED = [
    Case("vector.flat_transpose", ["vector<8xf32>"], [],
         "vector.flat_transpose {0} {{rows = 2 : i32, columns = 4 : i32}} : vector<8xf32> -> vector<8xf32>"),
    Case("vector.matrix_multiply", ["vector<8xf32>"], [],
         "vector.matrix_multiply {0}, {0} {{lhs_rows = 2 : i32, lhs_columns = 4 : i32, rhs_columns = 2 : i32}} : "
         "(vector<8xf32>, vector<8xf32>) -> vector<4xf32>"),
    Case("vector.print", ["vector<8xf32>"], [], "vector.print {0} : vector<8xf32>"),
    Case("vector.vscale", [], ["index"], "vector.vscale"),
    Case("vector.warp_execute_on_lane_0", ["index"], [], "vector.warp_execute_on_lane_0({0})[32] {{ }}"),
    Case("vector.load", ["memref<64x64xf32>", "index"], [],
         "vector.load {0}[{1}, {1}] : memref<64x64xf32>, vector<2x4xf32>"),
    Case("memref.alloc", [], [], "memref.alloc() : memref<4xf32>"),
]
# Of scalable vectors, which PTX has not; the terminator; reshape has no lowering anywhere.
VECTOR_ELSEWHERE = "reshape scalable.extract scalable.insert yield".split()


# ---- modules ----

def kernel(name, cases):
    """A kernel with all `cases`, each result stored; (text, offset of the line of each case)."""
    operands, results = {}, []
    for c in cases:
        for i, t in enumerate(c.operands):
            operands[(t, i)] = f"%v{len(operands)}" if (t, i) not in operands else operands[(t, i)]
        for t in c.results:
            if t not in results:
                results.append(t)
    arguments, loads = [], []
    for (t, i), v in operands.items():
        if t.startswith("memref"):
            arguments.append(f"{v}: {t}")
        else:
            arguments.append(f"%p{v[1:]}: memref<?x{t}>")
            loads.append(f"{v} = memref.load %p{v[1:]}[%t] : memref<?x{t}>")
    stores = {t: f"%o{n}" for n, t in enumerate(results)}
    arguments += [f"{stores[t]}: memref<?x{t}>" for t in results]
    lines = [f"gpu.func @{name}({', '.join(arguments)}) kernel {{", "%t = gpu.thread_id x"] + loads
    places = []
    for n, c in enumerate(cases):
        given = [operands[(t, i)] for i, t in enumerate(c.operands)]
        names = [f"%r{n}_{k}" for k in range(len(c.results))]
        places.append(len(lines))
        lines.append((", ".join(names) + " = " if names else extra(c, n)) + c.line.format(*given))
        if names:
            lines.append(f"%c{n} = arith.constant {n} : index")
        lines += [f"memref.store {v}, {stores[t]}[%c{n}] : memref<?x{t}>" for v, t in zip(names, c.results)]
    return lines + ["gpu.return", "}"], places


def extra(case, n):
    """Results that cannot be stored still need a name."""
    silent = ["vector.print", "gpu.barrier", "gpu.printf", "vector.warp_execute_on_lane_0", "vector.store",
              "vector.transfer_write", "vector.maskedstore", "vector.compressstore", "vector.scatter"]
    return "" if case.name in silent else f"%u{n} = "
