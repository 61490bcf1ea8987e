import { CORE_SCHEMA, load } from "js-yaml";
import { estimateJsonSize } from "../protocol/index.ts";

/** Size in characters that the aliases of a file may add. */
const MAX_SIZE_OF_ALIASES = 1024 * 1024;

/**
 * Parses a YAML text. Throws an error if aliases make the value much longer than its text, because the value could
 * exhaust the memory.
 */
export function parseYaml(text: string): unknown {
  const value = load(text, { schema: CORE_SCHEMA });
  const maxSize = MAX_SIZE_OF_ALIASES + 8 * text.length;
  if (estimateJsonSize(value, maxSize) > maxSize)
    throw new Error("aliases make the content too long; repeat less content with aliases.");
  return value;
}
