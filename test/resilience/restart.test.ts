import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.ts";
import { fold, isEventRefusal, getText, type StreamResponse, type Task } from "../../src/protocol/index.ts";
import { createTempFile, startChild } from "./child-process.ts";
import { findTestPort } from "../support/test-ports.ts";

const CHILD_SCRIPT = "restart-child.ts";
const REPORT = Array.from({ length: 40 }, (_, at) => `${at} `).join("");

/** Applies an event to the task, as a client does. */
function foldEvent(task: Task | undefined, event: StreamResponse): Task | undefined {
  // A stream that is resumed without an event id starts with the complete task.
  const folded = fold("task" in event ? undefined : task, event);
  if (isEventRefusal(folded)) throw new Error(folded.refusalReason);
  return folded;
}

describe.each(["restart", "resume"] as const)("an agent with afterRestart %s", (policy) => {
  it.each(["SIGKILL", "SIGTERM"] as const)(
    "completes its task when its server restarts after %s, and one stream receives it all [E9, E4]",
    async (signal) => {
      const file = await createTempFile();
      const port = String(await findTestPort());
      const before = await startChild(CHILD_SCRIPT, file, policy, port);
      const remote = await connect(before.url, { reconnect: { maxRetries: 300, maxDelayMs: 200 } });
      let task: Task | undefined;
      let chunks = 0;
      let completions = 0;
      const attempts: string[] = [];
      let back: Promise<unknown> | undefined;
      for await (const event of remote.stream("report")) {
        task = foldEvent(task, event);
        if ("artifactUpdate" in event && ++chunks === 10) {
          before.child.kill(signal);
          back = once(before.child, "exit").then(() => startChild(CHILD_SCRIPT, file, policy, port));
        }
        if ("statusUpdate" in event) {
          const { state, message } = event.statusUpdate.status;
          if (message) attempts.push(getText(message.parts));
          if (state === "TASK_STATE_COMPLETED") completions++;
        }
      }
      await back;
      expect(completions).toBe(1);
      expect(attempts).toEqual(["Attempt 1", "Attempt 2"]);
      expect(task?.artifacts?.map(({ parts }) => getText(parts))).toEqual([REPORT]);
      // A resumed agent repeats nothing.
      if (policy === "resume") expect(chunks).toBe(40);
      else expect(chunks).toBeGreaterThanOrEqual(50);
      const kept = await remote.tasks.get(task?.id ?? "");
      expect(kept).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" }, artifacts: task?.artifacts });
    },
  );
});
