import { defineOptionNames, omitUndefined } from "../../../base/usage-checks/index.ts";
import type { BaseLlm, LlmRequest, LlmResponse } from "@google/adk";
import { type JsonObject, parseModelRetryDelay } from "../../../protocol/index.ts";
import type { Content, GenerateContentConfig, GenaiContentPart } from "./genai-types.ts";

/**
 * A request that an agent role sends to its model. The `RoleModel` type of `colloquy/cards` has more
 * members, which language models do not need.
 */
export interface RoleModelRequest {
  readonly messages: readonly { readonly role: "system" | "user" | "assistant"; readonly text: string }[];
  /** JSON Schema that the answer of the model must match. */
  readonly schema?: JsonObject;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly signal: AbortSignal;
}

/** A model's answer to an agent role. */
interface RoleModelReply {
  readonly text: string;
  readonly usage?: RoleModelUsage;
  /**
   * Reason why the model stopped: `stop`, `length`, `filter`, or the provider's own reason in lower case.
   */
  readonly finish: string;
  /** Name of the model that answered, if the provider reports the name. */
  readonly model?: string;
}

/**
 * Token usage of a model call, as reported by the provider. Token usage is a `type`, because interfaces are
 * not assignable to JSON objects.
 */
type RoleModelUsage = {
  input_tokens: number;
  /** Number of tokens that the provider bills as output, including thought tokens. */
  output_tokens: number;
  cached_input_tokens?: number;
  reasoning_output_tokens?: number;
  source: "reported";
};

/** Error of a failed call to a model provider. */
class LlmCallError extends Error {
  override readonly name = "LlmCallError";
  /** HTTP status of the provider's response, or `undefined` if there was no response. */
  readonly httpStatus: number | undefined;
  /** Time in milliseconds that the provider asks to wait before the next call. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, status: number | undefined, retryAfterMs: number | undefined, cause: unknown) {
    super(message, { cause });
    this.httpStatus = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A model for agent roles that calls an ADK model. */
export interface LlmRoleModel {
  readonly id: string;
  readonly evidenceKind: "live-model" | "simulated";
  complete(call: RoleModelRequest): Promise<RoleModelReply>;
}

/** Options of `toRoleModel`. */
export interface RoleModelOptions {
  /** Id of the model in records and tables. Default: the name of the ADK model. */
  readonly id?: string;
  /** Use the id `simulated` for a model that follows a script. Default: `live-model`. */
  readonly evidenceKind?: "live-model" | "simulated";
}

const assertKnownOptions = defineOptionNames<RoleModelOptions>()("toRoleModel", "evidenceKind id");

/**
 * Returns a model for agent roles that calls an ADK model. With `createModel`, the ADK model can be any AI
 * SDK model, as in `toRoleModel(createModel("openai:gpt-5-mini"))`.
 *
 * The `complete` function sends one request and rejects if the provider fails. The error has the members
 * `httpStatus` and `retryAfterMs`, and the role that calls the model repeats the request. If the signal
 * aborts, `complete` rejects with the reason of the signal. If the provider filtered the answer or stopped
 * before the first text, the text is empty, and `finish` contains the reason.
 */
export function toRoleModel(llm: BaseLlm, options: RoleModelOptions = {}): LlmRoleModel {
  assertKnownOptions(options);
  const { id = llm.model, evidenceKind = "live-model" } = options;
  return {
    id,
    evidenceKind,
    async complete(call): Promise<RoleModelReply> {
      call.signal.throwIfAborted();
      let reply: RoleModelReply | undefined;
      try {
        for await (const response of llm.generateContentAsync(toLlmRequest(call), false, call.signal)) {
          reply = mergeLlmResponseIntoReply(response, reply);
        }
      } catch (error) {
        call.signal.throwIfAborted();
        throw toLlmCallError(error, id);
      }
      // An aborted model ends without an error.
      call.signal.throwIfAborted();
      if (!reply) throw new Error(`The model ${id} returned no answer.`);
      return reply;
    },
  };
}

function toLlmRequest({ messages, schema, maxTokens, temperature, seed }: RoleModelRequest): LlmRequest {
  const instructions = messages.filter(({ role }) => role === "system").map(({ text }) => text);
  const config: GenerateContentConfig = {
    ...(instructions.length > 0 && { systemInstruction: instructions.join("\n\n") }),
    ...(schema && { responseMimeType: "application/json", responseJsonSchema: schema }),
    ...omitUndefined({ maxOutputTokens: maxTokens, temperature, seed }),
    // The role repeats failed calls and records each failed try. Retries inside an SDK would be invisible.
    httpOptions: { retryOptions: { attempts: 1 } },
  };
  const contents = messages
    .filter(({ role }) => role !== "system")
    .map(({ role, text }): Content => ({ role: role === "user" ? "user" : "model", parts: [{ text }] }));
  return { contents, config, liveConnectConfig: {}, toolsDict: {} };
}

/**
 * Appends a model response to the previous responses to the same request. Without streaming, a request has
 * only one response.
 */
function mergeLlmResponseIntoReply(
  response: LlmResponse,
  before: RoleModelReply | undefined,
): RoleModelReply {
  const { content, finishReason, errorCode, errorMessage, modelVersion } = response;
  const reason = finishReason ?? errorCode;
  // A known finish reason counts as a short answer. Any other error code is a failure.
  if (errorCode !== undefined && ROLE_MODEL_FINISH_BY_GENAI_REASON[String(reason)] === undefined)
    throw Object.assign(new Error(errorMessage ?? `The model failed with the error code ${errorCode}.`), {
      status: Number(errorCode),
    });
  const usage = toRoleModelUsage(response) ?? before?.usage;
  const model = modelVersion ?? before?.model;
  return {
    text: (before?.text ?? "") + extractTextWithoutThoughts(content?.parts ?? []),
    ...(usage && { usage }),
    finish:
      reason === undefined
        ? (before?.finish ?? "stop")
        : (ROLE_MODEL_FINISH_BY_GENAI_REASON[reason] ?? reason.toLowerCase()),
    ...(model !== undefined && { model }),
  };
}

/**
 * Converts an error of an ADK model. The message of the error is JSON with the status code of the provider,
 * and one of its causes can contain the headers of the response.
 */
function toLlmCallError(error: unknown, id: string): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const causes: (Error & ProviderErrorMembers)[] = [];
  for (let cause: unknown = error; cause instanceof Error && causes.length < 5;) {
    causes.push(cause);
    cause = (cause as ProviderErrorMembers).lastError ?? cause.cause;
  }
  const { code, message = error.message } = parseGenaiErrorMessage(error.message);
  const status = [code, ...causes.flatMap((cause) => [cause.status, cause.statusCode])].find(
    (value): value is number => typeof value === "number" && value >= 400 && value <= 599,
  );
  const headers = causes.find(({ responseHeaders }) => responseHeaders)?.responseHeaders;
  if (status === undefined && !causes.some(({ isRetryable }) => isRetryable)) return error;
  const answered = status === undefined ? "did not answer" : `answered ${status}`;
  const failure = new LlmCallError(
    `${id} ${answered}: ${message}`,
    status,
    headers && parseModelRetryDelay((name) => headers[name], Date.now()),
    error,
  );
  return status === undefined ? Object.assign(failure, { isRetryable: true }) : failure;
}

interface ProviderErrorMembers {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly isRetryable?: boolean;
  readonly lastError?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

function parseGenaiErrorMessage(text: string): { code?: unknown; message?: string } {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
    return {
      code: error?.code,
      ...(typeof error?.message === "string" && { message: error.message }),
    };
  } catch {
    return {};
  }
}

const ROLE_MODEL_FINISH_BY_GENAI_REASON: Readonly<Partial<Record<string, string>>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "filter",
  BLOCKLIST: "filter",
  PROHIBITED_CONTENT: "filter",
  RECITATION: "filter",
  SPII: "filter",
};

/** Returns the text of a model's answer without the thoughts. */
function extractTextWithoutThoughts(parts: readonly GenaiContentPart[]): string {
  return parts.map(({ text, thought }) => (thought ? "" : (text ?? ""))).join("");
}

/**
 * Returns the token usage of a response, or `undefined` if the provider does not report input and output
 * tokens.
 */
function toRoleModelUsage({ usageMetadata }: LlmResponse): RoleModelUsage | undefined {
  const {
    promptTokenCount,
    candidatesTokenCount,
    thoughtsTokenCount,
    totalTokenCount,
    cachedContentTokenCount,
  } = usageMetadata ?? {};
  if (promptTokenCount === undefined) return undefined;
  // Google counts thoughts in addition to the candidates, and the AI SDK includes them. The total is right in
  // both cases.
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
