import { type DataPart, isObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";

// Data parts contain an object in 0.3 and any JSON value in 1.0. Other values are wrapped as `{ value }`, and
// the part's metadata gets a marker. The official SDKs for JavaScript, Python, and Go use the same
// convention.
const WRAPPED_DATA_METADATA_KEY = "data_part_compat";

/** If the data of a part is not an object, wraps the data in an object, as 0.3 requires. */
export function wrapNonObjectData(
  data: JsonValue,
  metadata?: JsonObject,
): { data: JsonObject; metadata?: JsonObject } {
  if (isObject(data)) return metadata === undefined ? { data } : { data, metadata };
  return { data: { value: data }, metadata: { ...metadata, [WRAPPED_DATA_METADATA_KEY]: true } };
}

/** Converts a 0.3 data part to 1.0, and restores data that was wrapped in an object. */
export function unwrapNonObjectData(data: JsonObject, metadata?: JsonObject): DataPart {
  if (metadata === undefined) return { data };
  if (metadata[WRAPPED_DATA_METADATA_KEY] !== true || data["value"] === undefined) return { data, metadata };
  const { [WRAPPED_DATA_METADATA_KEY]: _mark, ...rest } = metadata;
  const content = { data: data["value"] };
  return Object.keys(rest).length > 0 ? { ...content, metadata: rest } : content;
}
