import {
  type MessageCard,
  CONTROLLER,
  type ErrorCard,
  type CardRecorder,
  type ResultCard,
} from "../../cards/index.ts";

/**
 * The reply says nothing of the method: a model or an agent could not be had, or somebody other than the run stopped it.
 * The same again, later, may be answered.
 */
export function isUnreachable({ message_type, metadata }: ResultCard | ErrorCard): boolean {
  const { error_type, retryable } = metadata as { error_type?: unknown; retryable?: unknown };
  // Also of a planner that still had something: it was not given its time.
  if (error_type === "cancelled") return true;
  if (message_type !== "error" || retryable !== true) return false;
  return error_type === "model_error" || error_type === "transport_error";
}

interface SampleSubtasks {
  /** What the tasks ask that were delegated, by their ids. A task that is tried again asks the same. */
  readonly keyByCardId: Map<string, string>;
  /** What nobody could be reached for, and why. */
  readonly failureReasons: Map<string, string>;
}

/**
 * Passes on what is recorded, and notes for each problem whether a subtask came to nothing, in all of its tries, because
 * whoever was to do it was out of reach. A planner makes the best of that; its answer is none of the method's.
 */
export class UnreachableSubtaskRecorder implements CardRecorder {
  readonly #recorder: CardRecorder;
  readonly #subtasksBySample = new Map<string, SampleSubtasks>();

  constructor(recorder: CardRecorder) {
    this.#recorder = recorder;
  }

  recordCard: CardRecorder["recordCard"] = (record) => {
    this.#recorder.recordCard(record);
    if (record.sample_id !== undefined) this.#noteCard(record.sample_id, record.card);
  };

  recordModelCall: CardRecorder["recordModelCall"] = (record) => this.#recorder.recordModelCall(record);

  /** Why, when there is such a subtask. The problem is forgotten then. */
  takeFailureReason(sampleId: string): string | undefined {
    const [reason] = this.#subtasksBySample.get(sampleId)?.failureReasons.values() ?? [];
    this.#subtasksBySample.delete(sampleId);
    return reason;
  }

  #noteCard(sampleId: string, card: MessageCard): void {
    const { sender, recipient, message_type, metadata, content } = card;
    if (message_type === "task") {
      if (sender === CONTROLLER || metadata.card_id === undefined) return;
      const subtasks = this.#subtasksBySample.get(sampleId) ?? {
        keyByCardId: new Map(),
        failureReasons: new Map(),
      };
      this.#subtasksBySample.set(sampleId, subtasks);
      subtasks.keyByCardId.set(metadata.card_id, JSON.stringify([recipient, metadata.turn, content]));
      return;
    }
    if (message_type !== "result" && message_type !== "error") return;
    const subtasks = this.#subtasksBySample.get(sampleId);
    const subtaskKey = subtasks?.keyByCardId.get(metadata.in_reply_to ?? "");
    if (!subtasks || subtaskKey === undefined) return;
    if (isUnreachable(card as ResultCard | ErrorCard)) subtasks.failureReasons.set(subtaskKey, content);
    else subtasks.failureReasons.delete(subtaskKey);
  }
}
