import type { A2AError } from "../protocol/index.ts";

/**
 * Told by its name: a `Remote` may come from another copy of this package, as it does in the command line, whose client
 * is bundled.
 */
export function isA2AError(thrown: unknown): thrown is A2AError {
  return thrown instanceof Error && thrown.name === "A2AError";
}
