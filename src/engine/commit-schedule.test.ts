import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import {
  alice,
  createTestChunkEvent,
  collectSubscriptionEventsForTest,
  FakeClock,
  createEngineFixture,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  formatTaskEventForTest,
  workingTestEvent,
  getTestResponseTask,
} from "./engine.fixture.ts";

describe("commits", () => {
  /** A memory store with slow commits. */
  function slowStore(clock: FakeClock, ms: number): { store: MemoryStore; commits: number[] } {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const commits: number[] = [];
    store.commit = (batch) => {
      clock.time += ms;
      commits.push(batch.reduce((sum, { events }) => sum + events.length, 0));
      return commit(batch);
    };
    return { store, commits };
  }

  it("of chunks are delayed as long as commits usually take, to limit the load on the disk [E6]", async () => {
    const clock = new FakeClock();
    const { store, commits } = slowStore(clock, 10);
    const { engine, agent } = createEngineFixture({ store, clock });
    const stream = await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    await flushEventLoopForTest();
    for (const text of ["a", "b", "c"]) {
      run.emit(createTestChunkEvent(text));
      await flushEventLoopForTest();
    }
    expect(commits).toEqual([1]);
    clock.advance(10);
    await flushEventLoopForTest();
    expect(commits).toEqual([1, 1]);
    run.emit(createTestChunkEvent("d")).end();
    expect(
      (await collectSubscriptionEventsForTest(stream)).map(({ event }) => formatTaskEventForTest(event)),
    ).toEqual(["task SUBMITTED", "abc", "d", "COMPLETED"]);
  });

  it("of chunks are hardly delayed after a single slow commit [E6]", async () => {
    const clock = new FakeClock();
    const { store, commits } = slowStore(clock, 2);
    const { engine, agent } = createEngineFixture({ store, clock, mergeChunks: false });
    void engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    const emitChunk = async (): Promise<number> => {
      run.emit(createTestChunkEvent("x"));
      await flushEventLoopForTest();
      return commits.length;
    };
    for (let chunk = 0; chunk < 6; chunk++) {
      clock.advance(2);
      await emitChunk();
    }
    const commit = store.commit.bind(store);
    store.commit = (batch) => {
      clock.time += 500;
      return commit(batch);
    };
    clock.advance(2);
    const slow = await emitChunk();
    store.commit = commit;
    expect(await emitChunk()).toBe(slow);
    clock.advance(2);
    await flushEventLoopForTest();
    expect(commits).toHaveLength(slow + 1);
  });

  it("of urgent events are not delayed [E6]", async () => {
    const clock = new FakeClock();
    const { store, commits } = slowStore(clock, 10);
    const { engine, agent } = createEngineFixture({ store, clock });
    const answer = engine.sendMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    await flushEventLoopForTest();
    run.emit(createTestChunkEvent("a"));
    await flushEventLoopForTest();
    run.emit(workingTestEvent).end();
    expect(getTestResponseTask(await answer).status.state).toBe("TASK_STATE_COMPLETED");
    expect(commits.reduce((sum, events) => sum + events)).toBe(4);
  });
});

describe("a store", () => {
  it("learns whether agents are running, so that it does not block them", async () => {
    const store = new MemoryStore();
    const commit = store.commit.bind(store);
    const commits: unknown[] = [];
    store.commit = (batch, about?: object) => {
      commits.push([batch.length, about]);
      return commit(batch);
    };
    const { engine, agent } = createEngineFixture({ store });
    const answers = ["a", "b"].map((text) => engine.sendMessage(createTestSendMessageRequest(text), alice));
    await agent.waitForRun(1);
    await flushEventLoopForTest();
    for (const run of agent.runs) {
      run.end();
      await flushEventLoopForTest();
    }
    await Promise.all(answers);
    expect(commits).toEqual([
      [2, { agentsAtWork: true }],
      [1, { agentsAtWork: true }],
      [1, { agentsAtWork: false }],
    ]);
  });
});
