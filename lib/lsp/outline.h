/* Symbols and completions of a document by lexical analysis, which also works while the text is
 * incomplete. */
#ifndef CUTE_LIB_LSP_OUTLINE_H
#define CUTE_LIB_LSP_OUTLINE_H

#include <jansson.h>
#include <stddef.h>

/* DocumentSymbol[]: modules, functions in them, globals, aliases. */
json_t *lsp_outline(const char *text, size_t length);

/* CompletionItem[] for the word that ends at `offset`: values, aliases and symbols of the text, or matching
 * names of `operations`. */
json_t *lsp_completions(const char *text, size_t length, size_t offset, const char *const *operations,
                        size_t operation_count);

#endif
