/** Notes a violation: where, and what is wrong. */
export type ViolationReporter = (field: string, description: string) => undefined;

export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
