import { afterEach, describe, expect, it } from "vitest";
import { collect } from "../../src/client/index.ts";
import type { ScriptedRun } from "../../src/engine/engine.fixture.ts";
import type { Task } from "../../src/protocol/index.ts";
import { runTestSql } from "../../src/stores/postgres/postgres-server.fixture.ts";
import { findTestDatabase } from "../find-test-postgres.ts";
import { endOnAbort, startTestNode, type NodeAgentOptions, type TestNode } from "./node-pair.ts";

const { url, reason } = await findTestDatabase();
const HOUR_MS = 3_600_000;

describe.skipIf(reason)("a suspended turn of a PostgreSQL store", () => {
  const nodes: TestNode[] = [];

  afterEach(async () => {
    await Promise.all(nodes.splice(0).map(({ server }) => server.close({ graceMs: 0 })));
    await runTestSql(url, "TRUNCATE colloquy.task, colloquy.node, colloquy.message, colloquy.task_request");
  });

  /** Starts a node whose agent suspends each turn until the time, and then completes it. */
  async function startNode(
    suspendMs: number,
    agentOptions: NodeAgentOptions = {},
    serverOptions: Parameters<typeof startTestNode>[3] = {},
  ): Promise<TestNode> {
    const node = await startTestNode(url, { afterRestart: "restart", ...agentOptions }, {}, serverOptions);
    node.agent.answersAtOnce = (scripted: ScriptedRun) =>
      void endOnAbort(scripted)
        .run.suspend("nap", suspendMs)
        .then(
          () => scripted.end(),
          () => {},
        );
    nodes.push(node);
    return node;
  }

  async function startSuspendedTask({ client }: TestNode): Promise<string> {
    const result = await client.send("hi", { configuration: { returnImmediately: true } });
    return (result as { task: Task }).task.id;
  }

  /** Resolves once no node holds the lease of the running turn. */
  async function waitForHandover(): Promise<void> {
    for (;;) {
      const [task] = await runTestSql(
        url,
        "SELECT running, lease_node, wake_at > now() AS waits FROM colloquy.task",
      );
      if (task?.["running"] && task["lease_node"] === null) return expect(task["waits"]).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  const makeDue = (): Promise<unknown> => runTestSql(url, "UPDATE colloquy.task SET wake_at = now()");

  it("is released after a second, and any node starts it at its time [E18, E21]", async () => {
    const first = await startNode(2500);
    const second = await startNode(2500);
    const id = await startSuspendedTask(first);
    const startedAt = performance.now();
    await waitForHandover();
    const { task } = (await collect(second.client.tasks.subscribe(id))) as { task: Task };
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(performance.now() - startedAt).toBeGreaterThan(2000);
    const attempts = [first, second].flatMap(({ agent }) => agent.runs.map(({ run }) => run.attempt));
    expect(attempts.toSorted()).toEqual([1, 2]);
  });

  it("needs no process: a scheduled call starts the turn once it is due [E18, E21]", async () => {
    const web = await startNode(HOUR_MS, {}, { role: "web" });
    const id = await startSuspendedTask(web);
    const worker = await startNode(HOUR_MS, {}, { role: "worker" });
    expect(await worker.server.processDueWork()).toEqual({ turns: 1, notifications: 0, isComplete: true });
    await waitForHandover();
    expect(await worker.server.processDueWork()).toMatchObject({ turns: 0, isComplete: true });
    await makeDue();
    const [{ run } = expect.unreachable()] = worker.agent.runs;
    // The step contains the time of the first attempt, which the test moves, too.
    await runTestSql(url, `UPDATE colloquy.finished_step SET json = '{"result":0}'`);
    expect(await worker.server.processDueWork()).toMatchObject({ isComplete: true });
    expect(run.taskId).toBe(id);
    expect((await web.client.tasks.get(id)).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("is canceled at once, without its agent [E8, E21]", async () => {
    const web = await startNode(HOUR_MS, {}, { role: "web" });
    const worker = await startNode(HOUR_MS, {}, { role: "worker" });
    const id = await startSuspendedTask(web);
    await waitForHandover();
    expect((await web.client.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
    expect(worker.agent.runs).toHaveLength(1);
  });

  it("receives a message in its next attempt, which starts early [E21]", async () => {
    const web = await startNode(HOUR_MS, { delivers: true }, { role: "web" });
    const worker = await startNode(HOUR_MS, { delivers: true }, { role: "worker" });
    const id = await startSuspendedTask(web);
    await waitForHandover();
    await web.client.send("hurry", { taskId: id, configuration: { returnImmediately: true } });
    expect(worker.agent.delivered.map(({ message }) => message.parts)).toEqual([[{ text: "hurry" }]]);
    expect(worker.agent.runs.map(({ run }) => run.attempt)).toEqual([1, 2]);
    await waitForHandover();
  });
});
