/** Any JSON value, as `google.protobuf.Value` has it. Numbers are IEEE doubles. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object, as `google.protobuf.Struct` has it. */
export type JsonObject = { [key: string]: JsonValue };
