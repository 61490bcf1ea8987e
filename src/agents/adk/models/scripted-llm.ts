import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { BaseLlm, type BaseLlmConnection, type LlmRequest, type LlmResponse } from "@google/adk";
import type { FunctionResponse, GenaiContentPart } from "./genai-types.ts";

/**
 * One step of a scripted reply: a text, a tool call, or an error. If the step is a string, the model
 * streams the string word by word.
 */
export type ScriptedStep =
  | string
  | { readonly text: string | readonly string[]; readonly thought?: boolean }
  | { readonly call: string; readonly args?: Record<string, unknown>; readonly id?: string }
  | { readonly error: string; readonly code?: string };

export type ScriptedReply = ScriptedStep | readonly ScriptedStep[];

/** Input of a script function. */
export interface ScriptFunctionInput {
  /** Text of the last user message. */
  readonly text: string;
  /** Tool responses since the last message of the model. */
  readonly results: readonly FunctionResponse[];
  /** Number of earlier requests to this model. */
  readonly requestIndex: number;
  readonly request: LlmRequest;
}

/**
 * A script is an ordered list of replies, or a function that maps an input to a reply. The model repeats the
 * last reply of a list.
 */
export type Script = readonly ScriptedReply[] | ((input: ScriptFunctionInput) => ScriptedReply);

/** Options of `ScriptedLlm`. */
export interface ScriptedLlmOptions {
  /** Name of the scripted model. Default: `scripted`. */
  model?: string;
  /** Delay before each chunk, in milliseconds. Default: 0. */
  delayMs?: number;
}

const assertKnownOptions = defineOptionNames<ScriptedLlmOptions>()("ScriptedLlm", "delayMs model");

/**
 * ADK model that follows a script, for tests and for demos without an API key. A scripted model streams the
 * text in chunks and then yields the complete response. Scripts can also call tools, return errors, and
 * delay the chunks. The model reports no tokens.
 *
 * ```ts
 * new ScriptedLlm(({ text, results }) =>
 *   results.length > 0 ? `It is ${results[0]?.response?.sum}.` : { call: "add", args: { a: 2, b: 3 } })
 * ```
 */
export class ScriptedLlm extends BaseLlm {
  static override readonly supportedModels: (string | RegExp)[] = [/^scripted/];
  readonly #script: Script;
  readonly #delayMs: number;
  #requestCount = 0;

  constructor(script: Script, options: ScriptedLlmOptions = {}) {
    assertKnownOptions(options);
    const { model = "scripted", delayMs = 0 } = options;
    super({ model });
    this.#script = script;
    this.#delayMs = delayMs;
  }

  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
    abortSignal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    const steps = this.#selectSteps(request);
    const parts: GenaiContentPart[] = [];
    for (const step of steps) {
      if (typeof step === "object" && "error" in step) {
        yield { errorCode: step.code ?? "SCRIPTED_ERROR", errorMessage: step.error };
        return;
      }
      if (typeof step === "object" && "call" in step) {
        const { call, args = {}, id } = step;
        parts.push({ functionCall: { name: call, args, ...(id !== undefined && { id }) } });
        continue;
      }
      const chunks = splitChunks(step);
      const thought = typeof step === "object" && step.thought === true ? { thought: true } : {};
      for (const text of chunks) {
        if (this.#delayMs > 0) await pause(this.#delayMs, abortSignal);
        if (abortSignal?.aborted) return;
        if (stream) yield { content: { role: "model", parts: [{ text, ...thought }] }, partial: true };
      }
      parts.push({ text: chunks.join(""), ...thought });
    }
    yield { content: { role: "model", parts } };
  }

  override connect(): Promise<BaseLlmConnection> {
    return Promise.reject(
      new Error(
        "Scripted models do not support live connections. Run the agent without bidirectional streaming.",
      ),
    );
  }

  #selectSteps(request: LlmRequest): readonly ScriptedStep[] {
    const requestIndex = this.#requestCount++;
    if (typeof this.#script === "function") {
      return toSteps(this.#script({ ...extractScriptFunctionInput(request), requestIndex, request }));
    }
    return toSteps(this.#script[Math.min(requestIndex, this.#script.length - 1)] ?? []);
  }
}

function toSteps(reply: ScriptedReply): readonly ScriptedStep[] {
  return Array.isArray(reply) ? (reply as readonly ScriptedStep[]) : [reply as ScriptedStep];
}

function splitChunks(step: string | { text: string | readonly string[] }): readonly string[] {
  const text = typeof step === "string" ? step : step.text;
  // Each word includes the white space before it.
  return typeof text === "string" ? (text.match(/^\s*\S*|\s+\S*/g) ?? []).filter(Boolean) : text;
}

function extractScriptFunctionInput({ contents }: LlmRequest): { text: string; results: FunctionResponse[] } {
  const question = contents.findLast(
    // ADK sends the messages of other agents with the user role, under this heading.
    ({ role, parts }) =>
      role === "user" && parts?.[0]?.text !== "For context:" && parts?.some(({ text }) => text),
  );
  const text = (question?.parts ?? []).map((part) => part.text ?? "").join("");
  const lastModelIndex = contents.findLastIndex(({ role }) => role === "model");
  const results = contents
    .slice(lastModelIndex + 1)
    .flatMap(({ parts }) => (parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? []));
  return { text, results };
}

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
  });
}
