/* Compiles the sources of an algorithm to one module: each with its defines, or taken from the cache, then
 * linked to a cubin, or joined as PTX without a toolkit and for the emulator. */
#include <stdlib.h>
#include <string.h>

#include "cute/link.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/cache.h"
#include "lib/cubin/metadata.h"
#include "lib/cubin/ptx/ptxjoin.h"
#include "lib/gemm/gemm.h"
#include "lib/toolkit/toolkit.h"

typedef struct unit {
    const char *name, *source;
    gemm_defines defines;
    char *ptx;
    size_t length;
} unit;

typedef struct build {
    cute_arena *arena;
    const char *name; /* of the module */
    const char *arch, *cache;
    const cute_gemm_compiler *compiler;
    unit units[4];
    size_t count;
    cute_diag *diag;
} build;

static unit *add_unit(build *b, const char *name, const char *source)
{
    unit *u = &b->units[b->count++];
    *u = (unit){.name = name, .source = source, .defines.arena = b->arena};
    return u;
}

static void define_pack(const gemm_algo *algo, gemm_defines *d)
{
    gemm_define(d, "PT=%s", cute_dtype_mlir(algo->first->in));
    gemm_define(d, "PZERO=%s", algo->first->in == CUTE_I8 ? "0" : "0.0");
}

void gemm_define_epilogue(const gemm_problem *p, cute_dtype sums, gemm_defines *d)
{
    bool integers = p->out == CUTE_I32, single = p->out == CUTE_F32;
    gemm_define(d, "EP=%s", cute_dtype_mlir(sums));
    gemm_define(d, "ED=%s", cute_dtype_mlir(p->out));
    gemm_define(d, "ES=%s", integers ? "f64" : "f32");
    gemm_define(d, "EFROM=%s", sums == CUTE_I32 ? "sitofp" : sums == CUTE_F32 ? "bitcast" : "extf");
    gemm_define(d, "EEXT=%s", integers ? "sitofp" : single ? "bitcast" : "extf");
    gemm_define(d, "ETO=%s", integers ? "fptosi" : single ? "bitcast" : "truncf");
    gemm_define(d, "ETOF32=%s", integers ? "truncf" : "bitcast");
    gemm_define(d, "EFROMF32=%s", integers ? "extf" : "bitcast");
    gemm_define(d, "EC=%d", p->given.beta != 0);
    gemm_define(d, "EBIAS=%d", p->given.bias);
    gemm_define(d, "ERELU=%d", p->given.activation == CUTE_GEMM_RELU);
    gemm_define(d, "EGELU=%d", p->given.activation == CUTE_GEMM_GELU);
}

/* The parts of a cache key beside source, architecture and options: compiler and linker code, toolkit,
 * environment. */
static void add_toolchain_key(const build *b, cute_buffer *key)
{
    cute_cache_key_code(key, (void (*)(void))b->compiler->to_ptx);
    cute_cache_key_code(key, (void (*)(void))cute_linker_create);
    cute_toolkit_key(b->arena, NULL, key);
    cute_cache_key_environment(key);
}

static void make_ptx_key(const build *b, const unit *u, cute_buffer *out)
{
    add_toolchain_key(b, out);
    cute_buffer_printf(out, "%s\n%s\n%s\n", cute_version(), b->compiler->version ? b->compiler->version : "",
                       b->arch);
    for (size_t i = 0; i < u->defines.count; i++) cute_buffer_printf(out, "-D %s\n", u->defines.items[i]);
    cute_buffer_puts(out, u->source);
}

static cute_status compile_unit(build *b, unit *u)
{
    cute_buffer key = {0}, found = {0};
    if (u->defines.failed) return cute_fail_memory(b->diag);
    make_ptx_key(b, u, &key);
    cute_status status = cute_buffer_ok(&key) ? CUTE_OK : cute_fail_memory(b->diag);
    if (status == CUTE_OK && cute_cache_get(b->cache, "gemm-ptx", key.data, key.length, &found) &&
        cute_buffer_ok(&found)) {
        u->ptx = found.data;
        u->length = found.length;
    } else if (status == CUTE_OK) {
        cute_buffer_release(&found);
        status =
            b->compiler->to_ptx(b->compiler->context, u->name, u->source, strlen(u->source), u->defines.items,
                                u->defines.count, b->arch, &u->ptx, &u->length, b->diag);
        if (status == CUTE_OK) cute_cache_put(b->cache, "gemm-ptx", key.data, key.length, u->ptx, u->length);
    }
    cute_buffer_release(&key);
    return status;
}

/* One PTX module, preceded by the metadata of all units. */
static cute_status join_units(build *b, cute_buffer *out)
{
    cute_ptx_part parts[4] = {0};
    cute_buffer lines = {0};
    for (size_t i = 0; i < b->count; i++) {
        parts[i] = (cute_ptx_part){b->units[i].name, b->units[i].ptx, b->units[i].length, false};
        cute_metadata_extract(b->units[i].ptx, b->units[i].length, &lines);
    }
    for (const char *at = cute_buffer_text(&lines); *at;) {
        size_t length = strcspn(at, "\n");
        if (b->count > 1) cute_buffer_printf(out, "//!cute %.*s\n", (int)length, at);
        at += length + (at[length] == '\n');
    }
    cute_buffer_release(&lines);
    CUTE_TRY(cute_ptx_join(b->arena, parts, b->count, out, b->diag));
    return cute_buffer_ok(out) ? CUTE_OK : cute_fail_memory(b->diag);
}

cute_status gemm_link(const char *name, const char *arch, const char *ptx, size_t size, cute_buffer *out,
                      cute_diag *diag)
{
    cute_linker *linker = NULL;
    size_t length = 0;
    CUTE_TRY(cute_linker_create(&linker, diag));
    cute_status status = cute_linker_set(linker, "arch", arch, diag);
    if (status == CUTE_OK) status = cute_linker_add(linker, name, ptx, size, diag);
    if (status == CUTE_OK) status = cute_linker_link(linker, diag);
    const void *bytes = status == CUTE_OK ? cute_linker_output(linker, &length) : NULL;
    if (bytes) cute_buffer_append(out, bytes, length);
    cute_linker_destroy(linker);
    return status;
}

/* Units are joined before ptxas, which ignores setmaxnreg in units that are linked later (separate
 * compilation). Cubins are cached, too: ptxas takes a tenth of a second or more. Without a toolkit the driver compiles the
 * PTX. */
static cute_status make_image(build *b, bool ptx, cute_buffer *out)
{
    cute_buffer joined = {0}, key = {0};
    cute_status status = join_units(b, &joined);
    if (status == CUTE_OK && !ptx) {
        cute_buffer_printf(&key, "%s\n%s\n", cute_version(), b->arch);
        add_toolchain_key(b, &key);
        cute_buffer_append(&key, joined.data, joined.length);
        if (!cute_cache_get(b->cache, "gemm-cubin", key.data, key.length, out)) {
            cute_diag *diag = b->diag, *own = cute_diag_create();
            status = own ? gemm_link(b->name, b->arch, cute_buffer_text(&joined), joined.length, out, own)
                         : cute_fail_memory(diag);
            bool missing = status == CUTE_SYSTEM && !out->length;
            for (size_t i = 0; own && !missing && i < cute_diag_count(own); i++)
                cute_diag_append(diag, cute_diag_get(own, i));
            cute_diag_destroy(own);
            if (status == CUTE_OK)
                cute_cache_put(b->cache, "gemm-cubin", key.data, key.length, out->data, out->length);
            if (missing) {
                ptx = true;
                status = CUTE_OK;
            }
        }
    }
    if (status == CUTE_OK && ptx) cute_buffer_append(out, joined.data, joined.length);
    cute_buffer_release(&joined);
    cute_buffer_release(&key);
    return status;
}

/* Compiles all units of a build, opens their module, and releases the build. */
static cute_status finish_build(build *b, bool ptx, cute_module **out)
{
    cute_buffer image = {0};
    cute_status status = CUTE_OK;
    for (size_t i = 0; i < b->count && status == CUTE_OK; i++) status = compile_unit(b, &b->units[i]);
    if (status == CUTE_OK) status = make_image(b, ptx, &image);
    if (status == CUTE_OK)
        status = cute_module_open(b->name, cute_buffer_text(&image), image.length, NULL, out, b->diag);
    for (size_t i = 0; i < b->count; i++) free(b->units[i].ptx);
    cute_buffer_release(&image);
    cute_arena_destroy(b->arena);
    return status;
}

cute_status gemm_compile(const gemm_algo *algo, const char *arch, bool ptx,
                         const cute_gemm_compiler *compiler, const char *cache, cute_module **out,
                         cute_diag *diag)
{
    build b = {.name = algo->name, .arch = arch, .cache = cache, .compiler = compiler, .diag = diag};
    const gemm_kernel *kernel = algo->config->kernel;
    if (!(b.arena = cute_arena_create())) return cute_fail_memory(diag);
    kernel->define(algo, &add_unit(&b, kernel->name, kernel->source)->defines);
    if (algo->pack_a || algo->pack_b)
        define_pack(algo, &add_unit(&b, "gemm_pack", gemm_source_pack())->defines);
    if (algo->epilogue)
        gemm_define_epilogue(algo->first, algo->first->sum,
                             &add_unit(&b, "gemm_epilogue", gemm_source_epilogue())->defines);
    return finish_build(&b, ptx, out);
}

cute_status gemm_compile_source(const char *name, const char *source, const gemm_defines *defines,
                                const char *arch, bool ptx, const cute_gemm_compiler *compiler,
                                const char *cache, cute_module **out, cute_diag *diag)
{
    build b = {.name = name, .arch = arch, .cache = cache, .compiler = compiler, .diag = diag};
    if (!(b.arena = cute_arena_create())) return cute_fail_memory(diag);
    add_unit(&b, name, source)->defines = *defines;
    return finish_build(&b, ptx, out);
}
