import type { AnswerSourceKind, CardTokenUsage, ResultCardStatus, TaskCard } from "../index.ts";
import { type JsonObject, stripTrailingCharacters } from "../../protocol/index.ts";

/**
 * A model that answers the requests of a role. The model is a language model or a deterministic substitute
 * for tests.
 */
export interface RoleModel {
  /** Identifier of the model in recordings and tables, for example `openai:gpt-5-mini` or `oracle`. */
  readonly id: string;
  /** Type of evidence in recordings. The type states how the model produced its answers. */
  readonly evidenceKind: AnswerSourceKind;
  /** Base URL of the model's server, for the description of a run. Default: the server of the provider. */
  readonly server?: string;
  /**
   * Sends one request to the model and resolves with the reply. Rejects if the model is unavailable. If
   * `signal` aborts, rejects with the abort reason.
   */
  complete(request: ModelRequest): Promise<ModelReply>;
}

/** A request that a role sends to its model. */
export interface ModelRequest {
  /** Name of the role that sends the request. */
  readonly role: string;
  /**
   * Structured form of the request, for models that do not parse `messages`. `input` and `messages` contain
   * the same information in two forms.
   */
  readonly input: StructuredModelInput;
  readonly messages: readonly ModelMessage[];
  /** JSON Schema of the answer, if the model must answer with JSON. */
  readonly schema?: JsonObject;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly signal: AbortSignal;
}

/** One message of a model prompt. */
export interface ModelMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
}

/** Structured form of a model request. `kind` distinguishes requests to planners, solvers, and answerers. */
export type StructuredModelInput = PlannerModelInput | SolverModelInput | AnswererModelInput;

/** A request for the planner's next action. */
export interface PlannerModelInput {
  readonly kind: "plan";
  /** Task card that the planner received. */
  readonly task: TaskCard;
  /** Replies that the solvers have sent to the planner, in order. */
  readonly findings: readonly SolverFinding[];
  /** Number of the planner's current turn, starting at 1. In the last turn, the planner can only answer. */
  readonly turn: number;
  readonly maxTurns: number;
  /** Reason why the planner rejected the previous reply of the model. Only a retry has a rejection reason. */
  readonly rejectionReason?: string;
}

/** A solver's reply to one subtask. */
export interface SolverFinding {
  readonly subtask: string;
  /** Status of the solver's reply. If `status` is `error`, `answer` contains the error message. */
  readonly status: ResultCardStatus;
  readonly answer: string;
  /** Titles of the documents that the solver received. */
  readonly documentTitles?: readonly string[];
}

/** A request to a solver for the answer to one subtask. */
interface SolverModelInput {
  readonly kind: "solve";
  readonly task: TaskCard;
}

/** A request to an answerer for the answer to a complete problem. */
interface AnswererModelInput {
  readonly kind: "answer";
  readonly task: TaskCard;
  /** Prompting method: `cot` asks the model to reason step by step, and `direct` asks for the answer only. */
  readonly style: "cot" | "direct";
  /** Number of the sampled answer, starting at 1. An answerer can request several samples for one problem. */
  readonly sampleNumber: number;
}

/** A model's reply to a request. */
export interface ModelReply {
  readonly text: string;
  /** Token usage of the model call, if the model reports token usage. */
  readonly usage?: CardTokenUsage;
  /** Reason why the model stopped, for example `stop`, `length`, or `filter`. */
  readonly finish: string;
  /** Exact name of the language model, if the name is more specific than the `id` of the role model. */
  readonly model?: string;
  /** Faults that `withFaults` injected into this reply, such as `wrong`. Recordings contain them. */
  readonly injectedFaults?: readonly string[];
}

/**
 * Returns the error type of a reply that a token limit cut off or that a content filter rejected, or
 * `undefined` for other finish reasons.
 */
export function findReplyErrorType(finish: string): "truncated" | "filtered" | undefined {
  if (finish === "length") return "truncated";
  return ["filter", "content_filter", "content-filter", "refusal"].includes(finish) ? "filtered" : undefined;
}

/** Information about a failed model call. */
export interface ModelFailure {
  readonly message: string;
  /** HTTP status of the model provider's response, or `undefined` if there was no response. */
  readonly httpStatus: number | undefined;
  /** Time in milliseconds that the model provider asks to wait before the next call. */
  readonly retryAfterMs: number | undefined;
  /** Whether the same request can succeed later. */
  readonly isRetryable: boolean;
}

/**
 * Describes an error that a `RoleModel` threw. The function reads the members `httpStatus`, `status`, or
 * `statusCode`, and the members `retryAfterMs` and `isRetryable`, which the errors of most model SDKs have.
 */
export function describeModelFailure(thrown: unknown): ModelFailure {
  const members = (typeof thrown === "object" && thrown !== null ? thrown : {}) as Readonly<
    Record<string, unknown>
  >;
  const status = [members["httpStatus"], members["status"], members["statusCode"]].find(isHttpStatus);
  const { retryAfterMs, isRetryable } = members;
  const remedy = status === undefined ? undefined : REMEDIES_BY_STATUS[status];
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return {
    message:
      remedy === undefined ? message : `${stripTrailingCharacters(message, ". \n\r\t")}. To do: ${remedy}.`,
    httpStatus: status,
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : undefined,
    isRetryable:
      typeof isRetryable === "boolean"
        ? isRetryable
        : status === undefined
          ? isNetworkError(thrown)
          : isRetryableStatus(status),
  };
}

/** Maximum number of times that a role calls its model with one request. */
const MAX_MODEL_CALL_TRIES = 3;
const FIRST_RETRY_DELAY_MS = 2_000;
const MAX_RETRY_DELAY_MS = 60_000;

/**
 * Returns the time in milliseconds to wait before the next try, or `undefined` if the call must not be
 * repeated. `tries` is the number of tries so far. If the provider asks for more than one minute, the call is
 * not repeated.
 */
export function computeRetryDelay(
  { isRetryable, retryAfterMs }: ModelFailure,
  tries: number,
): number | undefined {
  if (!isRetryable || tries >= MAX_MODEL_CALL_TRIES) return undefined;
  const delayMs = retryAfterMs ?? FIRST_RETRY_DELAY_MS * 2 ** (tries - 1);
  return delayMs > MAX_RETRY_DELAY_MS ? undefined : delayMs;
}

/** Returns whether a request that was answered with this status can succeed later. */
export function isRetryableStatus(status: number): boolean {
  return status >= 500 || [408, 409, 425, 429].includes(status);
}

/**
 * Returns whether every request will fail with this status until the user corrects the key, the credit, or
 * the name of the model.
 */
export function isConfigurationStatus(status: number): boolean {
  return REMEDIES_BY_STATUS[status] !== undefined;
}

const REMEDIES_BY_STATUS: Readonly<Record<number, string>> = {
  401: "set a valid API key for the model",
  402: "add credit to the account of the API key",
  404: "correct the name of the model or the base URL of its server",
};

function isHttpStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599;
}

/** `fetch` rejects with a `TypeError` if the server does not respond. */
function isNetworkError(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message === "fetch failed";
}

/** Token usage of a model call that reports no token counts. */
export const NO_USAGE: CardTokenUsage = { input_tokens: 0, output_tokens: 0, source: "none" };

const USAGE_SOURCES = ["none", "estimated", "reported"] as const;

/** Returns the sum of two token usages. If the sources differ, the sum has the less reliable source. */
export function addUsage(first: CardTokenUsage | undefined, second: CardTokenUsage): CardTokenUsage {
  if (!first) return second;
  const sum: CardTokenUsage = {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    source:
      USAGE_SOURCES[Math.min(USAGE_SOURCES.indexOf(first.source), USAGE_SOURCES.indexOf(second.source))] ??
      "none",
  };
  for (const name of ["cached_input_tokens", "reasoning_output_tokens"] as const) {
    if (first[name] !== undefined || second[name] !== undefined)
      sum[name] = (first[name] ?? 0) + (second[name] ?? 0);
  }
  return sum;
}

/** Returns the sum of input and output tokens, or 0 if the usage is unknown. */
export function sumInputAndOutputTokens(usage: CardTokenUsage | undefined): number {
  return usage ? usage.input_tokens + usage.output_tokens : 0;
}
