import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect as open } from "../../../client/index.ts";
import { findTestPort } from "../../../../test/support/test-ports.ts";
import { forwardingTestPlanner, startRoleTestbed } from "./role-testbed.fixture.ts";
import { getScriptArguments } from "../../../../test/support/fork-script.ts";

interface SolverProcess {
  readonly process: ChildProcess;
  /** Returns the next line of the output. */
  readonly readLine: () => Promise<string>;
}

function startSolver(...args: string[]): SolverProcess {
  const program = getScriptArguments(new URL("solver-process.fixture.ts", import.meta.url));
  const child = spawn(process.execPath, [...program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return { process: child, readLine: async () => String((await lines.next()).value) };
}

async function killProcess({ process }: SolverProcess): Promise<void> {
  process.kill("SIGKILL");
  await once(process, "exit");
}

// Two immediate retries instead of five over several seconds.
const connectOptions = {
  reconnect: { maxRetries: 2, initialDelayMs: 1 },
  retry: { maxRetries: 1, initialDelayMs: 1 },
};

describe("a solver whose process is killed during a task", () => {
  it("causes a retryable transport error when it does not restart", async () => {
    const child = startSolver();
    const url = await child.readLine();
    const { controller, recorder } = await startRoleTestbed(
      { planner: forwardingTestPlanner },
      { roleTargets: { solver: url }, connectOptions },
    );
    const solved = controller.solve({ task: "wait" });
    await child.readLine();
    await killProcess(child);
    expect((await solved).reply).toMatchObject({ metadata: { error_type: "transport_error" } });
    const written = recorder.uniqueCards.find(({ sender }) => sender === "solver");
    expect(written?.metadata).toMatchObject({ retryable: true, written_by: "planner" });
  });

  it("continues its durable task after a restart [E9]", async () => {
    const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = `sqlite:${join(folder, "tasks.db")}`;
    const port = String(await findTestPort());
    const child = startSolver(store, port);
    const url = await child.readLine();
    // Retries until the solver has restarted, however busy the machine is.
    const patient = { reconnect: { maxRetries: 1000, initialDelayMs: 50, maxDelayMs: 100 } };
    const { controller } = await startRoleTestbed(
      { planner: forwardingTestPlanner },
      { roleTargets: { solver: url }, connectOptions: patient },
    );
    const solved = controller.solve({ task: "wait" });
    await child.readLine();
    // The running task may not be on disk yet. The message would then be sent again and start a new task.
    const { tasks: task } = await open(url);
    await expect.poll(async () => (await task.list()).tasks.length).toBe(1);
    await killProcess(child);
    const again = startSolver(store, port, "4");
    await again.readLine();
    expect((await solved).reply.content).toBe("4");
  });
});
