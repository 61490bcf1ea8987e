import { exchange, type Remote } from "../client/index.ts";
import { Answer } from "./answer.ts";
import { saidAtAll, saidNow, type ChatRequest } from "./chat-request.ts";
import type { Threads } from "./threads.ts";

/** One turn of a chat with an agent. */
export interface ChatTurn {
  readonly remote: Remote;
  readonly caller: string;
  readonly request: ChatRequest;
  readonly threads: Threads;
  /** Under which the agent knows a message that comes twice. */
  readonly messageId: string | undefined;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
}

/** Says what is new to the agent, and gives what it answers, piece by piece; the first, which may be empty, once it has taken it. */
export async function* speak(turn: ChatTurn, answer: Answer): AsyncGenerator<string, void, undefined> {
  const { remote, caller, request, threads, messageId, signal } = turn;
  const { model, user, messages, metadata, cancelOnLeave } = request;
  const party = { caller, user, model };
  const isPlaced = request.contextId !== undefined || request.taskId !== undefined;
  const taken = isPlaced ? undefined : await threads.take(party, messages);
  const thread = isPlaced ? request : taken;
  const parts = thread ? saidNow(messages) : saidAtAll(messages);
  let isDone = false;
  try {
    if (thread?.taskId !== undefined) answer.knows(await remote.task.get(thread.taskId, { signal }));
    const options = {
      signal,
      ...(thread?.contextId === undefined ? {} : { contextId: thread.contextId }),
      ...(thread?.taskId === undefined ? {} : { taskId: thread.taskId }),
      ...(messageId === undefined ? {} : { messageId }),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    };
    // The task of a client that has left goes on, as with A2A's own clients, unless they have said that it is not to.
    const said = cancelOnLeave ? exchange(remote, parts, options) : remote.stream(parts, options);
    for await (const event of said) {
      yield answer.hear(event);
      if (answer.isOver) break;
    }
    const last = answer.end();
    isDone = true;
    if (last !== "") yield last;
  } finally {
    // Refused, for example because too much is going on; whoever asks again goes on where they were.
    if (taken && !isDone && answer.contextId === undefined) await threads.giveBack(party, messages, taken);
  }
  const { contextId, taskId, isQuestion } = answer;
  if (contextId === undefined) return;
  await threads.keep(party, messages, answer.text, { contextId, taskId: isQuestion ? taskId : undefined });
}
