import type { JsonValue } from "../../protocol/index.ts";
import type { CardTokenUsage, MessageCard } from "../message-card/index.ts";

/** IDs of the request that carried a message card. */
export interface CardA2ARequestInfo {
  readonly task_id?: string;
  readonly context_id?: string;
  /** W3C `traceparent` of the request that carried the message card. */
  readonly traceparent?: string;
}

/** A message card that one role sent, received, or relayed. */
export interface CardRecordInput {
  readonly run_id: string;
  readonly sample_id?: string;
  /**
   * Direction of the message card, which is `out` if `at_role` sent the card, and `in` if `at_role` received
   * it. The direction is `relayed` if another role forwarded the card to `at_role`.
   */
  readonly dir: "out" | "in" | "relayed";
  readonly at_role: string;
  readonly a2a?: CardA2ARequestInfo;
  readonly card: MessageCard;
}

/** A call of a role to its model. */
export interface ModelCallRecordInput {
  readonly run_id: string;
  readonly sample_id?: string;
  readonly role: string;
  readonly turn?: number;
  /** ID of the A2A task in which the role called the model. */
  readonly task_id?: string;
  /** `card_id` of the message card whose token usage includes this model call. */
  readonly card_id: string;
  readonly model: string;
  readonly usage: CardTokenUsage;
  readonly duration_ms: number;
  /** Finish reason that the model reported, such as `stop`, `length`, or `error`. */
  readonly finish: string;
  readonly prompt?: JsonValue;
  readonly reply?: string;
  /** Error message of a failed model call. */
  readonly error?: string;
  /** Time in milliseconds after which the role repeated a failed model call. */
  readonly wait_ms?: number;
  /** Faults that a test injected into the call. */
  readonly injected_faults?: readonly string[];
}

/** A recorder that roles use to report message cards and model calls. A recorder never waits and never throws. */
export interface CardRecorder {
  recordCard(input: CardRecordInput): void;
  recordModelCall(input: ModelCallRecordInput): void;
}
