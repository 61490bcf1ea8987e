import type { Streams } from "./output.ts";

/** What every command is given: the world outside of it. How a command is added stands in `commands.ts`. */
export interface Context {
  readonly streams: Streams;
  readonly stdin: NodeJS.ReadableStream;
  /** Aborts at the first Ctrl-C. */
  readonly interrupted: AbortSignal;
}
