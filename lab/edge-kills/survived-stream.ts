import type { Task } from "../../src/protocol/index.ts";
import { createUserMessage, STREAM_REQUESTS } from "../../test/support/http-bindings.ts";
import { readSseStream, type SseFrame } from "../../test/support/raw-stream.ts";
import { isTerminalEvent } from "../../test/resilience/cut-streams.ts";
import type { RunningAgentHost } from "./running-agent-host.ts";

const { send, subscribe, event } = STREAM_REQUESTS["HTTP+JSON"];
const RETRY_DELAY_MS = 300;

/** A stream that a client has read to its end, although the server was killed meanwhile. */
export interface SurvivedStream {
  readonly taskId: string;
  readonly frames: readonly SseFrame[];
  readonly resumptions: number;
}

/** Sends a message and reads its events. Resumes after the last event until the task has ended or `signal` aborts. */
export async function readSurvivingStream(
  host: RunningAgentHost,
  { agentPath, object, messageId }: { agentPath: string; object: string; messageId: string },
  signal: AbortSignal,
): Promise<SurvivedStream> {
  const frames: SseFrame[] = [];
  let taskId = "";
  for (let resumptions = 0; ; resumptions++) {
    signal.throwIfAborted();
    try {
      const url = await host.resolveUrl(agentPath);
      const request =
        taskId === "" ? send(url, createUserMessage(messageId, "count")) : subscribe(url, taskId);
      const last = frames.at(-1);
      const headers = { "x-object": object, ...(last ? { "last-event-id": String(last.id) } : {}) };
      for await (const frame of readSseStream({ ...request, headers, signal })) {
        frames.push(frame);
        const received = event(frame.data);
        if ("task" in received) taskId = received.task.id;
      }
      const end = frames.at(-1);
      if (end && isTerminalEvent(event(end.data))) return { taskId, frames, resumptions };
    } catch {
      // The kill has broken the connection.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS));
  }
}

/** Reads a task of an object. */
export async function fetchTaskOfObject(
  host: RunningAgentHost,
  agentPath: string,
  object: string,
  taskId: string,
): Promise<Task> {
  const response = await fetch(await host.resolveUrl(`${agentPath}/tasks/${taskId}`), {
    headers: { "a2a-version": "1.0", "x-object": object },
  });
  return (await response.json()) as Task;
}
