/* See binary.h. Keeps the attributes that the user put on the gpu.module. */
#include "lib/passes/host/binary.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/ir/mlir/util.h"

static _Atomic(cute_object_maker) the_maker;

void cute_binary_set_maker(cute_object_maker maker)
{
    atomic_store(&the_maker, maker);
}

cute_object_maker cute_binary_maker(void)
{
    return atomic_load(&the_maker);
}

static void put_string(const cute_buffer *bytes, cute_buffer *out)
{
    static const char hex[] = "0123456789ABCDEF";
    cute_buffer_putc(out, '"');
    for (size_t i = 0; i < bytes->length; i++) {
        unsigned char c = (unsigned char)bytes->data[i];
        if (c >= ' ' && c < 127 && c != '"' && c != '\\')
            cute_buffer_putc(out, (char)c);
        else
            cute_buffer_append(out, (const char[]){'\\', hex[c >> 4], hex[c & 15]}, 3);
    }
    cute_buffer_putc(out, '"');
}

MlirAttribute cute_binary_object(MlirAttribute target, cute_object_format format, const cute_buffer *bytes)
{
    static const char *const keys[] = {
        [CUTE_OBJECT_PTX] = "assembly = ", [CUTE_OBJECT_CUBIN] = "bin = ", [CUTE_OBJECT_FATBIN] = ""};
    cute_buffer text = {0};
    cute_buffer_puts(&text, "#gpu.object<");
    mlirAttributePrint(target, cute_print_to_buffer, &text);
    cute_buffer_printf(&text, ", %s", keys[format]);
    put_string(bytes, &text);
    cute_buffer_puts(&text, ">");
    MlirAttribute object =
        mlirAttributeParseGet(mlirAttributeGetContext(target), cute_text(cute_buffer_text(&text)));
    cute_buffer_release(&text);
    return object;
}

/* Drops `name` and attributes that only a gpu.module has. */
static bool is_kept_attribute(MlirStringRef name)
{
    return !cute_text_is(name, "sym_name") && !cute_text_is(name, "targets") &&
           !cute_text_is(name, "offloadingHandler");
}

bool cute_binary_replace(MlirOperation module, MlirAttribute objects)
{
    MlirContext context = mlirOperationGetContext(module);
    MlirOperationState state =
        mlirOperationStateGet(cute_text("gpu.binary"), mlirOperationGetLocation(module));
    intptr_t count = mlirOperationGetNumAttributes(module), n = 0;
    MlirNamedAttribute *attributes = malloc(((size_t)count + 3) * sizeof *attributes);
    if (!attributes) return false;
    for (intptr_t i = 0; i < count; i++) {
        MlirNamedAttribute a = mlirOperationGetAttribute(module, i);
        if (is_kept_attribute(mlirIdentifierStr(a.name))) attributes[n++] = a;
    }
    attributes[n++] =
        cute_attribute(context, "sym_name", mlirOperationGetAttributeByName(module, cute_text("sym_name")));
    attributes[n++] = cute_attribute(context, "objects", objects);
    MlirAttribute handler = mlirOperationGetAttributeByName(module, cute_text("offloadingHandler"));
    if (mlirAttributeIsNull(handler))
        handler = mlirAttributeParseGet(context, cute_text("#gpu.select_object"));
    attributes[n++] = cute_attribute(context, "offloadingHandler", handler);
    mlirOperationStateAddAttributes(&state, n, attributes);
    MlirOperation binary = mlirOperationCreate(&state);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(module), module, binary);
    mlirOperationDestroy(module);
    free(attributes);
    return true;
}
