import { isTerminal, type StreamResponse, type Task } from "../../protocol/index.ts";
import { delay } from "../http/abortable-waits.ts";
import { Backoff, isRetryable, type RetryOptions } from "./retry.ts";

/** Delay in milliseconds before the first poll, and after a change of the task. */
const FIRST_POLL_DELAY_MS = 100;
/** The delay doubles after each poll without a change, up to this limit in milliseconds. */
const MAX_POLL_DELAY_MS = 5_000;

/**
 * Polls a task of an agent that does not support streaming (A2A §3.3.4). Yields the complete task after each change. If
 * the agent requests a delay with `Retry-After`, the next poll waits for the delay, up to five minutes. `reconnect`
 * contains the attempts and delays while the agent is unreachable or overloaded.
 */
export async function* pollTask(
  read: () => Promise<Task>,
  signal: AbortSignal | undefined,
  reconnect: RetryOptions = {},
): AsyncGenerator<StreamResponse & { task: Task }, void, undefined> {
  const { sleep = delay } = reconnect;
  const backoff = new Backoff(reconnect);
  let lastSeen: string | undefined;
  let delayMs = FIRST_POLL_DELAY_MS;
  for (;;) {
    if (lastSeen !== undefined) await sleep(delayMs, signal);
    let task: Task;
    try {
      task = await read();
    } catch (error) {
      if (!isRetryable(error) || !(await backoff.waitForRetry(error, signal))) throw error;
      continue;
    }
    backoff.reset();
    const serialized = JSON.stringify(task);
    delayMs = Math.min(delayMs * 2, MAX_POLL_DELAY_MS);
    if (serialized !== lastSeen) {
      yield { task };
      delayMs = FIRST_POLL_DELAY_MS;
      lastSeen = serialized;
    }
    if (isTerminal(task.status.state)) return;
  }
}
