import type { JsonObject } from "../../protocol/index.ts";
import type { TaskScope } from "../caller.ts";
import { getMessageAction, type InboundMessage, type MessageAcceptResult } from "../task-feed.ts";
import type { RunnerRegistry } from "../runner-registry.ts";
import type { TaskCanceler } from "../task-canceler.ts";
import type { TaskRequest } from "./node-store.ts";
import { decodeCancelRequest, decodeMessageRequest, type MessageAnswer } from "./request-payload.ts";

export interface TaskRequestDependencies {
  readonly runners: Pick<RunnerRegistry, "findLive">;
  /** Returns true if this node has claimed the task, and starts its turn later. */
  readonly isWaitingSuspect: (scope: TaskScope, taskId: string) => boolean;
  readonly messageAcceptor: {
    acceptMessage(inbound: InboundMessage): MessageAcceptResult | Promise<MessageAcceptResult>;
  };
  readonly canceler: Pick<TaskCanceler, "cancelIfUnfinished">;
}

/**
 * Answers a request of another node for a task whose turn this node runs. Resolves with `undefined` if this node does
 * not run the turn, or not yet.
 */
export async function answerTaskRequest(
  taskRequest: TaskRequest,
  { runners, isWaitingSuspect, messageAcceptor, canceler }: TaskRequestDependencies,
): Promise<JsonObject | undefined> {
  const { scope, taskId, kind } = taskRequest;
  const runner = runners.findLive(scope, taskId);
  const isRunning = runner?.hasUnfinishedTurn === true && !runner.isAwaitingRecovery;
  if (!isRunning && !(kind === "cancel" && isWaitingSuspect(scope, taskId))) return undefined;
  if (kind === "cancel") {
    await canceler.cancelIfUnfinished(scope, taskId, decodeCancelRequest(taskRequest));
    return {};
  }
  const accepted = await messageAcceptor.acceptMessage({ scope, ...decodeMessageRequest(taskRequest) });
  if ("reply" in accepted) return undefined;
  const action = getMessageAction(accepted);
  if ("seq" in accepted) {
    accepted.feed.release();
    return { action, seq: accepted.seq } satisfies MessageAnswer;
  }
  if (accepted.isQueued) return { action } satisfies MessageAnswer;
  return { action, seq: await accepted.turn.durableSeq.promise } satisfies MessageAnswer;
}
