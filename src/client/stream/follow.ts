import { A2AError, type StreamResponse } from "../../protocol/index.ts";
import type { Call } from "../transport/http.ts";
import { type Beginning, Place } from "./place.ts";
import { Backoff, isPassing, type Reconnect } from "./reconnect.ts";
import { subscribe } from "./subscribe.ts";
import type { Received, Transport } from "../transport/transport.ts";

/**
 * A stream that survives cuts. "Cut" is not "ended": a stream has ended when its task has, or waits for its user, or
 * when the agent answered with a message. Anything else that stops it is a cut, after which it goes on with
 * SubscribeToTask behind the last event id. A server that ignores the id sends the whole task first, which is passed
 * on; of a task that has ended meanwhile the whole task is the last event. Cut before the first event, the same
 * message is sent again under the same id, which an agent that deduplicates (Colloquy does) takes only once.
 * When no try gets anywhere, rejects with UNAVAILABLE and `metadata` that has `taskId` and `lastEventId`.
 */
export async function* follow(
  transport: Transport,
  beginning: Beginning,
  call: Call,
  reconnect: Reconnect,
): AsyncGenerator<StreamResponse, void, undefined> {
  const place = new Place(beginning);
  const backoff = new Backoff(reconnect);
  for (;;) {
    let cut: A2AError;
    let isOver = false;
    try {
      const isResumed = "send" in beginning && place.taskId !== undefined;
      for await (const received of open(transport, beginning, place, call)) {
        if (place.advance(received)) backoff.progress();
        yield received.event;
        isOver ||= received.isLast === true;
        // A subscription stays open behind a question; the stream that it stands in for would not.
        if (isResumed && place.isOver) return;
      }
      if (isOver || place.isComplete) return;
      cut = new A2AError("UNAVAILABLE", "the agent ended the stream before the task had ended");
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (place.isOver) return;
      cut = error;
    }
    if (!(await backoff.next(cut, call.signal))) throw lost(place, cut, backoff.failures);
    if (place.taskId === undefined) place.resend();
  }
}

function open(
  transport: Transport,
  beginning: Beginning,
  { taskId, lastEventId }: Place,
  call: Call,
): AsyncIterable<Received> {
  if (taskId !== undefined) {
    const { tenant } = "send" in beginning ? beginning.send : beginning.subscribe;
    const params = tenant === undefined ? { id: taskId } : { id: taskId, tenant };
    return subscribe(transport, params, call, lastEventId);
  }
  // Only a message can begin without a task.
  const { send } = beginning as Extract<Beginning, { send: unknown }>;
  return transport.stream("SendStreamingMessage", send, call);
}

function lost({ taskId, lastEventId }: Place, cut: A2AError, tries: number): A2AError {
  const metadata: Record<string, string> = {};
  if (taskId !== undefined) metadata["taskId"] = taskId;
  if (lastEventId !== undefined) metadata["lastEventId"] = lastEventId;
  const [which, what] =
    taskId === undefined
      ? ["The stream", "the message may or may not have arrived; send it again with the same messageId"]
      : [`The stream of task ${taskId}`, "the task may go on without us; subscribe to it again, or get it"];
  const message = `${which} was cut, and ${tries} tries to resume it failed (${cut.message}); ${what}.`;
  return new A2AError("UNAVAILABLE", message, { metadata, cause: cut });
}
