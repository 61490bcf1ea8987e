import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  completedTestEvent,
  createTestChunkEvent,
  inputRequiredTestEvent,
  workingTestEvent,
} from "../../../src/engine/engine.fixture.ts";
import { A2AError, getText, type StreamResponse, type Task } from "../../../src/protocol/index.ts";
import { runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { findTestDatabase } from "../../support/find-test-postgres.ts";
import {
  endOnAbort,
  loseNode,
  startTestNode,
  StreamRecorder,
  type NodeAgentOptions,
  type TestNode,
} from "./node-pair.ts";

const { url, reason } = await findTestDatabase();
const now = { configuration: { returnImmediately: true } };

const requireTask = (result: object): Task => {
  if (!("task" in result)) throw new Error("not a task");
  return result.task as Task;
};
const describeEvent = (event: StreamResponse): string => {
  if ("task" in event) return event.task.status.state.slice("TASK_STATE_".length);
  if ("statusUpdate" in event) return event.statusUpdate.status.state.slice("TASK_STATE_".length);
  return "artifactUpdate" in event ? getText(event.artifactUpdate.artifact.parts) : "message";
};
const joinTexts = (events: readonly StreamResponse[]): string => events.map(describeEvent).join(" ");
const joinArtifacts = ({ artifacts = [] }: Task): string =>
  artifacts.map(({ parts }) => getText(parts)).join("");
const getReason = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
    return "nothing";
  } catch (error) {
    return error instanceof A2AError ? error.reason : String(error);
  }
};

describe.skipIf(reason).each([{ hints: true }, { hints: false }])(
  "two servers with hints: $hints",
  (options) => {
    let first: TestNode;
    let second: TestNode;

    async function start(agentOptions: NodeAgentOptions = {}): Promise<void> {
      await first?.server.close({ graceMs: 0 });
      await second?.server.close({ graceMs: 0 });
      first = await startTestNode(url, agentOptions, options);
      second = await startTestNode(url, agentOptions, options);
    }

    beforeEach(() => start());
    afterEach(async () => {
      await Promise.all([first.server.close({ graceMs: 0 }), second.server.close({ graceMs: 0 })]);
      await runTestSql(url, "TRUNCATE colloquy.task, colloquy.node CASCADE");
    });

    it("stream and return the events of a task that the other server runs [E21]", async () => {
      const { id } = requireTask(await first.client.send("go", now));
      const run = await first.agent.waitForRun(0);
      const recorder = new StreamRecorder(second.client.tasks.subscribe(id));
      await recorder.waitForEvents(1);
      run.emit(workingTestEvent, createTestChunkEvent("a", false));
      await recorder.waitForEvents(3);
      expect(joinArtifacts(await second.client.tasks.get(id))).toBe("a");
      expect(
        (await second.client.tasks.list({ contextId: (await first.client.tasks.get(id)).contextId })).tasks,
      ).toMatchObject([{ id, status: { state: "TASK_STATE_WORKING" } }]);
      run.emit(createTestChunkEvent("b"), completedTestEvent).end();
      await recorder.ended;
      expect(joinTexts(recorder.events)).toBe("SUBMITTED WORKING a b COMPLETED");
      expect(await second.client.tasks.get(id)).toEqual(await first.client.tasks.get(id));
      expect(second.agent.runs).toEqual([]);
    });

    it("resume a stream on the other server without a lost or repeated event [E3, E4, E21]", async () => {
      const { id } = requireTask(await first.client.send("go", now));
      const run = await first.agent.waitForRun(0);
      run.emit(workingTestEvent, createTestChunkEvent("a", false), createTestChunkEvent("b"));
      await expect.poll(async () => joinArtifacts(await first.client.tasks.get(id))).toBe("ab");
      const recorder = new StreamRecorder(second.client.tasks.subscribe(id, { after: 2 }));
      await recorder.waitForEvents(1);
      run.emit(createTestChunkEvent("c"), completedTestEvent).end();
      await recorder.ended;
      expect(joinTexts(recorder.events).replaceAll(" ", "")).toBe("abcCOMPLETED");
    });

    it("cancel a task on the other server, and stop its agent [E21]", async () => {
      const { id } = requireTask(await first.client.send("go", now));
      const run = endOnAbort(await first.agent.waitForRun(0));
      const canceled = await second.client.tasks.cancel(id, { metadata: { why: "bored" } });
      expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
      expect(run.run.signal.aborted).toBe(true);
      expect(run.run.cancelMetadata).toEqual({ why: "bored" });
      expect((await first.client.tasks.get(id)).status.state).toBe("TASK_STATE_CANCELED");
      expect((await second.client.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
      expect(await runTestSql(url, "SELECT * FROM colloquy.task_request")).toEqual([]);
    });

    it("erase a task that the other server runs, and tell its agent the reason [E8, E21]", async () => {
      const { id } = requireTask(await first.client.send("go", now));
      const run = endOnAbort(await first.agent.waitForRun(0));
      expect(await second.server.maintenance.eraseTasks({ taskId: id })).toEqual({ erasedTasks: 1 });
      expect(run.run.signal.reason).toMatchObject({ message: "The task was erased." });
      expect(await getReason(first.client.tasks.get(id))).toBe("TASK_NOT_FOUND");
    });

    it("continue a task that waits for its user on the other server [E21]", async () => {
      const asking = first.client.send("go");
      (await first.agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
      const { id } = requireTask(await asking);
      const recorder = new StreamRecorder(first.client.tasks.subscribe(id));
      await recorder.waitForEvents(1);
      const answering = second.client.send("blue", { taskId: id });
      const run = await second.agent.waitForRun(0);
      expect(run.run.task.history).toHaveLength(3);
      run.emit(createTestChunkEvent("blue it is", false)).end();
      expect(requireTask(await answering)).toMatchObject({ id, status: { state: "TASK_STATE_COMPLETED" } });
      await recorder.ended;
      expect(joinTexts(recorder.events)).toBe("INPUT_REQUIRED WORKING blue it is COMPLETED");
      expect((await first.client.tasks.get(id)).status.state).toBe("TASK_STATE_COMPLETED");
    });

    it("refuse a message to a running turn, if the agent accepts none [E21]", async () => {
      const { id } = requireTask(await first.client.send("go", now));
      await first.agent.waitForRun(0);
      expect(await getReason(second.client.send("more", { taskId: id }))).toBe("UNSUPPORTED_OPERATION");
      expect(second.agent.runs).toEqual([]);
    });

    it("queue a message to a running turn on its server, and stream its turn to the sender [E11, E21]", async () => {
      await start({ whileWorking: "queue" });
      const { id } = requireTask(await first.client.send("go", now));
      const run = await first.agent.waitForRun(0);
      const sending = second.client.send("more", { taskId: id });
      const recorder = new StreamRecorder(second.client.stream("even more", { taskId: id }));
      await expect
        .poll(async () => (await runTestSql(url, "SELECT * FROM colloquy.queued_turn")).length)
        .toBe(2);
      run.emit(inputRequiredTestEvent).end();
      (await first.agent.waitForRun(1)).emit(createTestChunkEvent("x", false), inputRequiredTestEvent).end();
      (await first.agent.waitForRun(2)).emit(createTestChunkEvent("y", false), completedTestEvent).end();
      await recorder.ended;
      const task = requireTask(await sending);
      const texts = first.agent.runs.map(({ run: { message } }) => getText(message.parts));
      expect(texts.toSorted()).toEqual(["even more", "go", "more"]);
      expect(["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"]).toContain(task.status.state);
      expect(joinTexts(recorder.events)).toMatch(/^WORKING (x INPUT_REQUIRED|y COMPLETED)$/);
      expect(second.agent.runs).toEqual([]);
    });

    it("answer requests that wait for the other server with UNAVAILABLE when they close [E15]", async () => {
      await start({ whileWorking: "queue" });
      const message = { messageId: randomUUID(), role: "ROLE_USER" as const, parts: [{ text: "go" }] };
      const { id } = requireTask(await first.client.send(message, now));
      await first.agent.waitForRun(0);
      const post = async (path: string, body: object): Promise<string> => {
        const headers = { "a2a-version": "1.0", "content-type": "application/json" };
        const request = { method: "POST", headers, body: JSON.stringify(body) };
        return await fetch(`${second.agentUrl}/${path}`, request).then(
          async (response) =>
            `${response.status} ${response.headers.get("retry-after")} ${await response.text()}`,
          (error: unknown) => String(error),
        );
      };
      const countRows = async (table: string): Promise<number> =>
        (await runTestSql(url, `SELECT * FROM colloquy.${table}`)).length;
      const repeated = post("message:send", { message });
      const queued = post("message:send", { message: { ...message, messageId: randomUUID(), taskId: id } });
      await expect.poll(() => countRows("queued_turn")).toBe(1);
      await expect.poll(() => countRows("task_request")).toBe(0);
      const canceled = post(`tasks/${id}:cancel`, {});
      await expect.poll(() => countRows("task_request")).toBe(1);
      await second.server.close();
      for (const answer of await Promise.all([repeated, queued, canceled]))
        expect(answer).toMatch(/^503 1 .*UNAVAILABLE/);
    });

    it("deliver a message to the running agent with its caller [E21]", async () => {
      await start({ delivers: true });
      const { id } = requireTask(await first.client.send("go", now));
      const run = await first.agent.waitForRun(0);
      const task = requireTask(await second.client.send("faster", { taskId: id }));
      expect(task.history?.map(({ parts }) => getText(parts))).toEqual(["go", "faster"]);
      expect(first.agent.delivered).toMatchObject([
        { message: { parts: [{ text: "faster" }] }, caller: { tenant: "", principal: "" } },
      ]);
      run.end();
    });

    it("accept a message once, whichever server receives it again [E10, E21]", async () => {
      await start({ whileWorking: "queue" });
      const message = { messageId: `m-${randomUUID()}`, role: "ROLE_USER" as const, parts: [{ text: "go" }] };
      const { id } = requireTask(await first.client.send(message, now));
      const again = second.client.send(message);
      const run = await first.agent.waitForRun(0);
      const next = { ...message, messageId: `m-${randomUUID()}`, taskId: id };
      await first.client.send(next, now);
      const nextAgain = second.client.send(next);
      await expect.poll(() => runTestSql(url, "SELECT * FROM colloquy.queued_turn")).toHaveLength(1);
      run.emit(inputRequiredTestEvent).end();
      (await first.agent.waitForRun(1)).end();
      // If the repeated message arrives after its turn, its sender waits for the next turn, and receives its task.
      expect(requireTask(await again)).toMatchObject({
        id,
        status: { state: expect.stringMatching(/_(?:INPUT_REQUIRED|COMPLETED)$/) as string },
      });
      expect(requireTask(await nextAgain)).toMatchObject({ id, status: { state: "TASK_STATE_COMPLETED" } });
      expect(first.agent.runs).toHaveLength(2);
      expect(second.agent.runs).toEqual([]);
    });

    it("create one task for a message that both receive at the same time, and start one agent [E10, E21]", async () => {
      for (const { store } of [first, second]) await expect.poll(() => store.nodes.hasOtherNodes).toBe(true);
      for (let round = 0; round < 10; round++) {
        const message = {
          messageId: `m-${randomUUID()}`,
          role: "ROLE_USER" as const,
          parts: [{ text: "go" }],
        };
        const sent = await Promise.all([first, second].map(({ client }) => client.send(message, now)));
        expect(new Set(sent.map((result) => requireTask(result).id)).size).toBe(1);
        await expect.poll(() => first.agent.runs.length + second.agent.runs.length).toBe(round + 1);
      }
      expect([...first.errors, ...second.errors]).toEqual([]);
    });

    it("run one of two turns at a time, if both receive a message to a waiting task [E11, E21]", async () => {
      await start({ whileWorking: "queue" });
      for (const { store } of [first, second]) await expect.poll(() => store.nodes.hasOtherNodes).toBe(true);
      for (const { agent } of [first, second])
        agent.answersAtOnce = (run) =>
          run.emit(createTestChunkEvent("x", false), inputRequiredTestEvent).end();
      const { id } = requireTask(await first.client.send("go"));
      for (let round = 0; round < 10; round++) {
        const sent = await Promise.all(
          [first, second].map(({ client }) => client.send(`${round}`, { taskId: id })),
        );
        expect(sent.map((result) => requireTask(result).status.state)).toEqual(
          Array(2).fill("TASK_STATE_INPUT_REQUIRED"),
        );
      }
      const runs = [...first.agent.runs, ...second.agent.runs];
      expect(runs).toHaveLength(21);
      const { history = [] } = await first.client.tasks.get(id);
      const texts = history.map(({ parts }) => getText(parts)).filter((text) => text !== "which?");
      expect(texts.toSorted()).toEqual(
        ["go", ...Array.from({ length: 20 }, (_, at) => `${at >> 1}`)].toSorted(),
      );
      // The database refuses the turn of a slow server that has not yet learned of the other server's turn.
      const unexpected = [...first.errors, ...second.errors].filter(
        (error) => !(error instanceof A2AError && error.cause === "conflict"),
      );
      expect(unexpected).toEqual([]);
    });

    it("recover the task of a lost server, and continue the streams of the other server [E17, E21]", async () => {
      await start({ afterRestart: "restart" });
      const { id } = requireTask(await first.client.send("go", now));
      const lost = await first.agent.waitForRun(0);
      const recorder = new StreamRecorder(second.client.tasks.subscribe(id));
      await recorder.waitForEvents(1);
      lost.emit(workingTestEvent);
      await recorder.waitForEvents(2);
      await loseNode(url, first);
      const run = await second.agent.waitForRun(0);
      expect(run.run.attempt).toBe(2);
      lost.emit(createTestChunkEvent("late", false)).end();
      run.emit(createTestChunkEvent("whole", false)).end();
      await recorder.ended;
      expect(joinTexts(recorder.events)).toMatch(/^SUBMITTED( WORKING)+ whole COMPLETED$/);
      // The test ended the lease early, so that the lost server notices it only when its late event is refused.
      await expect.poll(async () => joinArtifacts(await first.client.tasks.get(id))).toBe("whole");
      expect(lost.run.signal.aborted).toBe(true);
    });

    it("read the task of a lost server before they claim it, and stream its next attempt [E1, E17, E21]", async () => {
      await start({ afterRestart: "restart" });
      const { id } = requireTask(await first.client.send("go", now));
      const lost = await first.agent.waitForRun(0);
      lost.emit(workingTestEvent, createTestChunkEvent("half", false));
      await expect.poll(async () => joinArtifacts(await second.client.tasks.get(id))).toBe("half");
      const claim = second.store.turns.claim.bind(second.store.turns);
      second.store.turns.claim = () => Promise.resolve([]);
      await loseNode(url, first);
      const task = await second.client.tasks.get(id);
      expect([task.status.state, joinArtifacts(task)]).toEqual(["TASK_STATE_WORKING", "half"]);
      expect((await second.client.tasks.list({})).tasks).toMatchObject([{ id, status: task.status }]);
      const recorder = new StreamRecorder(second.client.tasks.subscribe(id));
      await recorder.waitForEvents(1);
      second.store.turns.claim = claim;
      (await second.agent.waitForRun(0)).emit(createTestChunkEvent("whole", false)).end();
      await recorder.ended;
      expect(joinTexts(recorder.events)).toMatch(/^WORKING (WORKING )?whole COMPLETED$/);
    });

    it("stop the agents of a server that cannot renew its leases [E17, E21]", async () => {
      await first.client.send("go", now);
      const { run } = await first.agent.waitForRun(0);
      first.store.turns.renew = () => new Promise(() => {});
      await expect.poll(() => run.signal.aborted).toBe(true);
    });

    it("cancel the task of a lost server without running its agent again [E17, E21]", async () => {
      await start({ afterRestart: "restart" });
      const { id } = requireTask(await first.client.send("go", now));
      await first.agent.waitForRun(0);
      await loseNode(url, first);
      const canceled = await second.client.tasks.cancel(id);
      expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
      expect(second.agent.runs).toEqual([]);
    });
  },
);
