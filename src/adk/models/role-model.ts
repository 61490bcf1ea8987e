import type { BaseLlm, LlmRequest, LlmResponse } from "@google/adk";
import type { JsonObject } from "../../protocol/index.ts";
import type { Content, GenerateContentConfig, Part } from "./genai-types.ts";

/** What a role asks of its model; `RoleModel` of `colloquy/cards` has more, which no language model needs. */
export interface RoleModelRequest {
  readonly messages: readonly { readonly role: "system" | "user" | "assistant"; readonly text: string }[];
  /** JSON Schema of the answer. */
  readonly schema?: JsonObject;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly signal: AbortSignal;
}

export interface RoleModelReply {
  readonly text: string;
  readonly usage?: RoleModelUsage;
  /** `stop`, `length`, `filter`, or what else the provider calls it, in lower case. */
  readonly finish: string;
  /** The model that answered, where the provider says so. */
  readonly model?: string;
}

/** As the provider reports it. A `type`, because only those are JSON objects by their shape. */
export type RoleModelUsage = {
  input_tokens: number;
  /** All that is billed as output, thoughts with it. */
  output_tokens: number;
  cached_input_tokens?: number;
  reasoning_output_tokens?: number;
  source: "reported";
};

export interface LlmRoleModel {
  readonly id: string;
  readonly evidenceKind: "live-model" | "simulated";
  complete(call: RoleModelRequest): Promise<RoleModelReply>;
}

export interface RoleModelOptions {
  /** As it is called in records and tables. Default: the model's own name. */
  readonly id?: string;
  /** `simulated` for one that only follows a script. Default `live-model`. */
  readonly evidenceKind?: "live-model" | "simulated";
}

/**
 * A model of ADK as a model for roles, and so every model of the AI SDK: `toRoleModel(model("openai:gpt-5-mini"))`.
 * Rejects when the provider fails, after the tries that its SDK makes, and with the signal's reason when it aborts. An
 * answer that a filter withheld, or that the limit cut before it began, is an empty text whose `finish` says so.
 */
export function toRoleModel(llm: BaseLlm, options: RoleModelOptions = {}): LlmRoleModel {
  const { id = llm.model, evidenceKind: evidence = "live-model" } = options;
  return {
    id,
    evidenceKind: evidence,
    async complete(call): Promise<RoleModelReply> {
      call.signal.throwIfAborted();
      let reply: RoleModelReply | undefined;
      for await (const response of llm.generateContentAsync(toLlmRequest(call), false, call.signal)) {
        reply = appendResponse(response, reply);
      }
      // A model that is aborted ends in silence.
      call.signal.throwIfAborted();
      if (!reply) throw new Error(`The model ${id} ended without an answer.`);
      return reply;
    },
  };
}

function toLlmRequest({ messages, schema, maxTokens, temperature, seed }: RoleModelRequest): LlmRequest {
  const instructions = messages.filter(({ role }) => role === "system").map(({ text }) => text);
  const config: GenerateContentConfig = {
    ...(instructions.length > 0 && { systemInstruction: instructions.join("\n\n") }),
    ...(schema && { responseMimeType: "application/json", responseJsonSchema: schema }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(seed !== undefined && { seed }),
    // Google's SDK tries again only when told to; the AI SDK does anyway.
    httpOptions: { retryOptions: { attempts: 3 } },
  };
  const contents = messages
    .filter(({ role }) => role !== "system")
    .map(({ role, text }): Content => ({ role: role === "user" ? "user" : "model", parts: [{ text }] }));
  return { contents, config, liveConnectConfig: {}, toolsDict: {} };
}

/** Adds a response to what was answered before it; without streaming there is one. */
function appendResponse(response: LlmResponse, before: RoleModelReply | undefined): RoleModelReply {
  const { content, finishReason, errorCode, errorMessage, modelVersion } = response;
  const reason = finishReason ?? errorCode;
  // What the provider calls a reason to stop is an answer, if a short one; everything else has failed.
  if (errorCode !== undefined && FINISH_REASONS[String(reason)] === undefined)
    throw new Error(errorMessage ?? `The model failed: ${errorCode}.`);
  const usage = toRoleModelUsage(response) ?? before?.usage;
  const model = modelVersion ?? before?.model;
  return {
    text: (before?.text ?? "") + extractAnswerText(content?.parts ?? []),
    ...(usage && { usage }),
    finish:
      reason === undefined ? (before?.finish ?? "stop") : (FINISH_REASONS[reason] ?? reason.toLowerCase()),
    ...(model !== undefined && { model }),
  };
}

const FINISH_REASONS: Readonly<Partial<Record<string, string>>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "filter",
  BLOCKLIST: "filter",
  PROHIBITED_CONTENT: "filter",
  RECITATION: "filter",
  SPII: "filter",
};

/** Without thoughts. */
function extractAnswerText(parts: readonly Part[]): string {
  return parts.map(({ text, thought }) => (thought ? "" : (text ?? ""))).join("");
}

/** `undefined`, when the provider says nothing of the input or of the output. */
function toRoleModelUsage({ usageMetadata }: LlmResponse): RoleModelUsage | undefined {
  const {
    promptTokenCount,
    candidatesTokenCount,
    thoughtsTokenCount,
    totalTokenCount,
    cachedContentTokenCount,
  } = usageMetadata ?? {};
  if (promptTokenCount === undefined) return undefined;
  // Google counts thoughts beside the candidates, the AI SDK within them; the total is right in both.
  const output = totalTokenCount !== undefined ? totalTokenCount - promptTokenCount : candidatesTokenCount;
  if (output === undefined) return undefined;
  return {
    input_tokens: promptTokenCount,
    output_tokens: Math.max(0, output),
    ...(cachedContentTokenCount && { cached_input_tokens: cachedContentTokenCount }),
    ...(thoughtsTokenCount && { reasoning_output_tokens: thoughtsTokenCount }),
    source: "reported",
  };
}
