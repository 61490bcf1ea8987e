import type { A2AError } from "../../protocol/index.ts";

/**
 * Returns `true` for an A2A error. The check uses the name of the error, because an `A2AClient` may come from
 * another copy of this package. For example, the command line contains a bundled copy of the client.
 */
export function isA2AError(thrown: unknown): thrown is A2AError {
  return thrown instanceof Error && thrown.name === "A2AError";
}
