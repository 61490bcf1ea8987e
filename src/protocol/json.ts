/** Any JSON value, equivalent to `google.protobuf.Value`. Numbers are IEEE 754 doubles. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object, equivalent to `google.protobuf.Struct`. */
export type JsonObject = { [key: string]: JsonValue };
