import type { DataPart, JsonObject, JsonValue } from "../../protocol/index.ts";
import { isObject } from "../error-details.ts";

// The data of a part is an object in 0.3 and any value in 1.0. What is no object travels as `{ value }`, with a mark
// in the part's metadata: a convention of the official SDKs of JavaScript, Python and Go.
const WRAPPED_DATA_KEY = "data_part_compat";

/** Data as 0.3 can have it. */
export function wrapData(
  data: JsonValue,
  metadata?: JsonObject,
): { data: JsonObject; metadata?: JsonObject } {
  if (isObject(data)) return metadata === undefined ? { data } : { data, metadata };
  return { data: { value: data }, metadata: { ...metadata, [WRAPPED_DATA_KEY]: true } };
}

/** The data of a part of 0.3, as it was before it was wrapped. */
export function unwrapData(data: JsonObject, metadata?: JsonObject): DataPart {
  if (metadata === undefined) return { data };
  if (metadata[WRAPPED_DATA_KEY] !== true || data["value"] === undefined) return { data, metadata };
  const { [WRAPPED_DATA_KEY]: _mark, ...rest } = metadata;
  const content = { data: data["value"] };
  return Object.keys(rest).length > 0 ? { ...content, metadata: rest } : content;
}
