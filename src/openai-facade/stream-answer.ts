import { exchangeMessage, type A2AClient } from "../client/index.ts";
import { AnswerAccumulator } from "./answer-accumulator.ts";
import { buildTranscriptParts, extractNewParts, type ChatRequest } from "./chat-request.ts";
import type { ConversationIndex } from "./conversation-index.ts";

/** One turn of a chat with an agent. */
export interface ChatTurn {
  readonly client: A2AClient;
  readonly caller: string;
  readonly request: ChatRequest;
  readonly conversations: ConversationIndex;
  /** Under which the agent knows a message that comes twice. */
  readonly messageId: string | undefined;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
}

/** Says what is new to the agent, and gives what it answers, piece by piece; the first, which may be empty, once it has taken it. */
export async function* streamAnswer(
  turn: ChatTurn,
  answer: AnswerAccumulator,
): AsyncGenerator<string, void, undefined> {
  const { client, caller, request, conversations, messageId, signal } = turn;
  const { model, user, messages, metadata, cancelOnDisconnect } = request;
  const scope = { caller, user, model };
  const hasExplicitIds = request.contextId !== undefined || request.taskId !== undefined;
  const foundIds = hasExplicitIds ? undefined : await conversations.take(scope, messages);
  const ids = hasExplicitIds ? request : foundIds;
  const parts = ids ? extractNewParts(messages) : buildTranscriptParts(messages);
  let hasCompleted = false;
  try {
    if (ids?.taskId !== undefined)
      answer.skipExistingArtifacts(await client.tasks.get(ids.taskId, { signal }));
    const options = {
      signal,
      ...(ids?.contextId === undefined ? {} : { contextId: ids.contextId }),
      ...(ids?.taskId === undefined ? {} : { taskId: ids.taskId }),
      ...(messageId === undefined ? {} : { messageId }),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    };
    // The task of a client that has left goes on, as with A2A's own clients, unless they have said that it is not to.
    const events = cancelOnDisconnect
      ? exchangeMessage(client, parts, options)
      : client.stream(parts, options);
    for await (const event of events) {
      yield answer.addEvent(event);
      if (answer.isFinished) break;
    }
    const finalText = answer.finish();
    hasCompleted = true;
    if (finalText !== "") yield finalText;
  } finally {
    // Refused, for example because too much is going on; whoever asks again goes on where they were.
    if (foundIds && !hasCompleted && answer.contextId === undefined)
      await conversations.restore(scope, messages, foundIds);
  }
  const { contextId, taskId, isWaitingForUser: isQuestion } = answer;
  if (contextId === undefined) return;
  await conversations.save(scope, messages, answer.text, {
    contextId,
    taskId: isQuestion ? taskId : undefined,
  });
}
