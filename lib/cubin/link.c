/* The steps of a link: units, architecture, ptxas for each PTX, nvlink if there are several objects (or one
 * ptxas for all, if setmaxnreg requires it), metadata, fatbin. */
#include "lib/cubin/link.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/clock.h"
#include "lib/base/system/process.h"
#include "lib/base/text/demangle.h"
#include "lib/cubin/metadata.h"
#include "lib/cubin/unit.h"
#include "lib/toolkit/native.h"
#include "lib/toolkit/scratch.h"
#include "lib/toolkit/toolkit.h"

enum { MAX_SIGNAL = 64 }; /* ptxas itself exits with 255 */

typedef struct linker {
    cute_arena *arena;
    const cute_link_options *options;
    cute_link_result *result;
    cute_diag *diag;
    cute_scratch scratch;
    cute_unit_list units;
    bool many; /* several architectures: file names include them */
    struct rename {
        const char *path, *label;
        struct rename *next;
    } *renames; /* paths in the programs' messages, and the user's names for them */
} linker;

static void add_stage_time(linker *l, const char *name, double start)
{
    cute_link_result *r = l->result;
    double seconds = cute_clock() - start;
    for (size_t i = 0; i < r->stage_count; i++)
        if (strcmp(r->stages[i].name, name) == 0) {
            r->stages[i].seconds += seconds;
            return;
        }
    if (r->stage_count < sizeof r->stages / sizeof *r->stages)
        r->stages[r->stage_count++] = (cute_link_stage){name, seconds};
}

/* ---- running programs ---- */

static cute_status remember_rename(linker *l, const char *path, const char *label)
{
    struct rename *r = cute_arena_alloc(l->arena, sizeof *r);
    if (!r) return cute_fail_memory(l->diag);
    *r = (struct rename){path, label, l->renames};
    l->renames = r;
    return CUTE_OK;
}

/* Replaces the scratch paths in a program's output by the user's names. */
static void rename_paths(const linker *l, cute_buffer *text)
{
    for (const struct rename *r = l->renames; r && text->length; r = r->next) {
        cute_buffer out = {0};
        const char *at = text->data, *stop = at + text->length, *found;
        size_t length = strlen(r->path);
        for (; (found = memmem(at, (size_t)(stop - at), r->path, length)) != NULL; at = found + length) {
            cute_buffer_append(&out, at, (size_t)(found - at));
            cute_buffer_puts(&out, r->label);
        }
        cute_buffer_append(&out, at, (size_t)(stop - at));
        cute_buffer_release(text);
        *text = out;
    }
}

/* Iterates over the words of all -Xptxas options. "-Xptxas a,b" and "a b" are two each; the comma in
 * "--maxntid=1,2" is a separator, too, as in nvcc. */
typedef struct ptxas_words {
    const cute_option_list *list;
    size_t next;
    const char *at, *word;
    size_t length;
} ptxas_words;

static bool next_word(ptxas_words *words)
{
    static const char between[] = ", \t\n";
    for (;;) {
        if (words->at) words->at += strspn(words->at, between);
        if (words->at && *words->at) break;
        if (words->next == words->list->count) return false;
        words->at = words->list->items[words->next++];
    }
    words->word = words->at;
    words->length = strcspn(words->at, between);
    words->at += words->length;
    return true;
}

static bool word_is(const ptxas_words *words, const char *text)
{
    return words->length == strlen(text) && memcmp(words->word, text, words->length) == 0;
}

/* Whether the word is ptxas's architecture option, "--gpu-name=sm_90" or "-arch sm_90"; it becomes its value,
 * empty if missing. */
static bool takes_arch(ptxas_words *words)
{
    static const char *const names[] = {"--gpu-name", "-gpu-name", "--arch", "-arch"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (words->length > length && words->word[length] == '=' && !memcmp(words->word, names[i], length)) {
            words->word += length + 1;
            words->length -= length + 1;
            return true;
        }
        if (!word_is(words, names[i])) continue;
        if (!next_word(words)) words->length = 0;
        return true;
    }
    return false;
}

/* -Xptxas=-v shows the output of -v, which is always passed to ptxas. */
static bool shows_all(const cute_link_options *options)
{
    bool all = options->verbose;
    for (ptxas_words words = {.list = &options->xptxas}; next_word(&words);)
        all = all || word_is(&words, "-v") || word_is(&words, "--verbose");
    return all;
}

/* Calls to __assertfail cause ptxas's warnings about slow code, which are expected in debugging builds. */
static bool has_assertions(const cute_unit *ptx)
{
    static const char name[] = "__assertfail";
    return ptx && memmem(ptx->bytes, ptx->length, name, sizeof name - 1);
}

/* Records for error reports: the program, its options, and its version, "release 12.9, V12.9.86". */
static void note_toolkit(linker *l, const char *const *words)
{
    const char *program = words[0];
    const char *argv[] = {program, "--version", NULL};
    cute_process process = {.argv = argv, .timeout = 5};
    cute_diag *silent = cute_diag_create();
    bool ok = silent && cute_process_run(&process, silent) == CUTE_OK && process.exit_code == 0;
    cute_buffer command = {0};
    cute_words shown = {.arena = l->arena}; /* without -o and its temporary file */
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], "-o") == 0 && words[i + 1])
            i++;
        else
            cute_words_add(&shown, words[i]);
    if (!shown.failed) cute_buffer_puts(&command, cute_process_text(l->arena, shown.items));
    rename_paths(l, &command);
    cute_diag_know(l->diag, CUTE_FACT_RUN, cute_buffer_text(&command));
    cute_buffer_release(&command);
    const char *release = ok ? strstr(cute_buffer_text(&process.out), "release ") : NULL;
    if (release) release += strlen("release ");
    cute_diag_know(l->diag, CUTE_FACT_TOOLKIT, program);
    cute_diag_know(l->diag, CUTE_FACT_TOOLKIT_VERSION,
                   release ? cute_arena_copy(l->arena, release, strcspn(release, "\n")) : NULL);
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    cute_diag_destroy(silent);
}

/* Runs a program (or only records its command) and reports its messages. `ptx` may be NULL. */
static cute_status run_tool(linker *l, const char *stage, cute_words *w, const cute_unit *ptx)
{
    const char *level = l->options->opt_level;
    if (w->failed) return cute_fail_memory(l->diag);
    cute_buffer_printf(&l->result->commands, "%s\n", cute_process_text(l->arena, w->items));
    if (l->options->dry_run) return CUTE_OK;
    double start = cute_clock();
    cute_process process = {.argv = w->items,
                            .timeout = (double)l->options->tool_timeout,
                            .inherited = l->scratch.descriptors,
                            .inherited_count = l->scratch.descriptor_count};
    cute_status status = cute_process_run(&process, l->diag);
    add_stage_time(l, stage, start);
    if (status == CUTE_OK) {
        size_t errors = cute_diag_errors(l->diag);
        cute_ptx_text text = {0};
        if (ptx) text = (cute_ptx_text){ptx->label, ptx->bytes, ptx->length};
        cute_buffer_append(&process.err, cute_buffer_text(&process.out), process.out.length);
        rename_paths(l, &process.err);
        cute_tool_output output = {.text = cute_buffer_text(&process.err),
                                   .length = process.err.length,
                                   .ptx = ptx ? &text : NULL,
                                   .werror = l->options->werror,
                                   .verbose = shows_all(l->options),
                                   .allow = l->options->allow,
                                   .allow_all = l->options->debug || (level && !strcmp(level, "0")) ||
                                                has_assertions(ptx),
                                   .quiet = l->options->quiet};
        status = cute_tool_messages(l->arena, &output, &l->result->usage, l->diag);
        bool explained = l->diag && cute_diag_errors(l->diag) > errors;
        if (process.exit_code > 128 && process.exit_code <= 128 + MAX_SIGNAL)
            status = cute_fail(l->diag, CUTE_SYSTEM, NULL, "%s was stopped by signal %d", stage,
                               process.exit_code - 128);
        else if (process.exit_code && !explained)
            status = cute_fail(l->diag, CUTE_INVALID, NULL, "%s failed with exit code %d and printed nothing",
                               stage, process.exit_code);
        else if (process.exit_code && status == CUTE_OK)
            status = CUTE_INVALID;
    }
    if (status != CUTE_OK && l->diag) note_toolkit(l, w->items);
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    return status;
}

static cute_status find_tool(linker *l, cute_part part, const char **path)
{
    return cute_toolkit_find(l->arena, part, l->options->cuda_path, path, l->diag);
}

/* ---- ptxas ---- */

static cute_status push_xptxas(linker *l, cute_words *w)
{
    for (ptxas_words words = {.list = &l->options->xptxas}; next_word(&words);) {
        if (takes_arch(&words)) continue; /* see read_archs */
        const char *word = cute_arena_copy(l->arena, words.word, words.length);
        if (!word) return cute_fail_memory(l->diag);
        cute_words_add(w, word);
    }
    return CUTE_OK;
}

/* A short file name for the unit: its label without folders and special characters. */
static const char *file_name(linker *l, const cute_unit *unit, size_t index, const char *arch,
                             const char *suffix)
{
    const char *slash = strrchr(unit->label, '/');
    const char *base = slash ? slash + 1 : unit->label;
    size_t length = strcspn(base, ".(<>");
    char *name = cute_arena_printf(l->arena, "%.*s%s%s%s", (int)(length < 64 ? length : 64), base,
                                   l->many ? "." : "", l->many ? arch : "", suffix);
    if (name && l->units.count > 1) name = cute_arena_printf(l->arena, "%zu.%s", index, name);
    for (char *at = name; at && *at; at++)
        if (*at == '/' || *at == ',' || *at == ' ') *at = '_';
    return name;
}

/* Reports an unsuitable -arch with a better message than ptxas. */
static cute_status check_target(linker *l, const cute_unit *unit, const cute_arch *arch)
{
    if (!unit->arch) return CUTE_OK;
    bool fits =
        unit->arch->variant == 'a' ? unit->arch == arch : cute_arch_compatible(unit->arch, false, arch);
    if (fits) return CUTE_OK;
    cute_place place = cute_place_at(unit->label, unit->bytes, unit->length, unit->target_offset);
    place.length = (int)strlen(unit->arch_name);
    cute_fail(l->diag, CUTE_INVALID, &place, "this PTX is for %s and cannot be compiled for %s",
              unit->arch_name, arch->name);
    if (unit->arch->variant == 'a')
        cute_note(l->diag, NULL,
                  "PTX for an architecture ending in 'a' runs on that architecture only; omit -arch, or "
                  "generate PTX for %s",
                  arch->name);
    else
        cute_note(l->diag, NULL, "PTX can be compiled for its own and later architectures");
    return CUTE_INVALID;
}

/* Warns even if the resource table is not requested. */
static cute_status warn_of_spills(linker *l, const cute_unit *unit, const cute_usage *usage)
{
    cute_ptx_text text = {unit->label, unit->bytes, unit->length};
    cute_status status = CUTE_OK;
    bool werror = l->options->werror, any = false;
    if (l->options->quiet && !werror) return CUTE_OK;
    for (; usage; usage = usage->next) {
        if (usage->spill_stores <= 0 && usage->spill_loads <= 0) continue;
        cute_status one = cute_report_function(
            l->arena, &text, usage->name, werror, l->diag,
            "'%s' spills registers to local memory: %lld bytes of stores, %lld bytes of loads",
            cute_symbol_name(l->arena, usage->name), (long long)usage->spill_stores,
            (long long)usage->spill_loads);
        if (status == CUTE_OK) status = one;
        any = true;
    }
    if (any && l->options->max_registers > 0)
        cute_note(l->diag, NULL,
                  "fix: raise the limit of %lld registers; 'cute-dump explain' on the cubin shows the lines "
                  "that spill",
                  (long long)l->options->max_registers);
    else if (any)
        cute_note(l->diag, NULL,
                  "fix: a smaller tile per thread or less unrolling; 'cute-dump explain' on the cubin shows "
                  "the lines "
                  "that spill");
    return status;
}

static cute_status run_ptxas(linker *l, const cute_unit *unit, size_t index, const cute_arch *arch,
                             bool relocatable, const char **path)
{
    const char *ptxas, *input;
    const cute_link_options *o = l->options;
    cute_words w = {.arena = l->arena};
    cute_diag_know(l->diag, CUTE_FACT_ARCHITECTURE, arch->name);
    CUTE_TRY(check_target(l, unit, arch));
    CUTE_TRY(find_tool(l, CUTE_PTXAS, &ptxas));
    CUTE_TRY(cute_scratch_file(&l->scratch, file_name(l, unit, index, arch->name, ".ptx"), unit->bytes,
                               unit->length, &input, l->diag));
    CUTE_TRY(cute_scratch_file(&l->scratch, file_name(l, unit, index, arch->name, ".cubin"), NULL, 0, path,
                               l->diag));
    CUTE_TRY(remember_rename(l, input, unit->label));
    CUTE_TRY(remember_rename(l, *path, unit->label));
    const char *limit = cute_arena_printf(l->arena, "%lld", (long long)o->max_registers);
    const char *level = cute_arena_printf(l->arena, "-O%s", o->opt_level ? o->opt_level : "3");
    if (!limit || !level) return cute_fail_memory(l->diag);
    cute_words_add(&w, ptxas);
    cute_words_add(&w, "-v");
    cute_words_add(&w, "-arch");
    cute_words_add(&w, arch->name);
    if (o->opt_level) cute_words_add(&w, level); /* one word: ptxas reads "-O 3" as a file '3' */
    if (o->max_registers) cute_words_add(&w, "-maxrregcount"), cute_words_add(&w, limit);
    if (o->line_info && !o->debug) cute_words_add(&w, "-lineinfo");
    if (o->debug) cute_words_add(&w, "-g");
    if (relocatable) cute_words_add(&w, "-c");
    CUTE_TRY(push_xptxas(l, &w));
    cute_words_add(&w, input);
    cute_words_add(&w, "-o");
    cute_words_add(&w, *path);
    cute_usage *before = l->result->usage.last;
    CUTE_TRY(run_tool(l, "ptxas", &w, unit));
    return warn_of_spills(l, unit, before ? before->next : l->result->usage.first);
}

/* ---- nvlink ---- */

typedef struct member {
    const cute_unit *unit;
    const char *path;
    cute_elf elf; /* without sections if nvlink opens the object itself */
    bool linked;
} member;

static bool is_defined(const cute_elf_symbol *s)
{
    return s->section != SHN_UNDEF && s->binding != STB_LOCAL && *s->name;
}
static bool is_wanted(const cute_elf_symbol *s)
{
    return s->section == SHN_UNDEF && s->binding == STB_GLOBAL && *s->name;
}

static bool defines_symbol(const cute_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->symbol_count; i++)
        if (is_defined(&elf->symbols[i]) && strcmp(elf->symbols[i].name, name) == 0) return true;
    return false;
}

/* Marks a member that defines a symbol which linked objects need and none defines. */
static bool link_one_more(member *objects, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t s = 0; objects[i].linked && s < objects[i].elf.symbol_count; s++) {
            const cute_elf_symbol *symbol = &objects[i].elf.symbols[s];
            member *giver = NULL;
            if (!is_wanted(symbol)) continue;
            for (size_t j = 0; j < count; j++) {
                if (!defines_symbol(&objects[j].elf, symbol->name)) continue;
                if (objects[j].linked) {
                    giver = NULL;
                    break;
                }
                if (!giver) giver = &objects[j];
            }
            if (giver) return giver->linked = true;
        }
    return false;
}

static cute_status prepare_object(linker *l, size_t index, const cute_arch *arch, member *object)
{
    const cute_unit *unit = object->unit;
    object->linked = !unit->on_demand;
    if (unit->kind == CUTE_UNIT_PTX) {
        CUTE_TRY(run_ptxas(l, unit, index, arch, true, &object->path));
        cute_buffer bytes = {0};
        if (l->options->dry_run) return CUTE_OK;
        cute_status status = cute_scratch_read(&l->scratch, object->path, &bytes, l->diag);
        const char *copy =
            status == CUTE_OK ? cute_arena_copy(l->arena, cute_buffer_text(&bytes), bytes.length) : NULL;
        if (status == CUTE_OK)
            status = copy ? cute_elf_read(l->arena, unit->label, copy, bytes.length, &object->elf, l->diag)
                          : cute_fail_memory(l->diag);
        cute_buffer_release(&bytes);
        return status;
    }
    const char *suffix = ".cubin";
    if (unit->kind == CUTE_UNIT_HOST)
        suffix = unit->length > 8 && memcmp(unit->bytes, "!<arch>", 7) == 0 ? ".a" : ".o";
    CUTE_TRY(cute_scratch_file(&l->scratch, file_name(l, unit, index, arch->name, suffix), unit->bytes,
                               unit->length, &object->path, l->diag));
    object->elf = unit->elf;
    return remember_rename(l, object->path, unit->label);
}

static cute_status check_relocatable(linker *l, const cute_unit *unit)
{
    const cute_place file = {.file = unit->label};
    if (unit->kind != CUTE_UNIT_CUBIN || unit->elf.type == ET_REL) return CUTE_OK;
    cute_fail(l->diag, CUTE_INVALID, &file, "this cubin is already linked and cannot be linked with others");
    cute_note(l->diag, NULL, "'cute-link -c', 'ptxas -c' and 'nvcc -dc' make relocatable cubins");
    return CUTE_INVALID;
}

/* On return, `units` holds only the linked ones. */
static cute_status run_nvlink(linker *l, const cute_unit **units, size_t *unit_count, const cute_arch *arch,
                              const char **path)
{
    const char *program;
    cute_words w = {.arena = l->arena};
    size_t count = *unit_count;
    member *objects = cute_arena_array(l->arena, count, sizeof *objects);
    if (!objects) return cute_fail_memory(l->diag);
    for (size_t i = 0; i < count; i++) {
        objects[i].unit = units[i];
        CUTE_TRY(check_relocatable(l, units[i]));
        CUTE_TRY(prepare_object(l, i, arch, &objects[i]));
    }
    while (link_one_more(objects, count)) {
    }
    CUTE_TRY(find_tool(l, CUTE_NVLINK, &program));
    CUTE_TRY(cute_scratch_file(
        &l->scratch, l->many ? cute_arena_printf(l->arena, "linked.%s.cubin", arch->name) : "linked.cubin",
        NULL, 0, path, l->diag));
    cute_words_add(&w, program);
    cute_words_add(&w, "-arch");
    cute_words_add(&w, arch->name);
    if (l->options->debug) cute_words_add(&w, "-g");
    *unit_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!objects[i].linked && !l->options->dry_run) continue;
        cute_words_add(&w, objects[i].path);
        units[(*unit_count)++] = objects[i].unit;
    }
    cute_words_add(&w, "-o");
    cute_words_add(&w, *path);
    return run_tool(l, "nvlink", &w, NULL);
}

/* ---- metadata ---- */

/* Resource counts from ptxas that the ELF file lacks. */
static void write_resources(const cute_usage_list *usage, cute_buffer *out)
{
    for (const cute_usage *u = usage->first; u; u = u->next) {
        if (!u->entry || u->spill_stores < 0) continue;
        cute_buffer_puts(out, "{\"kernel\":");
        cute_text_json(u->name, strlen(u->name), out);
        cute_buffer_printf(out, ",\"spill_stores\":%lld,\"spill_loads\":%lld}\n", (long long)u->spill_stores,
                           (long long)(u->spill_loads < 0 ? 0 : u->spill_loads));
    }
}

static void copy_section(const cute_elf *elf, const char *name, cute_buffer *out)
{
    const cute_elf_section *section = elf->sections ? cute_elf_find(elf, name) : NULL;
    if (section && section->data) cute_buffer_append(out, section->data, section->size);
}

/* Joins the PTX of all units for the emulator. A failure is not an error: the cubin works without it. */
static cute_status join_ptx(linker *l, const cute_unit *const *units, size_t count, const cute_arch *arch,
                            cute_buffer *out)
{
    cute_ptx_part_list parts = {0};
    for (size_t i = 0; i < count; i++)
        CUTE_TRY(cute_unit_ptx(l->arena, units[i], arch->name, &parts, l->diag));
    cute_diag *own = cute_diag_create();
    if (!own) return cute_fail_memory(l->diag);
    cute_status status = cute_ptx_join(l->arena, parts.items, parts.count, out, own);
    if (status != CUTE_OK) {
        cute_buffer_release(out);
        *out = (cute_buffer){0};
    }
    if (status == CUTE_INVALID && cute_diag_count(own)) {
        const cute_message *m = cute_diag_get(own, 0);
        cute_report(l->diag, CUTE_WARNING, &m->place, "the emulator cannot run this cubin: %s", m->text);
        status = CUTE_OK;
    }
    cute_diag_destroy(own);
    return status;
}

/* Adds to `cubin` the metadata of its units' kernels, and the PTX if available. */
static cute_status add_metadata(linker *l, const cute_unit *const *units, size_t count, const cute_arch *arch,
                                const cute_buffer *cubin, cute_buffer *out)
{
    double start = cute_clock();
    cute_buffer lines = {0}, resources = {0}, ptx = {0};
    for (size_t i = 0; i < count; i++) {
        if (units[i]->kind == CUTE_UNIT_PTX) {
            cute_metadata_extract(units[i]->bytes, units[i]->length, &lines);
        } else if (units[i]->kind == CUTE_UNIT_CUBIN) {
            copy_section(&units[i]->elf, CUTE_SECTION_METADATA, &lines);
            copy_section(&units[i]->elf, CUTE_SECTION_RESOURCES, &resources);
        }
    }
    write_resources(&l->result->usage, &resources);
    cute_elf_addition additions[3];
    size_t n = 0;
    if (lines.length) additions[n++] = (cute_elf_addition){CUTE_SECTION_METADATA, lines.data, lines.length};
    if (resources.length)
        additions[n++] = (cute_elf_addition){CUTE_SECTION_RESOURCES, resources.data, resources.length};
    cute_elf elf;
    /* A cubin that was already linked is passed through unchanged, unless its fatbin had PTX as well. */
    bool untouched = count == 1 && units[0]->kind == CUTE_UNIT_CUBIN && !units[0]->ptx &&
                     cubin->length == units[0]->length &&
                     memcmp(cubin->data, units[0]->bytes, cubin->length) == 0;
    cute_status status = l->options->strip || untouched ? CUTE_OK : join_ptx(l, units, count, arch, &ptx);
    if (ptx.length) additions[n++] = (cute_elf_addition){CUTE_SECTION_PTX, ptx.data, ptx.length};
    if (status == CUTE_OK && (n == 0 || l->options->strip || untouched))
        cute_buffer_append(out, cubin->data, cubin->length);
    else if (status == CUTE_OK && (status = cute_elf_read(l->arena, "the cubin", cubin->data, cubin->length,
                                                          &elf, l->diag)) == CUTE_OK)
        status = cute_elf_add_sections(&elf, additions, n, out, l->diag);
    if (!cute_buffer_ok(&lines) || !cute_buffer_ok(&resources) || !cute_buffer_ok(out))
        status = cute_fail_memory(l->diag);
    cute_buffer_release(&ptx);
    cute_buffer_release(&lines);
    cute_buffer_release(&resources);
    add_stage_time(l, "metadata", start);
    return status;
}

/* ---- one architecture ---- */

/* The units for `arch`: those made for exactly this architecture, if any, else all compatible ones. */
static size_t units_for(const linker *l, const cute_arch *arch, const cute_unit **out)
{
    bool exact = false;
    size_t count = 0;
    for (size_t i = 0; i < l->units.count; i++)
        if (l->units.items[i].arch == arch && !l->units.items[i].on_demand) exact = true;
    for (size_t i = 0; i < l->units.count; i++) {
        const cute_unit *unit = &l->units.items[i];
        bool fits = !unit->arch || unit->arch == arch ||
                    cute_arch_compatible(unit->arch, unit->kind != CUTE_UNIT_PTX, arch);
        if (!l->many || (exact ? unit->arch == arch || !unit->arch : fits)) out[count++] = unit;
    }
    return count;
}

/* Joins PTX modules into one if any uses setmaxnreg, which ptxas ignores in relocatable code. NULL: not
 * joined. */
static cute_status join_units(linker *l, const cute_unit *const *units, size_t count, const cute_unit **out)
{
    bool wanted = false;
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        if (units[i]->kind != CUTE_UNIT_PTX || strcmp(units[i]->arch_name, units[0]->arch_name) != 0)
            return CUTE_OK;
        wanted |= memmem(units[i]->bytes, units[i]->length, "setmaxnreg", strlen("setmaxnreg")) != NULL;
    }
    if (!wanted || l->options->relocatable) return CUTE_OK;
    cute_ptx_part *parts = cute_arena_array(l->arena, count, sizeof *parts);
    cute_unit *joined = cute_arena_alloc(l->arena, sizeof *joined);
    if (!parts || !joined) return cute_fail_memory(l->diag);
    for (size_t i = 0; i < count; i++)
        parts[i] = (cute_ptx_part){units[i]->label, units[i]->bytes, units[i]->length, units[i]->on_demand};
    cute_diag *own = cute_diag_create();
    if (!own) return cute_fail_memory(l->diag);
    cute_buffer text = {0};
    if (cute_ptx_join(l->arena, parts, count, &text, own) == CUTE_OK) {
        *joined = *units[0];
        joined->label = cute_arena_printf(l->arena, "%s (with %zu more)", units[0]->label, count - 1);
        joined->bytes = cute_arena_copy(l->arena, cute_buffer_text(&text), text.length);
        joined->length = text.length;
        joined->arch = NULL;
        *out = joined;
    }
    cute_buffer_release(&text);
    cute_diag_destroy(own);
    return *out && (!joined->bytes || !joined->label) ? cute_fail_memory(l->diag) : CUTE_OK;
}

static cute_status link_for(linker *l, const cute_arch *arch, cute_buffer *out)
{
    const cute_unit **units = cute_arena_array(l->arena, l->units.count, sizeof *units);
    const char *path = NULL;
    cute_buffer cubin = {0};
    if (!units) return cute_fail_memory(l->diag);
    size_t count = units_for(l, arch, units);
    if (count == 0)
        return cute_fail(l->diag, CUTE_INVALID, NULL, "none of the inputs can be linked for %s", arch->name);
    const cute_unit *first = units[0];
    bool single = count == 1 && first->kind != CUTE_UNIT_HOST;
    const cute_unit *joined = NULL;
    if (count > 1) CUTE_TRY(join_units(l, units, count, &joined));
    if (single && first->kind == CUTE_UNIT_CUBIN && (first->elf.type != ET_REL || l->options->relocatable)) {
        cute_buffer_append(&cubin, first->bytes, first->length);
    } else if (single && first->kind == CUTE_UNIT_PTX) {
        l->scratch.named = l->options->fatbin;
        CUTE_TRY(run_ptxas(l, first, 0, arch, l->options->relocatable, &path));
    } else if (joined) {
        for (size_t i = 0; i < count; i++) CUTE_TRY(check_target(l, units[i], arch));
        l->scratch.named = l->options->fatbin;
        CUTE_TRY(run_ptxas(l, joined, 0, arch, false, &path));
    } else if (l->options->relocatable) {
        return cute_fail(l->diag, CUTE_USAGE, NULL,
                         "-c makes a relocatable cubin from one PTX input, got %zu inputs", count);
    } else {
        l->scratch.named = true;
        CUTE_TRY(run_nvlink(l, units, &count, arch, &path));
    }
    if (l->options->dry_run) return CUTE_OK;
    cute_status status = path ? cute_scratch_read(&l->scratch, path, &cubin, l->diag) : CUTE_OK;
    if (status == CUTE_OK && !cubin.length)
        status = cute_fail(l->diag, CUTE_SYSTEM, NULL, "the toolkit wrote no cubin");
    if (status == CUTE_OK) status = add_metadata(l, units, count, arch, &cubin, out);
    cute_buffer_release(&cubin);
    return status;
}

/* ---- architectures ---- */

typedef struct arch_choice {
    const cute_arch *arch;
    bool ptx; /* "compute_90": add its PTX to the fatbin */
} arch_choice;

typedef struct arch_list {
    arch_choice items[64];
    size_t count;
} arch_list;

static cute_status add_arch(linker *l, arch_list *list, const cute_arch *arch, bool ptx)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].arch == arch && list->items[i].ptx == ptx) return CUTE_OK;
    if (list->count == sizeof list->items / sizeof *list->items)
        return cute_fail(l->diag, CUTE_USAGE, NULL, "too many architectures");
    list->items[list->count++] = (arch_choice){arch, ptx};
    return CUTE_OK;
}

/* An architecture in -Xptxas overrides -arch. */
static cute_status read_archs(linker *l, arch_list *list)
{
    for (ptxas_words words = {.list = &l->options->xptxas}; next_word(&words);) {
        if (!takes_arch(&words)) continue;
        const char *name = cute_arena_copy(l->arena, words.word, words.length);
        const cute_arch *arch;
        if (!name) return cute_fail_memory(l->diag);
        CUTE_TRY(cute_arch_parse(name, NULL, &arch, l->diag));
        *list = (arch_list){.items = {{arch, false}}, .count = 1};
    }
    if (list->count) return CUTE_OK;
    for (size_t i = 0; i < l->options->archs.count; i++)
        for (const char *at = l->options->archs.items[i]; *at;) {
            size_t length = strcspn(at, ",");
            const char *name = cute_arena_copy(l->arena, at, length);
            const cute_arch *arch;
            if (!name) return cute_fail_memory(l->diag);
            CUTE_TRY(cute_arch_parse_native(name, &arch, l->diag));
            CUTE_TRY(add_arch(l, list, arch, strncmp(name, "compute_", 8) == 0 && l->options->fatbin));
            at += length + (at[length] == ',');
        }
    return CUTE_OK;
}

/* Takes the architectures that the inputs state; for a single cubin, the highest. */
static cute_status infer_archs(linker *l, arch_list *list)
{
    const cute_arch *highest = NULL;
    for (size_t i = 0; i < l->units.count; i++) {
        const cute_unit *unit = &l->units.items[i];
        if (unit->on_demand || unit->kind == CUTE_UNIT_HOST) continue;
        if (unit->kind == CUTE_UNIT_PTX && !unit->arch && *unit->arch_name) {
            cute_place place = cute_place_at(unit->label, unit->bytes, unit->length, unit->target_offset);
            place.length = (int)strlen(unit->arch_name);
            const cute_arch *ignored;
            cute_arch_parse(unit->arch_name, &place, &ignored, l->diag);
            cute_note(l->diag, NULL, "select the target architecture with -arch");
            return CUTE_INVALID;
        }
        if (!unit->arch) continue;
        if (l->options->fatbin) CUTE_TRY(add_arch(l, list, unit->arch, false));
        if (!highest || unit->arch > highest) highest = unit->arch;
    }
    if (list->count) return CUTE_OK;
    if (!highest) CUTE_TRY(cute_arch_choose_native(NULL, &highest, l->diag));
    return add_arch(l, list, highest, false);
}

/* ---- fatbins ---- */

static cute_status pack_fatbin(linker *l, const arch_list *archs)
{
    const char *program, *path, *image;
    cute_words w = {.arena = l->arena};
    CUTE_TRY(find_tool(l, CUTE_FATBINARY, &program));
    l->scratch.named = true;
    CUTE_TRY(cute_scratch_file(&l->scratch, "fatbin", NULL, 0, &path, l->diag));
    cute_words_add(&w, program);
    cute_words_add(&w, "-64");
    cute_words_add(&w, cute_arena_printf(l->arena, "--create=%s", path));
    for (size_t i = 0; i < archs->count; i++) {
        const cute_arch *arch = archs->items[i].arch;
        const char *file;
        cute_buffer cubin = {0};
        cute_status status = CUTE_OK;
        if (archs->items[i].ptx) {
            const cute_unit *unit = &l->units.items[0];
            if (l->units.count != 1 || unit->kind != CUTE_UNIT_PTX)
                return cute_fail(
                    l->diag, CUTE_USAGE, NULL,
                    "'-arch compute_%s' adds PTX to the fatbin: expected one PTX input, got %zu inputs",
                    arch->name + 3, l->units.count);
            CUTE_TRY(check_target(l, unit, arch));
            CUTE_TRY(cute_scratch_file(&l->scratch, cute_arena_printf(l->arena, "image%zu.ptx", i),
                                       unit->bytes, unit->length, &file, l->diag));
        } else {
            l->result->usage = (cute_usage_list){0}; /* per architecture */
            status = link_for(l, arch, &cubin);
            l->scratch.named = true;
            if (status == CUTE_OK)
                status = cute_scratch_file(&l->scratch, cute_arena_printf(l->arena, "image%zu.cubin", i),
                                           cute_buffer_text(&cubin), cubin.length, &file, l->diag);
            cute_buffer_release(&cubin);
            if (status != CUTE_OK) return status;
        }
        image = cute_arena_printf(l->arena, "--image3=kind=%s,sm=%s,file=%s",
                                  archs->items[i].ptx ? "ptx" : "elf", arch->name + 3, file);
        if (!image) return cute_fail_memory(l->diag);
        cute_words_add(&w, image);
    }
    CUTE_TRY(run_tool(l, "fatbinary", &w, NULL));
    return l->options->dry_run ? CUTE_OK : cute_scratch_read(&l->scratch, path, &l->result->output, l->diag);
}

static cute_status link_all(linker *l, const cute_link_input *inputs, size_t count)
{
    arch_list archs = {0};
    CUTE_TRY(cute_link_check_options(l->options, l->diag));
    CUTE_TRY(read_archs(l, &archs));
    if (archs.count > 1 && !l->options->fatbin) {
        cute_fail(l->diag, CUTE_USAGE, NULL, "a cubin cannot hold several architectures");
        cute_note(l->diag, NULL, "--fatbin writes one file for all of them");
        return CUTE_USAGE;
    }
    if (l->options->fatbin && l->options->relocatable)
        return cute_fail(l->diag, CUTE_USAGE, NULL, "-c and --fatbin are mutually exclusive");
    const char *wanted = archs.count ? archs.items[0].arch->name : "";
    for (size_t i = 0; i < count; i++)
        CUTE_TRY(cute_units_add(l->arena, &inputs[i], wanted, &l->units, l->diag));
    CUTE_TRY(cute_units_add_libraries(l->arena, l->options, wanted, &l->units, l->diag));
    bool only_on_demand = true;
    for (size_t i = 0; i < l->units.count; i++)
        only_on_demand = only_on_demand && l->units.items[i].on_demand;
    if (only_on_demand)
        return cute_fail(l->diag, CUTE_INVALID, NULL, "nothing to link: all inputs are libraries");
    if (!archs.count) CUTE_TRY(infer_archs(l, &archs));
    l->many = l->options->fatbin;
    return l->options->fatbin ? pack_fatbin(l, &archs) : link_for(l, archs.items[0].arch, &l->result->output);
}

cute_status cute_link_check_options(const cute_link_options *o, cute_diag *diag)
{
    if (o->opt_level && (strlen(o->opt_level) != 1 || !strchr("0123", *o->opt_level)))
        return cute_fail(diag, CUTE_USAGE, NULL, "-O expects 0, 1, 2 or 3, got '%s'", o->opt_level);
    if (o->max_registers < 0 || o->max_registers > 255)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "-maxrregcount expects 1 to 255, or 0 for no limit, got %lld",
                         (long long)o->max_registers);
    if (o->tool_timeout < 0 || o->tool_timeout > INT32_MAX)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--tool-timeout expects seconds, 1 or more, or 0 for no limit, got %lld",
                         (long long)o->tool_timeout);
    return cute_tool_check_allowed(&o->allow, diag);
}

cute_status cute_link(cute_arena *arena, const cute_link_options *options, const cute_link_input *inputs,
                      size_t count, cute_link_result *result, cute_diag *diag)
{
    linker l = {.arena = arena,
                .options = options,
                .result = result,
                .diag = diag,
                .scratch = {.arena = arena, .dry = options->dry_run, .prefix = options->keep}};
    cute_status status = link_all(&l, inputs, count);
    cute_scratch_close(&l.scratch);
    if (status == CUTE_OK && !cute_buffer_ok(&result->output)) status = cute_fail_memory(diag);
    return status;
}
