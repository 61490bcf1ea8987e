import { isTerminal, type StreamResponse, type Task } from "../../protocol/index.ts";
import { type RetryOptions } from "./retry.ts";
import { delay } from "../http/abortable-waits.ts";

const TASK_POLL_INTERVAL_MS = 1_000;

/**
 * Polls a task of an agent that does not support streaming (A2A §3.3.4). Yields the complete task after each
 * change.
 */
export async function* pollTask(
  read: () => Promise<Task>,
  signal: AbortSignal | undefined,
  { sleep = delay }: RetryOptions,
): AsyncGenerator<StreamResponse, void, undefined> {
  let lastSeen = "";
  for (;;) {
    const task = await read();
    const serialized = JSON.stringify(task);
    if (serialized !== lastSeen) yield { task };
    if (isTerminal(task.status.state)) return;
    lastSeen = serialized;
    await sleep(TASK_POLL_INTERVAL_MS, signal);
  }
}
