import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/**
 * One message between two roles: six members and nothing else, under the names that they have in JSON. What else there
 * is to say of a card is in its metadata.
 */
export interface MessageCard<Type extends string = string, Own extends object = object> {
  /** The role that sends it. */
  readonly sender: string;
  /** The role that it is for. */
  readonly recipient: string;
  readonly message_type: Type;
  /** The task, the answer, the question, the action or what went wrong, in words. */
  readonly content: string;
  readonly metadata: Readonly<CardMetadata & Own>;
  /** When it was sent: ISO 8601, of ours always in UTC with milliseconds. `parseCardTime` reads every form. */
  readonly timestamp: string;
}

/** What the metadata of every card may have. It is open: other members are kept. */
export interface CardMetadata {
  // With undefined, because compilers without exactOptionalPropertyTypes read it into the members below.
  [member: string]: JsonValue | undefined;
  /** Names the card. */
  card_id?: string;
  /** The run that it belongs to, and the problem within it. */
  run_id?: string;
  sample_id?: string;
  /** The `card_id` that it replies to. */
  in_reply_to?: string;
  /** The turn of the planner, from 1. */
  turn?: number;
  dataset?: string;
  /** Input and output tokens of the model calls that produced the card; with `usage`, their sum. */
  tokens?: number;
  usage?: CardTokenUsage;
  model?: string;
  /** What the sender spent on producing it, by a clock that never goes back. */
  duration_ms?: number;
  /** Which try it is, from 1. */
  attempt?: number;
}

/** Tokens of the model calls that produced a card. A `type`, because only those are JSON objects by their shape. */
export type CardTokenUsage = {
  input_tokens: number;
  output_tokens: number;
  /** Of the input tokens, those that came from a cache. */
  cached_input_tokens?: number;
  /** Of the output tokens, those that were thought and not said. */
  reasoning_output_tokens?: number;
  /** Where the figures come from: the model's provider, an estimate, or nowhere (then they are 0). */
  source: "reported" | "estimated" | "none";
};

export interface TaskCardMetadata {
  /** What the recipient needs to know beside the task. */
  context?: JsonObject;
  /** The runtime sent it, although the planner wanted to answer at once. */
  forced?: boolean;
}

/** `success`: a task was done; `completed`: the whole problem; `partial`: as far as it came; `error`: not at all. */
export type ResultCardStatus = "success" | "completed" | "error" | "partial";

export interface ResultCardMetadata {
  status: ResultCardStatus;
  /** The option chosen, where it answers a query. */
  selected?: string | string[];
}

export interface QueryCardMetadata {
  options?: string[];
  /** More than one option may be chosen. */
  multiple?: boolean;
}

export interface ControlCardMetadata {
  parameters?: JsonObject;
}

/** What goes wrong in a run of ours. Others may have types of their own. */
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

export interface ErrorCardMetadata {
  // The intersection keeps the names of ours for whoever completes them in an editor.
  error_type: CoreCardErrorType | (string & {});
  /** The same again may succeed. */
  retryable?: boolean;
  /** The failure mode by the MAST taxonomy, for example `1.3`. */
  failure_mode?: string;
}

export type TaskCard = MessageCard<"task", TaskCardMetadata>;
export type ResultCard = MessageCard<"result", ResultCardMetadata>;
export type QueryCard = MessageCard<"query", QueryCardMetadata>;
/** `content` is the action: `stop`, or what else the roles agree on. */
export type ControlCard = MessageCard<"control", ControlCardMetadata>;
export type ErrorCard = MessageCard<"error", ErrorCardMetadata>;

/** The five types that there are without a registry. */
export type CoreCard = TaskCard | ResultCard | QueryCard | ControlCard | ErrorCard;

/** The time of a card in milliseconds since 1970; a time without a zone is in UTC. `NaN` for what is no time. */
export function parseCardTime({ timestamp }: Pick<MessageCard, "timestamp">): number {
  const [, date = "", day = "", time = "", zone = "Z"] = TIMESTAMP_PATTERN.exec(timestamp) ?? [];
  const ms = Date.parse(`${date}-${day}T${time}${zone.toUpperCase()}`);
  // Date.parse takes the 30th of February for the 2nd of March.
  return new Date(Date.parse(`${date}-${day}T00:00:00Z`)).getUTCDate() === Number(day) ? ms : Number.NaN;
}

const TIMESTAMP_PATTERN =
  /^(\d{4}-\d{2})-(\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)([Zz]|[+-]\d{2}:\d{2})?$/;
