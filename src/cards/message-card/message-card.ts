import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/**
 * A message card, which is a message between two roles. A message card has exactly six members, with the same
 * names in TypeScript and in JSON. The member `metadata` contains all additional information about a message
 * card.
 */
export interface MessageCard<Type extends string = string, Own extends object = object> {
  /** Role that sends the message card. */
  readonly sender: string;
  /** Role that receives the message card. */
  readonly recipient: string;
  readonly message_type: Type;
  /**
   * Text of the message card, such as the task, the answer, the question, the action, or the error
   * description.
   */
  readonly content: string;
  readonly metadata: Readonly<CardMetadata & Own>;
  /**
   * Time when the message card was sent, in ISO 8601 format. Colloquy always writes timestamps in UTC with
   * milliseconds. To parse the timestamp, use `parseCardTime`.
   */
  readonly timestamp: string;
}

/** Metadata members that every message card may have. The parser keeps additional metadata members. */
export interface CardMetadata {
  // The value type includes `undefined`, because the optional members do so without
  // exactOptionalPropertyTypes.
  [member: string]: JsonValue | undefined;
  /** ID of the message card. */
  card_id?: string;
  /** ID of the experiment run that the message card belongs to. */
  run_id?: string;
  /** ID of the problem within the experiment run. */
  sample_id?: string;
  /** `card_id` of the message card that this card replies to. */
  in_reply_to?: string;
  /** Number of the planner's turn, starting at 1. */
  turn?: number;
  dataset?: string;
  /** Total number of input and output tokens in the model calls that produced the message card. */
  tokens?: number;
  usage?: CardTokenUsage;
  model?: string;
  /** Time that the sender worked on the message card, in milliseconds. The sender uses a monotonic clock. */
  duration_ms?: number;
  /** Attempt number of the subtask, starting at 1. */
  attempt?: number;
  /** Failed tries of the model calls that produced the message card, in order. */
  failed_tries?: FailedTry[];
}

/**
 * A failed try of a model call: a call that the role repeated, or a reply that the role rejected. `FailedTry`
 * is a type alias, because TypeScript cannot assign an interface to a JSON object type.
 */
export type FailedTry = {
  /** `model_error` if the call failed, and `unusable_reply` if the role rejected the reply. */
  reason: "model_error" | "unusable_reply";
  /** Error message of the call, or the reason why the reply is unusable. */
  error: string;
  /** HTTP status of the model provider's response, such as 429. */
  http_status?: number;
  /** Time in milliseconds that the role waited before the next try. */
  wait_ms: number;
  /** Beginning of the unusable reply. */
  text?: string;
};

/**
 * Token counts of the model calls that produced a message card. `CardTokenUsage` is a type alias, because
 * TypeScript cannot assign an interface to a JSON object type.
 */
export type CardTokenUsage = {
  input_tokens: number;
  output_tokens: number;
  /** Input tokens that the provider read from a cache. */
  cached_input_tokens?: number;
  /** Output tokens that the model used for reasoning. */
  reasoning_output_tokens?: number;
  /**
   * Source of the token counts, which is the model provider (`reported`), an estimate (`estimated`), or
   * unknown (`none`). If the source is unknown, all token counts are 0.
   */
  source: "reported" | "estimated" | "none";
};

/** Metadata of a task card. */
export interface TaskCardMetadata {
  /** Information that the recipient needs in addition to the task text. */
  context?: JsonObject;
  /** Whether the runtime sent the task to a solver although the planner wanted to answer immediately. */
  forced?: boolean;
}

/**
 * Status of a task's result. The status is `success` if the task is solved, and `completed` if the entire
 * problem is solved. An incomplete result has the status `partial`, and `error` means that no result exists.
 */
export type ResultCardStatus = "success" | "completed" | "error" | "partial";

/** Metadata of a result card. */
export interface ResultCardMetadata {
  status: ResultCardStatus;
  /** Query option, or list of options, that the reply selects. */
  selected?: string | string[];
}

/** Metadata of a query card. */
export interface QueryCardMetadata {
  options?: string[];
  /** Whether the reply to a query may select several options. */
  multiple?: boolean;
}

/** Metadata of a control card. */
export interface ControlCardMetadata {
  parameters?: JsonObject;
}

/** Types of error cards that Colloquy creates. Custom roles may define additional error types. */
export type CoreCardErrorType =
  | "timeout"
  | "turn_limit"
  | "token_budget"
  | "invalid_action"
  | "no_answer"
  | "placeholder"
  | "truncated"
  | "filtered"
  | "solver_failed"
  | "model_error"
  | "transport_error"
  | "protocol_violation"
  | "cancelled";

/** Metadata of an error card. */
export interface ErrorCardMetadata {
  // The intersection with `{}` keeps the completion of the core types in editors.
  error_type: CoreCardErrorType | (string & {});
  /** Whether the task may succeed if the requester sends the task again. */
  retryable?: boolean;
  /** Identifier of a failure mode in the MAST taxonomy, for example `1.3`. */
  failure_mode?: string;
  /** HTTP status of the model provider's response, if the provider caused the error. */
  http_status?: number;
}

/** A message card that delegates a task. */
export type TaskCard = MessageCard<"task", TaskCardMetadata>;
/** A message card that contains the result of a task. */
export type ResultCard = MessageCard<"result", ResultCardMetadata>;
/** A message card that contains a question. */
export type QueryCard = MessageCard<"query", QueryCardMetadata>;
/**
 * A message card that controls a running task. The `content` of a control card is an action such as `stop`.
 */
export type ControlCard = MessageCard<"control", ControlCardMetadata>;
/** A message card that reports an error. An error card that replies to a task ends the task. */
export type ErrorCard = MessageCard<"error", ErrorCardMetadata>;

/**
 * Returns the time of a message card in milliseconds since 1970, or `NaN` if the timestamp is invalid. The
 * parser interprets timestamps without a time zone as UTC.
 */
export function parseCardTime({ timestamp }: Pick<MessageCard, "timestamp">): number {
  const [, date = "", day = "", time = "", zone = "Z"] = TIMESTAMP_PATTERN.exec(timestamp) ?? [];
  const ms = Date.parse(`${date}-${day}T${time}${zone.toUpperCase()}`);
  // `Date.parse` accepts February 30 and returns March 2.
  return new Date(Date.parse(`${date}-${day}T00:00:00Z`)).getUTCDate() === Number(day) ? ms : Number.NaN;
}

const TIMESTAMP_PATTERN =
  /^(\d{4}-\d{2})-(\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)([Zz]|[+-]\d{2}:\d{2})?$/;
