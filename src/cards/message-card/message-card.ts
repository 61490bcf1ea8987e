import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/**
 * A message between two roles. It has exactly six members, under their JSON names.
 * All additional information is part of `metadata`.
 */
export interface MessageCard<Type extends string = string, Own extends object = object> {
  /** Role that sends the card. */
  readonly sender: string;
  /** Role that receives the card. */
  readonly recipient: string;
  readonly message_type: Type;
  /** Text of the card: the task, the answer, the question, the action, or the error description. */
  readonly content: string;
  readonly metadata: Readonly<CardMetadata & Own>;
  /**
   * Time of sending in ISO 8601. Colloquy always writes UTC with milliseconds. Use `parseCardTime` to parse
   * it.
   */
  readonly timestamp: string;
}

/** Metadata that every card may have. Parsing keeps additional members. */
export interface CardMetadata {
  // The value type includes `undefined`, because the optional members do so without
  // exactOptionalPropertyTypes.
  [member: string]: JsonValue | undefined;
  /** ID of the card. */
  card_id?: string;
  /** ID of the run that the card belongs to. */
  run_id?: string;
  /** ID of the problem within the run. */
  sample_id?: string;
  /** `card_id` of the card that this card replies to. */
  in_reply_to?: string;
  /** Turn of the planner, starting at 1. */
  turn?: number;
  dataset?: string;
  /** Sum of input and output tokens of the model calls that produced the card. */
  tokens?: number;
  usage?: CardTokenUsage;
  model?: string;
  /** Time in milliseconds that the sender spent on the card, measured by a monotonic clock. */
  duration_ms?: number;
  /** Number of the attempt, starting at 1. */
  attempt?: number;
}

/**
 * Tokens of the model calls that produced a card.
 * This is a `type`, because TypeScript does not treat interfaces as JSON objects.
 */
export type CardTokenUsage = {
  input_tokens: number;
  output_tokens: number;
  /** Input tokens that the provider read from a cache. */
  cached_input_tokens?: number;
  /** Output tokens that the model used for reasoning. */
  reasoning_output_tokens?: number;
  /** Source of the counts: the model provider, an estimate, or unknown. If unknown, all counts are 0. */
  source: "reported" | "estimated" | "none";
};

/** Metadata of a task card. */
export interface TaskCardMetadata {
  /** Information that the recipient needs in addition to the task text. */
  context?: JsonObject;
  /** Whether the runtime sent the task although the planner wanted to answer immediately. */
  forced?: boolean;
}

/**
 * Outcome of a task. `success` completes a task, `completed` the entire problem, `partial` a part of it, and
 * `error` nothing.
 */
export type ResultCardStatus = "success" | "completed" | "error" | "partial";

/** Metadata of a result card. */
export interface ResultCardMetadata {
  status: ResultCardStatus;
  /** Option or options that a reply to a query selects. */
  selected?: string | string[];
}

/** Metadata of a query card. */
export interface QueryCardMetadata {
  options?: string[];
  /** Whether the reply may select more than one option. */
  multiple?: boolean;
}

/** Metadata of a control card. */
export interface ControlCardMetadata {
  parameters?: JsonObject;
}

/** Error types that Colloquy itself sends. Your roles may define additional types. */
export type CoreCardErrorType =
  | "timeout"
  | "turn_limit"
  | "token_budget"
  | "invalid_action"
  | "solver_failed"
  | "model_error"
  | "transport_error"
  | "protocol_violation"
  | "cancelled";

/** Metadata of an error card. */
export interface ErrorCardMetadata {
  // The intersection with `{}` keeps the completion of the core types in editors.
  error_type: CoreCardErrorType | (string & {});
  /** Whether a retry of the same task may succeed. */
  retryable?: boolean;
  /** Failure mode of the MAST taxonomy, for example `1.3`. */
  failure_mode?: string;
}

/** A card that delegates a task. */
export type TaskCard = MessageCard<"task", TaskCardMetadata>;
/** A card that contains the result of a task. */
export type ResultCard = MessageCard<"result", ResultCardMetadata>;
/** A card that contains a question. */
export type QueryCard = MessageCard<"query", QueryCardMetadata>;
/** A control card. Its `content` is the action: `stop`, or another action that the roles agree on. */
export type ControlCard = MessageCard<"control", ControlCardMetadata>;
/** A card that reports an error. If it replies to a task, it ends the task. */
export type ErrorCard = MessageCard<"error", ErrorCardMetadata>;

/**
 * Returns the time of a card in milliseconds since 1970, or `NaN` if the timestamp is invalid.
 * A timestamp without a time zone is interpreted as UTC.
 */
export function parseCardTime({ timestamp }: Pick<MessageCard, "timestamp">): number {
  const [, date = "", day = "", time = "", zone = "Z"] = TIMESTAMP_PATTERN.exec(timestamp) ?? [];
  const ms = Date.parse(`${date}-${day}T${time}${zone.toUpperCase()}`);
  // `Date.parse` accepts February 30 and returns March 2.
  return new Date(Date.parse(`${date}-${day}T00:00:00Z`)).getUTCDate() === Number(day) ? ms : Number.NaN;
}

const TIMESTAMP_PATTERN =
  /^(\d{4}-\d{2})-(\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)([Zz]|[+-]\d{2}:\d{2})?$/;
