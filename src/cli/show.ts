import type { StreamResponse, Task, TaskStatus } from "../protocol/index.ts";
import { gaveUp, type Call } from "./command.ts";
import { commandLine } from "./invocation.ts";
import type { ClientOptions } from "./options.ts";
import { remark, untilSettled } from "./settle.ts";

/**
 * Shows a stream as it comes, and at its end which task it was and how it stands. `known`: it begins with a task whose
 * past the user has seen.
 */
export async function show(
  stream: AsyncIterable<StreamResponse>,
  call: Call<ClientOptions>,
  known = false,
): Promise<void> {
  const { output, ref, signal } = call;
  let seen: (Pick<Task, "id" | "contextId"> & { status: TaskStatus }) | undefined;
  try {
    for await (const event of untilSettled(stream, known)) {
      if (known && !seen) output.resumed(event);
      else output.event(event);
      if ("task" in event) seen = event.task;
      else if ("statusUpdate" in event) {
        const { taskId, contextId, status } = event.statusUpdate;
        seen = { id: taskId, contextId, status };
      }
    }
  } catch (error) {
    if (seen && signal.aborted) throw gaveUp(call, error, commandLine("task", "subscribe", ref, seen.id));
    throw error;
  }
  if (!seen) return;
  output.endOfStream({ id: seen.id, contextId: seen.contextId, state: seen.status.state });
  remark(output, ref, seen);
}
