/** Formats JSON of a stranger. Returns a description of the problem if the value is nested so deeply that V8 gives up. */
export function formatJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent) ?? "";
  } catch (error) {
    if (error instanceof RangeError) return "(The value is nested too deeply.)";
    throw error;
  }
}
