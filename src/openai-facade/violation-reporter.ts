/** Records a violation of one field of a request. */
export type ViolationReporter = (field: string, description: string) => undefined;

/** Returns true for an object, and false for `null`, arrays, and primitive values. */
export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
