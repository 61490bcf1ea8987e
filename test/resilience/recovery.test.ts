import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/index.ts";
import {
  A2AError,
  getText,
  isTerminal,
  type SendMessageResponse,
  type Task,
} from "../../src/protocol/index.ts";
import { createTempFile, startChild } from "./child-process.ts";
import { findTestPort } from "../support/test-ports.ts";

const CHILD_SCRIPT = "recovery-child.ts";
const POLICIES = ["fail", "restart", "resume"] as const;
const REPORT = Array.from({ length: 40 }, (_, at) => `${at} `).join("");
const TASKS_PER_POLICY = 10;
/** Longer than all retries of a commit. `FOREIGN_LOCK_MS=30000` holds the lock for 30 s. */
const LOCK_MS = Number(process.env["FOREIGN_LOCK_MS"] ?? 7_000);

type Client = Awaited<ReturnType<typeof connect>>;

function getTask(answer: SendMessageResponse): Task {
  if ("task" in answer) return answer.task;
  throw new Error("The agent replied without a task.");
}

/** Starts a task of a policy's agent. Resolves with the id of the task. */
async function startTask(client: Client, text: string): Promise<string> {
  const answer = await client.send(text, { configuration: { returnImmediately: true } });
  return getTask(answer).id;
}

/** Reads a task, or returns the reason of the error. */
async function readTask(client: Client, id: string): Promise<Task | string> {
  try {
    return await client.tasks.get(id);
  } catch (error) {
    return A2AError.from(error).reason;
  }
}

/** Follows a task with a stream that resumes after each error. Resolves with the last state of the task. */
async function readLastState(client: Client, id: string): Promise<string | undefined> {
  let state: string | undefined;
  for await (const event of client.tasks.subscribe(id)) {
    if ("task" in event) ({ state } = event.task.status);
    if ("statusUpdate" in event) ({ state } = event.statusUpdate.status);
  }
  return state;
}

const getReport = ({ artifacts = [] }: Task): string => getText(artifacts[0]?.parts ?? []);

/** Polls until the task has ended. */
async function waitForEnd(client: Client, id: string): Promise<Task> {
  for (;;) {
    const task = await readTask(client, id);
    if (typeof task !== "string" && isTerminal(task.status.state)) return task;
    await pause(50);
  }
}

describe("a program that holds the write lock of the store for longer than the retries", () => {
  it(
    "leaves no task without an end: every task is settled after the lock is free [E17]",
    { timeout: LOCK_MS + 120_000 },
    async () => {
      const file = await createTempFile();
      const { url } = await startChild(CHILD_SCRIPT, file);
      const started = await Promise.all(
        POLICIES.flatMap((policy) =>
          Array.from({ length: TASKS_PER_POLICY }, async () => {
            const client = await connect(new URL(`/a2a/${policy}`, url).href, {
              retry: { maxRetries: 0 },
              reconnect: { maxRetries: 1000, maxDelayMs: 1000 },
            });
            const id = await startTask(client, "report");
            return { policy, client, id, lastState: readLastState(client, id) };
          }),
        ),
      );
      const { child: locker } = await startChild("write-lock-child.ts", file, String(LOCK_MS));
      const lockEnd = once(locker, "exit");
      // During the fault, a task is either served or UNAVAILABLE, and nothing waits in silence.
      const isLocked = { value: true };
      void lockEnd.then(() => (isLocked.value = false));
      const reasons = new Set<string>();
      while (isLocked.value) {
        for (const { client, id } of started) {
          const read = await readTask(client, id);
          if (typeof read === "string") reasons.add(read);
        }
        await pause(500);
      }
      for (const reason of reasons) expect(reason).toBe("UNAVAILABLE");
      const ended = await Promise.all(
        started.map(async ({ policy, client, id, lastState }) => ({
          policy,
          task: await waitForEnd(client, id),
          lastState: await lastState,
        })),
      );
      for (const { policy, task, lastState } of ended) {
        const { state } = task.status;
        expect(lastState).toBe(state);
        if (policy === "fail" && state === "TASK_STATE_FAILED") continue;
        expect([state, getReport(task)]).toEqual(["TASK_STATE_COMPLETED", REPORT]);
      }
    },
  );
});

describe("a turn that waits at AUTH_REQUIRED", () => {
  it.each(["SIGKILL", "SIGTERM"] as const)(
    "is settled as its agent declares after %s [E9, E17]",
    async (signal) => {
      const file = await createTempFile();
      const port = String(await findTestPort());
      const before = await startChild(CHILD_SCRIPT, file, port);
      const asked = await Promise.all(
        POLICIES.map(async (policy) => {
          const client = await connect(new URL(`/a2a/${policy}`, before.url).href);
          const { id, status } = getTask(await client.send("log in"));
          expect(status.state).toBe("TASK_STATE_AUTH_REQUIRED");
          return { policy, client, id };
        }),
      );
      const exit = once(before.child, "exit");
      before.child.kill(signal);
      await exit;
      await startChild(CHILD_SCRIPT, file, port);
      const ended = await Promise.all(
        asked.map(async ({ policy, client, id }) => {
          const task = await waitForEnd(client, id);
          return [policy, task.status.state, getReport(task)];
        }),
      );
      expect(ended).toEqual([
        ["fail", "TASK_STATE_FAILED", ""],
        ["restart", "TASK_STATE_COMPLETED", REPORT],
        ["resume", "TASK_STATE_COMPLETED", REPORT],
      ]);
    },
  );
});
