import type { OutputStreams } from "./output-writer.ts";

/**
 * The environment of a command: streams, terminal, signals, and variables. `commands.ts` explains how to add
 * a command.
 */
export interface CliContext {
  readonly streams: OutputStreams;
  readonly stdin: NodeJS.ReadableStream;
  /** Whether stdin and stdout are terminals. Commands prompt only then. */
  readonly isInteractive: boolean;
  /** Width of the terminal behind `streams.out` in columns. `undefined` when it is not a terminal. */
  readonly stdoutColumns?: number | undefined;
  /** Width of the terminal behind `streams.err` in columns. `undefined` when it is not a terminal. */
  readonly stderrColumns?: number | undefined;
  /** Aborts at the first Ctrl-C. */
  readonly interruptSignal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory, to which relative paths refer. */
  readonly cwd: string;
}
