/**
 * The content of `scripted-agent.json`. ADK in each language builds the same agent from this file, so the
 * agent behaves in the same way in all languages.
 */
export interface ScriptedAgentFile {
  readonly name: string;
  readonly description: string;
  /**
   * Replies of the model. The key is the text of the last content, or the name and status of the last tool
   * result.
   */
  readonly replies: Readonly<Record<string, readonly ScriptedAgentReplyStep[]>>;
  readonly tools: Readonly<Record<string, ScriptedAgentTool>>;
  readonly scenarios: Readonly<Record<string, Scenario>>;
}

export type ScriptedAgentReplyStep =
  /** Chunks of a text. The model pauses for `pauseMs` milliseconds after each chunk. */
  | { readonly text: readonly string[]; readonly pauseMs?: number }
  | { readonly call: string; readonly args: Record<string, unknown> }
  | { readonly file: InlineFile }
  | { readonly error: string; readonly code: string }
  /** Repeats all texts of the user. */
  | { readonly userTexts: true };

/** A file with base64 content. */
export interface InlineFile {
  readonly mimeType: string;
  readonly data: string;
  readonly displayName: string;
}

export interface ScriptedAgentTool {
  readonly parameters: readonly string[];
  readonly result: Readonly<Record<string, unknown>>;
  readonly isLongRunning?: boolean;
  /** The tool sets the `escalate` action. */
  readonly escalates?: boolean;
  /** The tool sets these values in the session state. */
  readonly sets?: Readonly<Record<string, string>>;
  /** The tool saves this artifact. */
  readonly saves?: { readonly name: string; readonly mimeType: string; readonly data: string };
}

/** A conversation of a caller with one agent, in one session. */
export interface Scenario {
  readonly turns: readonly ScenarioTurn[];
  /** The caller does not request streaming. */
  readonly isWhole?: boolean;
  /** The caller runs the agent in a `LoopAgent` with three iterations. The second agent is `nag`. */
  readonly isLoop?: boolean;
}

export type ScenarioTurn =
  | { readonly text: string; readonly file?: InlineFile }
  /** Answers the pending long-running call of the session. Without a pending call, `text` is the message. */
  | { readonly answer: Readonly<Record<string, unknown>>; readonly text?: string }
  /** The harness restarts the server before the next turn. */
  | { readonly interruption: true };
