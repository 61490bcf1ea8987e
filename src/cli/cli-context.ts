import type { OutputStreams } from "./output-writer.ts";

/** What every command is given: the world outside of it. How a command is added stands in `commands.ts`. */
export interface CliContext {
  readonly streams: OutputStreams;
  readonly stdin: NodeJS.ReadableStream;
  /** Whether a person sits at both ends: what asks questions does so only then. */
  readonly isInteractive: boolean;
  /** Of the terminal that `streams.out` writes to; `undefined` when it writes to none. */
  readonly stdoutColumns?: number | undefined;
  /** Of the terminal that `streams.err` writes to; `undefined` when it writes to none. */
  readonly stderrColumns?: number | undefined;
  /** Aborts at the first Ctrl-C. */
  readonly interruptSignal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the user stands: files are looked for from here. */
  readonly cwd: string;
}
