import type { OutputStreams, RawOutputStreams } from "./terminal-streams.ts";

/**
 * Environment of a command: streams, terminal sizes, interrupt signal, variables, and working directory.
 * `command-registry.ts` explains how to add a command.
 */
export interface CliContext {
  readonly streams: OutputStreams;
  readonly stdin: NodeJS.ReadableStream;
  /** Whether both stdin and stdout are terminals, so that commands can prompt the user. */
  readonly isInteractive: boolean;
  /** Width of stdout's terminal in columns, or `undefined` if stdout is not a terminal. */
  readonly stdoutColumns?: number | undefined;
  /** Width of stderr's terminal in columns, or `undefined` if stderr is not a terminal. */
  readonly stderrColumns?: number | undefined;
  /** Signal that aborts at the first Ctrl-C. */
  readonly interruptSignal: AbortSignal;
  /** Prevents the end of the process when the reader of stdout has ended. Absent in tests. */
  readonly continueWithoutReader?: () => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory for resolving relative paths. */
  readonly cwd: string;
}

/** Environment of the program before `runCli` makes its output streams printable. */
export type ProcessContext = Omit<CliContext, "streams"> & { readonly streams: RawOutputStreams };
