import { isTerminal, type Task } from "../../protocol/index.ts";
import type { IdGenerator } from "../id-generator.ts";
import type { FollowedTask } from "./followed-task.ts";
import { FollowedTurn } from "./followed-turn.ts";
import type { NodeLink } from "./node-link.ts";
import {
  encodeCancelRequest,
  encodeMessageRequest,
  throwErrorOfAnswer,
  type CancelPayload,
  type MessageAnswer,
  type MessagePayload,
} from "./request-payload.ts";

/** Result of a message that the node with the running turn has accepted. */
export type ForwardedMessageResult =
  | { readonly feed: FollowedTask; readonly turn: FollowedTurn; readonly isQueued: boolean }
  | { readonly feed: FollowedTask; readonly seq: number };

/**
 * Requests to the node that runs the turn of a task. Each function resolves with `undefined` if the turn has ended
 * without an answer. The caller must keep the followed task until then.
 */
export class OwnerRequests {
  readonly #link: NodeLink;
  readonly #generateId: IdGenerator;

  constructor(link: NodeLink, generateId: IdGenerator) {
    this.#link = link;
    this.#generateId = generateId;
  }

  /** Cancels a task, and resolves with the task once its last event is committed. */
  async cancelTask(task: FollowedTask, payload: CancelPayload): Promise<Task | undefined> {
    if (isTerminal(task.state)) return undefined;
    const request = encodeCancelRequest(this.#generateId(), task.scope, task.taskId, payload);
    const answer = await this.#link.sendRequest(task, request);
    if (answer) throwErrorOfAnswer(answer);
    await this.#link.logs.refresh(task);
    return isTerminal(task.state) ? task.getSnapshot() : undefined;
  }

  /** Sends a message to the running turn, to the queue of the task, or to the next turn, as the agent declares. */
  async sendMessage(
    task: FollowedTask,
    payload: MessagePayload,
  ): Promise<ForwardedMessageResult | undefined> {
    const { scope, taskId, contextId } = task;
    // Follow the turn before the other node can begin it.
    const turn = new FollowedTurn({ ...payload.request.message, taskId, contextId });
    task.followTurn(turn);
    try {
      const request = encodeMessageRequest(this.#generateId(), scope, taskId, payload);
      const encoded = await this.#link.sendRequest(task, request);
      if (encoded) throwErrorOfAnswer(encoded);
      const answer = encoded as MessageAnswer | undefined;
      if (answer?.seq !== undefined && task.seq < answer.seq) await this.#link.logs.refresh(task);
      const isQueued = answer?.action === "queue";
      // The turn can begin and even end before this node has read the answer.
      if (turn.hasBegun ? answer?.action !== "deliver" : isQueued) return { feed: task, turn, isQueued };
      task.unfollowTurn(turn);
      return answer && { feed: task.retain(), seq: answer.seq ?? task.seq };
    } catch (error) {
      task.unfollowTurn(turn);
      throw error;
    }
  }
}
