import { sendAndStreamUntilTurnEnd, type A2AClient } from "../../client/index.ts";
import { AnswerAccumulator } from "./answer-accumulator.ts";
import { buildTranscriptParts, extractNewParts, type ChatRequest } from "./chat-request.ts";
import type { ConversationIndex } from "./conversation-index.ts";

/** A chat request to one agent. */
interface AgentChatRequest {
  readonly client: A2AClient;
  readonly caller: string;
  readonly request: ChatRequest;
  readonly conversations: ConversationIndex;
  /** Message id that the agent uses to detect repeated messages. */
  readonly messageId: string | undefined;
  /** The signal that aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * Sends the new chat messages to the agent and yields the text of the answer in pieces. The first piece of
 * text, which may be empty, is yielded once the agent has accepted the message.
 */
export async function* sendChatAndStreamAnswerText(
  turn: AgentChatRequest,
  answer: AnswerAccumulator,
): AsyncGenerator<string, void, undefined> {
  const { client, caller, request, conversations, messageId, signal } = turn;
  const { model, user, messages, metadata, cancelOnDisconnect } = request;
  const scope = { caller, user, model };
  const hasExplicitIds = request.contextId !== undefined || request.taskId !== undefined;
  const foundIds = hasExplicitIds ? undefined : await conversations.takeIds(scope, messages, messageId);
  const ids = hasExplicitIds ? request : foundIds;
  const parts = ids ? extractNewParts(messages) : buildTranscriptParts(messages);
  let hasCompleted = false;
  try {
    if (ids?.taskId !== undefined) {
      const task = await client.tasks.get(ids.taskId, { signal });
      // After a repeated message, the artifacts already contain the answer.
      if (!task.history?.some((message) => message.messageId === messageId))
        answer.skipExistingArtifacts(task);
    }
    const options = {
      signal,
      ...(ids?.contextId === undefined ? {} : { contextId: ids.contextId }),
      ...(ids?.taskId === undefined ? {} : { taskId: ids.taskId }),
      ...(messageId === undefined ? {} : { messageId }),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    };
    // As with A2A clients, the task continues after the client disconnects, unless the request asked for
    // cancellation.
    const events = cancelOnDisconnect
      ? sendAndStreamUntilTurnEnd(client, parts, options)
      : client.stream(parts, options);
    for await (const event of events) {
      yield answer.addEvent(event);
      if (answer.isFinished) break;
    }
    const finalText = answer.finishAndGetRemainingText();
    hasCompleted = true;
    if (finalText !== "") yield finalText;
  } finally {
    // The agent rejected the message, for example because it is overloaded. A retry can continue the same
    // conversation.
    if (foundIds && !hasCompleted && answer.contextId === undefined)
      await conversations.putBackIds(scope, messages, messageId, foundIds);
  }
  const { contextId, taskId, isWaitingForUser: isQuestion } = answer;
  if (contextId === undefined) return;
  await conversations.saveIds(scope, messages, answer.text, {
    contextId,
    taskId: isQuestion ? taskId : undefined,
  });
}
