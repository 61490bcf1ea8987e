import type { Streams } from "./output.ts";

/** What every command is given: the world outside of it. How a command is added stands in `commands.ts`. */
export interface Context {
  readonly streams: Streams;
  readonly stdin: NodeJS.ReadableStream;
  /** Whether a person sits at both ends: what asks questions does so only then. */
  readonly interactive: boolean;
  /** Of the terminal that `streams.out` writes to; `undefined` when it writes to none. */
  readonly columns?: number | undefined;
  /** Of the terminal that `streams.err` writes to; `undefined` when it writes to none. */
  readonly errColumns?: number | undefined;
  /** Aborts at the first Ctrl-C. */
  readonly interrupted: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the user stands: files are looked for from here. */
  readonly cwd: string;
}
