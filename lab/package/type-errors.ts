const FOREIGN_TYPES_PATTERN = /^(?:\.\.\/)*node_modules\/@google\//;

/** Returns the errors of a failed compilation outside of ADK's types. Output without errors counts as one error. */
export function findCountedTypeErrors(output: string): string[] {
  const errors = output.split(/\r?\n/).filter((line) => /\berror TS\d+:/.test(line));
  if (errors.length === 0) return [`The compiler failed: ${output.trim()}`];
  return errors.filter((line) => !FOREIGN_TYPES_PATTERN.test(line));
}
