import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { SqliteSessionService } from "../../src/agents/adk/index.ts";
import { forkScript } from "../support/fork-script.ts";
import { createTempFolder } from "../support/store-factories.ts";

const CHILD_SCRIPT = new URL("sessions-child.ts", import.meta.url);
const WRITERS = ["ada", "bob", "cyd"];

/** Starts a process that is ready to write. */
async function startWriter(file: string, name: string): Promise<ChildProcess> {
  const child = forkScript(CHILD_SCRIPT, [file, name]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "message");
  return child;
}

/**
 * Lets a process write until it has reported `enough` events, and kills it. Resolves with the last reported
 * event.
 */
async function writeUntilKilled(child: ChildProcess, minEvents: number): Promise<number> {
  let last = -1;
  child.on("message", (n) => {
    last = n as number;
    if (last >= minEvents) child.kill("SIGKILL");
  });
  child.send("go");
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  expect(signal).toBe("SIGKILL");
  return last;
}

it("an ADK session in SQLite contains all events that several killed processes stored", async () => {
  const { folder, remove } = await createTempFolder();
  onTestFinished(remove);
  const file = join(folder, "sessions.db");
  const writers = await Promise.all(WRITERS.map((name) => startWriter(file, name)));
  // All processes start at the same time, before the file exists.
  const lastReported = await Promise.all(writers.map((child, at) => writeUntilKilled(child, 200 + 50 * at)));

  const service = new SqliteSessionService(file);
  onTestFinished(() => service.close());
  const session = await service.getSession({ appName: "app", userId: "u", sessionId: "s" });
  for (const [at, name] of WRITERS.entries()) {
    const ownEvents = (session?.events ?? []).filter(({ author }) => author === name).map(({ id }) => id);
    expect(ownEvents).toEqual(ownEvents.map((_, n) => `${name}.${n}`));
    expect(ownEvents.length).toBeGreaterThan(lastReported[at] as number);
    // An event and its state are written atomically.
    expect(session?.state[name]).toBe(ownEvents.length - 1);
  }
});
