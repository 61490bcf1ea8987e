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
  const party = { caller, user, model };
  const isPlaced = request.contextId !== undefined || request.taskId !== undefined;
  const taken = isPlaced ? undefined : await conversations.take(party, messages);
  const thread = isPlaced ? request : taken;
  const parts = thread ? extractNewParts(messages) : buildTranscriptParts(messages);
  let isDone = false;
  try {
    if (thread?.taskId !== undefined)
      answer.skipExistingArtifacts(await client.tasks.get(thread.taskId, { signal }));
    const options = {
      signal,
      ...(thread?.contextId === undefined ? {} : { contextId: thread.contextId }),
      ...(thread?.taskId === undefined ? {} : { taskId: thread.taskId }),
      ...(messageId === undefined ? {} : { messageId }),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    };
    // The task of a client that has left goes on, as with A2A's own clients, unless they have said that it is not to.
    const said = cancelOnDisconnect ? exchangeMessage(client, parts, options) : client.stream(parts, options);
    for await (const event of said) {
      yield answer.addEvent(event);
      if (answer.isFinished) break;
    }
    const last = answer.finish();
    isDone = true;
    if (last !== "") yield last;
  } finally {
    // Refused, for example because too much is going on; whoever asks again goes on where they were.
    if (taken && !isDone && answer.contextId === undefined)
      await conversations.restore(party, messages, taken);
  }
  const { contextId, taskId, isWaitingForUser } = answer;
  if (contextId === undefined) return;
  await conversations.save(party, messages, answer.text, {
    contextId,
    taskId: isWaitingForUser ? taskId : undefined,
  });
}
