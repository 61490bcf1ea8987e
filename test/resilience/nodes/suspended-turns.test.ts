import { afterEach, describe, expect, it } from "vitest";
import { collect } from "../../../src/client/index.ts";
import type { ScriptedRun } from "../../../src/engine/engine.fixture.ts";
import type { Task } from "../../../src/protocol/index.ts";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { findTestDatabase } from "../../support/find-test-postgres.ts";
import { createServer } from "../../../src/server/index.ts";
import { PostgresStore } from "../../../src/stores/index.ts";
import {
  endOnAbort,
  NodeTestAgent,
  startTestNode,
  type NodeAgentOptions,
  type TestNode,
} from "./node-pair.ts";

const { url, reason } = await findTestDatabase();
const HOUR_MS = 3_600_000;

describe.skipIf(reason)("a suspended turn of a PostgreSQL store", () => {
  const nodes: Pick<TestNode, "server">[] = [];

  afterEach(async () => {
    await Promise.all(nodes.splice(0).map(({ server }) => server.close({ graceMs: 0 })));
    await runTestSql(
      url,
      "TRUNCATE colloquy.task, colloquy.node, colloquy.message, colloquy.task_request CASCADE",
    );
  });

  /** Makes an agent suspend its turn, and then complete it. */
  function suspendTurn(scripted: ScriptedRun, suspendMs: number): void {
    void endOnAbort(scripted)
      .run.suspend("nap", suspendMs)
      .then(
        () => scripted.end(),
        () => {},
      );
  }

  /** Starts a node whose agent suspends each turn until the time, and then completes it. */
  async function startNode(
    suspendMs: number,
    agentOptions: NodeAgentOptions = {},
    serverOptions: Parameters<typeof startTestNode>[3] = {},
  ): Promise<TestNode> {
    const node = await startTestNode(url, { afterRestart: "restart", ...agentOptions }, {}, serverOptions);
    node.agent.answersAtOnce = (scripted) => suspendTurn(scripted, suspendMs);
    nodes.push(node);
    return node;
  }

  async function startSuspendedTask({ client }: TestNode): Promise<string> {
    const result = await client.send("hi", { configuration: { returnImmediately: true } });
    return (result as { task: Task }).task.id;
  }

  /** Returns true if no node holds the lease of the running turn, which is not due. */
  async function isHandedOver(): Promise<boolean> {
    const sql =
      "SELECT running AND lease_node IS NULL AND wake_at > now() AS is_suspended FROM colloquy.task";
    return (await runTestSql(url, sql))[0]?.["is_suspended"] === true;
  }

  async function waitForHandover(): Promise<void> {
    while (!(await isHandedOver())) await new Promise((resolve) => setTimeout(resolve, 20));
  }

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
    expect(attempts.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  it("needs no process: a scheduled call starts the turn once it is due [E18, E21]", async () => {
    const web = await startNode(HOUR_MS, {}, { role: "web" });
    const id = await startSuspendedTask(web);
    const agent = new NodeTestAgent({ afterRestart: "restart" });
    agent.answersAtOnce = (scripted) => suspendTurn(scripted, HOUR_MS);
    const store = new PostgresStore(url, { leaseMs: 6000, poolSize: 4 });
    const server = createServer({ puppet: agent }, { store, role: "worker", observer: false });
    nodes.push({ server });
    expect(await server.processDueWork()).toEqual({ turns: 1, notifications: 0, isComplete: true });
    expect(await isHandedOver()).toBe(true);
    expect(await server.processDueWork()).toMatchObject({ turns: 0, isComplete: true });
    // The step contains the time of the first attempt, which the test moves, too.
    await runTestSql(url, `UPDATE colloquy.finished_step SET json = '{"result":0}'`);
    await runTestSql(url, "UPDATE colloquy.task SET wake_at = now()");
    expect(await server.processDueWork()).toMatchObject({ isComplete: true });
    expect((await web.client.tasks.get(id)).status.state).toBe("TASK_STATE_COMPLETED");
    expect(agent.runs.map(({ run }) => run.attempt)).toEqual([1, 2]);
  });

  it("is canceled at once, without its agent [E8, E21]", async () => {
    const web = await startNode(HOUR_MS, {}, { role: "web" });
    const worker = await startNode(HOUR_MS);
    const id = await startSuspendedTask(web);
    await waitForHandover();
    expect((await web.client.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
    expect(worker.agent.runs).toHaveLength(1);
  });

  it("receives a message in its next attempt, which starts early [E21]", async () => {
    const web = await startNode(HOUR_MS, { delivers: true }, { role: "web" });
    const worker = await startNode(HOUR_MS, { delivers: true });
    const id = await startSuspendedTask(web);
    await waitForHandover();
    await web.client.send("hurry", { taskId: id, configuration: { returnImmediately: true } });
    expect(worker.agent.delivered.map(({ message }) => message.parts)).toEqual([[{ text: "hurry" }]]);
    // On a busy machine, an attempt can hand over before it takes the message, which a later attempt then takes.
    const attempts = worker.agent.runs.map(({ run }) => run.attempt);
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts).toEqual(attempts.map((_, at) => at + 1));
    await waitForHandover();
  });
});
