import type { JsonValue } from "../protocol/index.ts";

/** A finished call of an agent to a language model. */
export interface ModelCallReport {
  readonly kind: "model";
  /** Provider in the terms of OpenTelemetry (`gen_ai.provider.name`), for example `openai`. */
  readonly provider?: string | undefined;
  readonly model: string;
  readonly prompt?: JsonValue | undefined;
  /** The reply as the framework of the agent shows it. */
  readonly reply?: JsonValue | undefined;
  /** Failed attempts before the result. */
  readonly attempts?: readonly { readonly error: string; readonly wait_ms?: number }[] | undefined;
  readonly finishReason?: string | undefined;
  /** Tokens of the prompt, including the tokens that the provider has read from its cache. */
  readonly inputTokens?: number | undefined;
  /** Tokens of the prompt that the provider has read from its cache, for which many providers charge less. */
  readonly cachedInputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly durationMs: number;
  readonly error?: string | undefined;
}

/** A finished call of a tool. */
export interface ToolCallReport {
  readonly kind: "tool";
  readonly tool: string;
  /** The server of the tool, for example an MCP server. */
  readonly server?: string | undefined;
  readonly arguments?: JsonValue | undefined;
  readonly result?: JsonValue | undefined;
  readonly durationMs: number;
  readonly error?: string | undefined;
}

/** A call that an agent made during a turn, which its framework can observe. */
export type AgentCallReport = ModelCallReport | ToolCallReport;
