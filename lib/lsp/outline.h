/* What a text has, by its words alone: also of a text that does not parse, as one that is being typed. */
#ifndef CUTE_LIB_LSP_OUTLINE_H
#define CUTE_LIB_LSP_OUTLINE_H

#include <jansson.h>
#include <stddef.h>

/* DocumentSymbol[]: modules, functions in them, globals, aliases. */
json_t *lsp_outline(const char *text, size_t length);

/* CompletionItem[] for the word that ends at `offset`: values, aliases and symbols of the text, or those of `operations`
 * that begin with it. */
json_t *lsp_completions(const char *text, size_t length, size_t offset, const char *const *operations,
                        size_t operation_count);

#endif
