/* TMA instructions as inline PTX (PTX ISA 8.5, 9.7.9.26). */
#include <ctype.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/atoms/tma.h"
#include "lib/base/buffer.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/arch.h"

enum { RUNS = 8 }; /* maximum instructions in one asm statement */

/* Operands of an asm statement under construction; the next one is `$n`. */
typedef struct assembly {
    const cute_builder *b;
    cute_buffer text, constraints;
    MlirValue operands[16 + RUNS * (1 + CUTE_TMA_COORDINATES)];
    intptr_t count;
} assembly;

static int put_operand(assembly *a, MlirValue value, char constraint)
{
    for (intptr_t i = 0; i < a->count; i++)
        if (mlirValueEqual(a->operands[i], value)) return (int)i;
    cute_buffer_printf(&a->constraints, "%s%c", a->count ? "," : "", constraint);
    a->operands[a->count] = value;
    return (int)a->count++;
}

/* The address of a pointer: 32 bits in shared memory, 64 otherwise. */
static MlirValue build_address(const assembly *a, MlirValue pointer, int bits)
{
    return cute_unary(a->b, "llvm.ptrtoint", pointer, mlirIntegerTypeGet(a->b->context, (unsigned)bits));
}

static void put_map(assembly *a, const cute_tma_copy *copy, const cute_tma_run *run, int map)
{
    cute_buffer_printf(&a->text, "[$%d, {", map);
    for (int i = 0; i < copy->rank; i++)
        cute_buffer_printf(&a->text, "%s$%d", i ? ", " : "", put_operand(a, run->coordinates[i], 'r'));
    cute_buffer_puts(&a->text, "}]");
}

/* Filter offsets of an im2col load. */
static void put_offsets(assembly *a, const cute_tma_copy *copy, const cute_tma_run *run)
{
    if (!copy->offsets) return;
    cute_buffer_puts(&a->text, ", {");
    for (int i = 0; i < copy->offsets; i++)
        cute_buffer_printf(&a->text, "%s$%d", i ? ", " : "",
                           put_operand(a, run->coordinates[copy->rank + i], 'h'));
    cute_buffer_puts(&a->text, "}");
}

static void put_load(assembly *a, const cute_tma_copy *copy, const cute_tma_run *run, int map, int barrier)
{
    bool mask = !mlirValueIsNull(copy->mask), policy = !mlirValueIsNull(copy->policy);
    int to = put_operand(a, run->shared, 'r');
    cute_buffer_printf(
        &a->text,
        "cp.async.bulk.tensor.%dd.shared::cluster.global%s.mbarrier::complete_tx::bytes%s%s [$%d], ",
        copy->rank, copy->im2col ? ".im2col" : "", mask ? ".multicast::cluster" : "",
        policy ? ".L2::cache_hint" : "", to);
    put_map(a, copy, run, map);
    cute_buffer_printf(&a->text, ", [$%d]", barrier);
    put_offsets(a, copy, run);
    if (mask) cute_buffer_printf(&a->text, ", $%d", put_operand(a, copy->mask, 'h'));
    if (policy) cute_buffer_printf(&a->text, ", $%d", put_operand(a, copy->policy, 'l'));
    cute_buffer_puts(&a->text, ";\n");
}

static void put_store(assembly *a, const cute_tma_copy *copy, const cute_tma_run *run, int map)
{
    bool policy = !mlirValueIsNull(copy->policy);
    cute_buffer_printf(&a->text, "cp%s.async.bulk.tensor.%dd.global.shared::cta",
                       copy->reduce ? ".reduce" : "", copy->rank);
    if (copy->reduce) cute_buffer_putc(&a->text, '.');
    for (const char *c = copy->reduce; c && *c; c++)
        cute_buffer_putc(&a->text, (char)tolower((unsigned char)*c));
    cute_buffer_printf(&a->text, "%s.bulk_group%s ", copy->im2col ? ".im2col_no_offs" : "",
                       policy ? ".L2::cache_hint" : "");
    put_map(a, copy, run, map);
    cute_buffer_printf(&a->text, ", [$%d]", put_operand(a, run->shared, 'r'));
    if (policy) cute_buffer_printf(&a->text, ", $%d", put_operand(a, copy->policy, 'l'));
    cute_buffer_puts(&a->text, ";\n");
}

static void put_prefetch(assembly *a, const cute_tma_copy *copy, const cute_tma_run *run, int map)
{
    bool policy = !mlirValueIsNull(copy->policy);
    cute_buffer_printf(&a->text, "cp.async.bulk.prefetch.tensor.%dd.L2.global%s%s ", copy->rank,
                       copy->im2col ? ".im2col" : "", policy ? ".L2::cache_hint" : "");
    put_map(a, copy, run, map);
    put_offsets(a, copy, run);
    if (policy) cute_buffer_printf(&a->text, ", $%d", put_operand(a, copy->policy, 'l'));
    cute_buffer_puts(&a->text, ";\n");
}

/* Elects a lane of the warp if the predicate (null: none) is true. */
static void begin_elected(assembly *a, MlirValue predicate)
{
    cute_buffer_puts(&a->text, "{\n.reg .pred elected;\nelect.sync _|elected, 0xffffffff;\n");
    if (!mlirValueIsNull(predicate))
        cute_buffer_printf(&a->text, "and.pred elected, elected, $%d;\n", put_operand(a, predicate, 'b'));
}

static void end_elected(assembly *a)
{
    cute_buffer_puts(&a->text, "}");
    cute_buffer_puts(&a->constraints, ",~{memory}");
    cute_assembly(a->b, true, cute_buffer_text(&a->text), cute_buffer_text(&a->constraints),
                  (cute_operands){a->operands, a->count}, (MlirType){NULL});
    cute_buffer_release(&a->text);
    cute_buffer_release(&a->constraints);
}

/* Emits `count` instructions, run by an elected lane. */
static void put_runs(const cute_builder *b, const cute_tma_copy *copy, const cute_tma_run *runs, int count)
{
    assembly a = {.b = b};
    int map = put_operand(&a, copy->map, 'l'), barrier = -1;
    if (copy->way == CUTE_TMA_WAY_LOAD) barrier = put_operand(&a, copy->barrier, 'r');
    begin_elected(&a, copy->predicate);
    for (int i = 0; i < count; i++) {
        cute_buffer_puts(&a.text, "@elected ");
        if (copy->way == CUTE_TMA_WAY_LOAD) put_load(&a, copy, &runs[i], map, barrier);
        if (copy->way == CUTE_TMA_WAY_STORE) put_store(&a, copy, &runs[i], map);
        if (copy->way == CUTE_TMA_WAY_PREFETCH) put_prefetch(&a, copy, &runs[i], map);
    }
    end_elected(&a);
}

void cute_arch_tma(const cute_builder *b, const cute_tma_copy *copy, cute_tma_run *runs, int64_t count)
{
    cute_tma_copy c = *copy;
    assembly a = {.b = b};
    c.map = build_address(&a, copy->map, 64);
    if (c.way == CUTE_TMA_WAY_LOAD) c.barrier = build_address(&a, copy->barrier, 32);
    for (int64_t i = 0; i < count && c.way != CUTE_TMA_WAY_PREFETCH; i++)
        runs[i].shared = build_address(&a, runs[i].shared, 32);
    for (int64_t at = 0; at < count; at += RUNS)
        put_runs(b, &c, runs + at, (int)(count - at < RUNS ? count - at : RUNS));
}

/* ---- bulk copies ---- */

static void put_bulk(assembly *a, const cute_tma_copy *copy, const cute_bulk *bulk, const cute_bulk_run *run)
{
    bool global = bulk->to == CUTE_SPACE_GMEM, mask = !mlirValueIsNull(copy->mask),
         policy = !mlirValueIsNull(copy->policy);
    int to = put_operand(a, run->to, global ? 'l' : 'r'),
        from = put_operand(a, run->from, bulk->from == CUTE_SPACE_GMEM ? 'l' : 'r');
    cute_buffer_printf(&a->text, "cp%s.async.bulk.%s.%s.%s%s%s", bulk->reduce ? ".reduce" : "",
                       global ? "global" : "shared::cluster",
                       bulk->from == CUTE_SPACE_GMEM ? "global" : "shared::cta",
                       global ? "bulk_group" : "mbarrier::complete_tx::bytes",
                       mask ? ".multicast::cluster" : "", policy ? ".L2::cache_hint" : "");
    if (bulk->reduce) cute_buffer_printf(&a->text, ".%s.%s", bulk->reduce, bulk->type);
    cute_buffer_printf(&a->text, " [$%d], [$%d], %lld", to, from, (long long)run->bytes);
    if (!global) cute_buffer_printf(&a->text, ", [$%d]", put_operand(a, copy->barrier, 'r'));
    if (mask) cute_buffer_printf(&a->text, ", $%d", put_operand(a, copy->mask, 'h'));
    if (policy) cute_buffer_printf(&a->text, ", $%d", put_operand(a, copy->policy, 'l'));
    cute_buffer_puts(&a->text, ";\n");
}

void cute_arch_bulk(const cute_builder *b, const cute_tma_copy *copy, const cute_bulk *bulk,
                    cute_bulk_run *runs, int64_t count)
{
    cute_tma_copy c = *copy;
    for (int64_t at = 0; at < count; at += RUNS) {
        assembly a = {.b = b};
        if (!at && bulk->to != CUTE_SPACE_GMEM) c.barrier = build_address(&a, copy->barrier, 32);
        begin_elected(&a, c.predicate);
        for (int64_t i = at; i < count && i < at + RUNS; i++) {
            runs[i].to = build_address(&a, runs[i].to, bulk->to == CUTE_SPACE_GMEM ? 64 : 32);
            runs[i].from = build_address(&a, runs[i].from, bulk->from == CUTE_SPACE_GMEM ? 64 : 32);
            cute_buffer_puts(&a.text, "@elected ");
            put_bulk(&a, &c, bulk, &runs[i]);
        }
        end_elected(&a);
    }
}

void cute_arch_prefetch_map(const cute_builder *b, MlirValue map)
{
    cute_assembly(b, true, "prefetch.tensormap [$0];", "l", CUTE_OPERANDS(map), (MlirType){NULL});
}

void cute_arch_update_map(const cute_builder *b, const cute_map_update *u)
{
    static const char replace[] = "@elected tensormap.replace.tile.%s.shared::cta.b1024.%s [$%d], ";
    assembly a = {.b = b};
    int map = put_operand(&a, u->map, 'r');
    begin_elected(&a, (MlirValue){NULL});
    cute_buffer_printf(&a.text, replace, "global_address", "b64", map);
    cute_buffer_printf(&a.text, "$%d;\n", put_operand(&a, u->address, 'l'));
    for (int i = 0; i < u->rank; i++) {
        cute_buffer_printf(&a.text, replace, "global_dim", "b32", map);
        cute_buffer_printf(&a.text, "%d, $%d;\n", i, put_operand(&a, u->extents[i], 'r'));
        if (!i) continue;
        cute_buffer_printf(&a.text, replace, "global_stride", "b64", map);
        cute_buffer_printf(&a.text, "%d, $%d;\n", i - 1, put_operand(&a, u->strides[i], 'l'));
    }
    end_elected(&a);
}
