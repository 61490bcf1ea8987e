import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect as open } from "../../client/index.ts";
import { handing, house } from "./house.fixture.ts";

interface Child {
  readonly process: ChildProcess;
  /** The next line that it says. */
  readonly says: () => Promise<string>;
}

function solver(...args: string[]): Child {
  const file = new URL("killed-solver.fixture.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return { process: child, says: async () => String((await lines.next()).value) };
}

async function killed({ process }: Child): Promise<void> {
  process.kill("SIGKILL");
  await once(process, "exit");
}

// Two tries at once, where there would be five over a few seconds.
const connect = { reconnect: { tries: 2, firstDelayMs: 1 }, retry: { tries: 1, firstDelayMs: 1 } };

describe("a solver whose process is killed at work", () => {
  it("is a transport error that may pass, when it does not come back", async () => {
    const child = solver();
    const url = await child.says();
    const { controller, memo } = await house({ planner: handing }, { links: { solver: url }, connect });
    const solved = controller.solve({ task: "wait" });
    await child.says();
    await killed(child);
    expect((await solved).reply).toMatchObject({ metadata: { error_type: "transport_error" } });
    const written = memo.union.find(({ sender }) => sender === "solver");
    expect(written?.metadata).toMatchObject({ retryable: true, written_by: "planner" });
  });

  it("has its task failed by the next process, when its tasks are durable, and works again [E9]", async () => {
    const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = `sqlite:${join(folder, "tasks.db")}`;
    const child = solver(store);
    const url = await child.says();
    const patient = { reconnect: { tries: 50, firstDelayMs: 50, maxDelayMs: 100 } };
    const { controller } = await house({ planner: handing }, { links: { solver: url }, connect: patient });
    const solved = controller.solve({ task: "wait" });
    await child.says();
    // What is at work may not be on the disk yet; then it would be sent once more, and waited for anew.
    const { task } = await open(url);
    await expect.poll(async () => (await task.list()).tasks.length).toBe(1);
    await killed(child);
    const again = solver(store, new URL(url).port);
    await again.says();
    const { reply } = await solved;
    expect(reply).toMatchObject({ message_type: "error", metadata: { error_type: "solver_failed" } });
    expect((await controller.solve({ task: "2 + 2" })).reply.content).toBe("4");
  });
});
