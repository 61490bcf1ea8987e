import { afterEach, describe, expect, it } from "vitest";
import {
  completedTestEvent,
  createTestChunkEvent,
  inputRequiredTestEvent,
  workingTestEvent,
} from "../../../src/engine/engine.fixture.ts";
import { createServer } from "../../../src/server/index.ts";
import { getText, type Task } from "../../../src/protocol/index.ts";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { findTestDatabase } from "../../support/find-test-postgres.ts";
import { PostgresStore } from "../../../src/stores/index.ts";
import { loseNode, NodeTestAgent, startTestNode, StreamRecorder, type TestNode } from "./node-pair.ts";

/** A server that starts agents for the messages of other servers. */
type TestWorker = Omit<TestNode, "client" | "agentUrl"> & { readonly url: string };

const { url, reason } = await findTestDatabase();

const requireTask = (result: object): Task => (result as { task: Task }).task;
const getArtifactText = ({ artifacts = [] }: Task): string =>
  artifacts.map(({ parts }) => getText(parts)).join("");

describe.skipIf(reason).each([{ hints: true }, { hints: false }])("servers with hints: $hints", (options) => {
  const nodes: Pick<TestNode, "server">[] = [];

  async function startWeb(): Promise<TestNode> {
    const node = await startTestNode(url, {}, options, { role: "web" });
    nodes.push(node);
    return node;
  }

  async function startWorker(
    agentOptions: ConstructorParameters<typeof NodeTestAgent>[0] = {},
    limits: { readonly runs?: number } = {},
    answersAtOnce: NodeTestAgent["answersAtOnce"] = () => {},
  ): Promise<TestWorker> {
    const agent = new NodeTestAgent(agentOptions);
    agent.answersAtOnce = answersAtOnce;
    const store = new PostgresStore(url, { leaseMs: 6000, poolSize: 4, ...options });
    const errors: unknown[] = [];
    const observer = { onError: ({ error }: { error: unknown }) => errors.push(error) };
    const server = createServer({ puppet: agent }, { store, observer, role: "worker", limits });
    nodes.push({ server });
    return { agent, store, server, errors, url: (await server.listen()).url };
  }

  afterEach(async () => {
    await Promise.all(nodes.splice(0).map(({ server }) => server.close({ graceMs: 0 })));
    await runTestSql(url, "TRUNCATE colloquy.task, colloquy.node, colloquy.message CASCADE");
  });

  it("of the role web return and stream what a worker's agent says [E21]", async () => {
    const web = await startWeb();
    const worker = await startWorker();
    worker.agent.answersAtOnce = (run) => {
      run.emit(workingTestEvent, createTestChunkEvent(`${run.run.message.messageId}!`, false)).end();
    };
    const task = requireTask(await web.client.send("hi", { messageId: "m-1" }));
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactText(task)).toBe("m-1!");
    const recorder = new StreamRecorder(web.client.stream("hi", { messageId: "m-2" }));
    await recorder.ended;
    const states = recorder.events.map((event) => Object.keys(event)[0]);
    expect(states).toEqual(["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
    expect(web.agent.runs).toEqual([]);
    expect(worker.agent.runs.map(({ run }) => run.attempt)).toEqual([1, 1]);
    // A repeated message attaches to its task.
    expect(requireTask(await web.client.send("hi", { messageId: "m-1" })).id).toBe(task.id);
    expect(worker.agent.runs).toHaveLength(2);
    expect([...web.errors, ...worker.errors]).toEqual([]);
  });

  it("of the role web continue tasks that wait for their user, on any worker [E21]", async () => {
    const web = await startWeb();
    const workers = [await startWorker(), await startWorker()];
    for (const { agent } of workers)
      agent.answersAtOnce = (run) => {
        const isFirst = (run.run.task.history?.length ?? 0) <= 1;
        run.emit(isFirst ? inputRequiredTestEvent : completedTestEvent).end();
      };
    const question = requireTask(await web.client.send("hi"));
    expect(question.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const answered = requireTask(await web.client.send("this one", { taskId: question.id }));
    expect(answered.status.state).toBe("TASK_STATE_COMPLETED");
    expect(workers.flatMap(({ agent }) => agent.runs)).toHaveLength(2);
  });

  it("of the role web queue turns for workers that start later, and show and cancel them [E21]", async () => {
    const web = await startWeb();
    const now = { configuration: { returnImmediately: true } };
    const first = requireTask(await web.client.send("one", now));
    const second = requireTask(await web.client.send("two", now));
    expect((await web.client.tasks.get(first.id)).status.state).toBe("TASK_STATE_SUBMITTED");
    const canceling = web.client.tasks.cancel(second.id);
    const worker = await startWorker({}, {}, (run) => void run.end());
    expect((await canceling).status.state).toBe("TASK_STATE_CANCELED");
    await expect
      .poll(async () => (await web.client.tasks.get(first.id)).status.state)
      .toBe("TASK_STATE_COMPLETED");
    expect(worker.agent.runs.map(({ run }) => run.taskId)).toEqual([first.id]);
  });

  it("share the turns by their limits on runs, and take over the turns of a lost worker [E14, E21]", async () => {
    const web = await startWeb();
    const restarting = { afterRestart: "restart" } as const;
    const workers = [await startWorker(restarting, { runs: 2 }), await startWorker(restarting, { runs: 2 })];
    const [lost, survivor] = workers as [TestWorker, TestWorker];
    const now = { configuration: { returnImmediately: true } };
    const tasks = await Promise.all(
      [1, 2, 3, 4].map(async (n) => requireTask(await web.client.send(`${n}`, now))),
    );
    await expect.poll(() => workers.map(({ agent }) => agent.runs.length)).toEqual([2, 2]);
    for (const run of survivor.agent.runs) run.end();
    survivor.agent.answersAtOnce = (run) => void run.end();
    await loseNode(url, lost);
    for (const { id } of tasks)
      await expect
        .poll(async () => (await web.client.tasks.get(id)).status.state)
        .toBe("TASK_STATE_COMPLETED");
    const attempts = survivor.agent.runs.map(({ run }) => run.attempt);
    expect(attempts.toSorted((a, b) => a - b)).toEqual([1, 1, 2, 2]);
  });

  it("of the role worker accept no A2A requests [E21]", async () => {
    const { url: workerUrl } = await startWorker();
    const card = await fetch(`${workerUrl}/.well-known/agent-card.json`);
    expect(card.status).toBe(503);
    expect(await card.text()).toContain("send the request to a server with the role web");
    expect((await fetch(`${workerUrl}/readyz`)).status).toBe(200);
  });
});

describe("a server with a role", () => {
  it("requires a store that several servers can use", () => {
    const agent = new NodeTestAgent({});
    expect(() => createServer({ agent }, { store: "memory", role: "web" })).toThrow(
      '"role" is "web", but only one server can use the store memory; use a postgres:// store.',
    );
    expect(() => createServer({ agent }, { store: "memory", role: "sweb" as never })).toThrow(
      '"role" is "sweb"',
    );
  });
});
