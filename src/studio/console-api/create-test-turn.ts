import { getText, type JsonValue, type Part } from "../../protocol/index.ts";

/** What an agent did in a turn. */
export interface ObservedTurn {
  /** The state after the turn without its prefix, or `none` without a task. */
  readonly state: string;
  readonly text: string;
  /** The question of an agent that waits for its user. */
  readonly question: string | undefined;
  /** Undefined if the calls are not known. */
  readonly calls:
    | readonly { readonly tool: string; readonly arguments?: JsonValue | undefined }[]
    | undefined;
}

/** A turn of a file of `colloquy test`. */
export interface ObservedTestTurn {
  readonly send: string | readonly Part[];
  readonly expect: {
    readonly state: string;
    readonly text?: string;
    readonly question?: string;
    readonly calls?: readonly { readonly tool: string; readonly arguments?: JsonValue }[];
  };
}

/** Creates a turn of a file of `colloquy test`, whose expectations are what the agent did. */
export function createTestTurn(
  parts: readonly Part[],
  { state, text, question, calls }: ObservedTurn,
): ObservedTestTurn {
  // The text of a failure contains the id of the error, which differs in each run.
  const said = question === undefined ? (state === "failed" ? {} : { text }) : { question };
  const called = calls?.map(({ tool, arguments: input }) => ({
    tool,
    ...(input === undefined ? {} : { arguments: input }),
  }));
  return {
    send: parts.every((part) => "text" in part) ? getText(parts) : parts,
    expect: { state, ...said, ...(called && { calls: called }) },
  };
}
