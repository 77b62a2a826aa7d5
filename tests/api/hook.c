/* The hook of a compiler: what it sees, that it is called for runs that succeed alone, and that its failure is the run's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/compile.h"

static const char source[] = "gpu.module @first { gpu.func @a(%x: f32) kernel { gpu.return } }\n"
                             "gpu.module @second { gpu.func @b(%n: i32) kernel { gpu.return } }\n";

typedef struct seen {
    int calls;
    bool fails;
    const cute_compiled *compiled;
} seen;

static void need(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static cute_status hook(const cute_compilation *compilation, void *context, cute_diag *diag)
{
    seen *s = context;
    size_t length = 0;
    s->calls++;
    s->compiled = compilation->compiled;
    need(!strcmp(compilation->label, "k.mlir"), "the label is not the run's");
    need(!strcmp(compilation->arch, "sm_80"), "the architecture is not the option's");
    need(cute_compiled_count(compilation->compiled) == 2, "there are not two texts");
    need(!strcmp(cute_compiled_module(compilation->compiled, 1), "second"), "the second is not 'second'");
    const char *text = cute_compiled_text(compilation->compiled, 0, &length);
    need(strstr(text, ".entry a(") && length == strlen(text), "the first text has no kernel 'a'");
    need(strlen(compilation->mlir) == compilation->mlir_length, "the MLIR is not terminated where it ends");
    need(strstr(compilation->mlir, "llvm.func @b(") != NULL, "the MLIR was not lowered");
    if (!s->fails) return CUTE_OK;
    cute_report(diag, CUTE_ERROR, NULL, "the hook does not like it");
    return CUTE_SYSTEM;
}

int main(void)
{
    cute_compiler *compiler;
    cute_compiled *compiled;
    cute_diag *diag = cute_diag_create();
    seen s = {0};
    need(cute_compiler_create(&compiler, diag) == CUTE_OK, "no compiler");
    need(cute_compiler_set(compiler, "arch", "sm_80", diag) == CUTE_OK, "no sm_80");
    cute_compiler_set_hook(compiler, hook, &s);
    need(cute_compiler_run(compiler, "k.mlir", source, strlen(source), &compiled, diag) == CUTE_OK,
         "not compiled");
    need(s.calls == 1 && s.compiled == compiled, "the hook was not called once with what was made");
    cute_compiled_destroy(compiled);

    need(cute_compiler_run(compiler, "k.mlir", "gpu.", 4, &compiled, diag) == CUTE_INVALID,
         "nonsense compiles");
    need(s.calls == 1, "the hook was called for a run that failed");

    s.fails = true;
    cute_diag_clear(diag);
    need(cute_compiler_run(compiler, "k.mlir", source, strlen(source), &compiled, diag) == CUTE_SYSTEM &&
             !compiled,
         "the hook's failure is not the run's");
    need(cute_diag_errors(diag) == 1 && !strcmp(cute_diag_get(diag, 0)->text, "the hook does not like it"),
         "the hook's message is not there");

    cute_compiler_set_hook(compiler, NULL, NULL);
    need(cute_compiler_run(compiler, "k.mlir", source, strlen(source), &compiled, diag) == CUTE_OK,
         "not compiled");
    need(s.calls == 2, "the hook was called when there was none");
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_diag_destroy(diag);
    return 0;
}
