/* See json.h. */
#include "lib/ir/mlir/json.h"

#include "lib/ir/mlir/util.h"

static json_t *text_of(MlirStringRef text)
{
    return json_stringn(text.data, text.length);
}

json_t *cute_attribute_json(MlirAttribute attribute)
{
    if (mlirAttributeIsAString(attribute)) return text_of(mlirStringAttrGetValue(attribute));
    if (mlirAttributeIsABool(attribute)) return json_boolean(mlirBoolAttrGetValue(attribute));
    if (mlirAttributeIsAInteger(attribute)) return json_integer(mlirIntegerAttrGetValueInt(attribute));
    if (mlirAttributeIsAUnit(attribute)) return json_null();
    if (mlirAttributeIsADenseI32Array(attribute)) {
        json_t *array = json_array();
        for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(attribute); i++)
            json_array_append_new(array, json_integer(mlirDenseI32ArrayGetElement(attribute, i)));
        return array;
    }
    if (mlirAttributeIsAArray(attribute)) {
        json_t *array = json_array();
        for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attribute); i++)
            json_array_append_new(array, cute_attribute_json(mlirArrayAttrGetElement(attribute, i)));
        return array;
    }
    if (mlirAttributeIsADictionary(attribute)) {
        json_t *object = json_object();
        for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attribute); i++) {
            MlirNamedAttribute item = mlirDictionaryAttrGetElement(attribute, i);
            MlirStringRef name = mlirIdentifierStr(item.name);
            json_object_setn_new(object, name.data, name.length, cute_attribute_json(item.attribute));
        }
        return object;
    }
    cute_buffer text = {0};
    mlirAttributePrint(attribute, cute_print_to_buffer, &text);
    json_t *string = json_string(cute_buffer_text(&text));
    cute_buffer_release(&text);
    return string;
}
