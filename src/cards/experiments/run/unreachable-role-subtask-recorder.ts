import {
  type MessageCard,
  CONTROLLER,
  type ErrorCard,
  type CardRecorder,
  type ResultCard,
} from "../../index.ts";
import { isConfigurationStatus } from "../../roles/index.ts";

/**
 * Returns whether a model provider rejected a request with a status such as 401 or 404. Every other request
 * would be rejected, too.
 */
export function isReplyOfMisconfiguredModel({ metadata }: ResultCard | ErrorCard): boolean {
  const { http_status } = metadata as { http_status?: unknown };
  return typeof http_status === "number" && isConfigurationStatus(http_status);
}

/**
 * Returns whether a model provider rejected the request for this problem, for example with status 400 because
 * of its content filter or because the prompt is too long.
 */
export function isReplyOfRejectedRequest({ message_type, metadata }: ResultCard | ErrorCard): boolean {
  const { http_status, retryable } = metadata as { http_status?: unknown; retryable?: unknown };
  return message_type === "error" && http_status !== undefined && retryable !== true;
}

/**
 * Returns whether a reply is invalid as a measurement, because a model or an agent was unreachable or the
 * work was canceled.
 */
export function isReplyOfUnreachableRole({ message_type, metadata }: ResultCard | ErrorCard): boolean {
  const { error_type, retryable } = metadata as { error_type?: unknown; retryable?: unknown };
  // This includes a canceled planner with a partial result, because it did not get its full time.
  if (error_type === "cancelled" || isReplyOfMisconfiguredModel({ message_type, metadata } as ErrorCard))
    return true;
  if (message_type !== "error" || retryable !== true) return false;
  return error_type === "model_error" || error_type === "transport_error";
}

interface SampleSubtasks {
  /**
   * Key of each delegated subtask, by the ID of the subtask's task card. All retries of a subtask have the
   * same key.
   */
  readonly keyByCardId: Map<string, string>;
  /** Reply to each subtask whose role was unreachable, by subtask key. */
  readonly failures: Map<string, ResultCard | ErrorCard>;
}

/**
 * A recorder that forwards all records to another recorder. For each problem, the recorder collects the
 * subtasks that failed because a role was unreachable. If a subtask failed because a role was unreachable,
 * the planner's answer is not a valid measurement of the method.
 */
export class UnreachableRoleSubtaskRecorder implements CardRecorder {
  readonly #recorder: CardRecorder;
  readonly #subtasksBySample = new Map<string, SampleSubtasks>();

  constructor(recorder: CardRecorder) {
    this.#recorder = recorder;
  }

  recordCard: CardRecorder["recordCard"] = (record) => {
    this.#recorder.recordCard(record);
    if (record.sample_id !== undefined) this.#updateSubtasksFromCard(record.sample_id, record.card);
  };

  recordModelCall: CardRecorder["recordModelCall"] = (record) => this.#recorder.recordModelCall(record);

  /**
   * Returns the reply to the first failed subtask and removes the problem from memory. The result is
   * `undefined` if no subtask failed.
   */
  takeSampleFailure(sampleId: string): ResultCard | ErrorCard | undefined {
    const [failure] = this.#subtasksBySample.get(sampleId)?.failures.values() ?? [];
    this.#subtasksBySample.delete(sampleId);
    return failure;
  }

  #updateSubtasksFromCard(sampleId: string, card: MessageCard): void {
    const { sender, recipient, message_type, metadata, content } = card;
    if (message_type === "task") {
      if (sender === CONTROLLER || metadata.card_id === undefined) return;
      const subtasks = this.#subtasksBySample.get(sampleId) ?? {
        keyByCardId: new Map(),
        failures: new Map(),
      };
      this.#subtasksBySample.set(sampleId, subtasks);
      subtasks.keyByCardId.set(metadata.card_id, JSON.stringify([recipient, metadata.turn, content]));
      return;
    }
    if (message_type !== "result" && message_type !== "error") return;
    const subtasks = this.#subtasksBySample.get(sampleId);
    const subtaskKey = subtasks?.keyByCardId.get(metadata.in_reply_to ?? "");
    if (!subtasks || subtaskKey === undefined) return;
    if (isReplyOfUnreachableRole(card as ResultCard | ErrorCard))
      subtasks.failures.set(subtaskKey, card as ResultCard | ErrorCard);
    else subtasks.failures.delete(subtaskKey);
  }
}
