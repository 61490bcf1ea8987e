import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryStore } from "../stores/index.ts";
import type { Run } from "./agent.ts";
import {
  alice,
  completedTestEvent,
  createProcessFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  createTestTaskScopeForCaller,
  FakeClock,
  flushEventLoopForTest,
  inputRequiredTestEvent,
  ScriptedAgent,
  workingTestEvent,
  type EngineFixture,
  type ScriptedRun,
} from "./engine.fixture.ts";
import type { AppendRefusal, LogAppend } from "./task-store.ts";

/** A store that records its appends, and that stops responding after a number of commits, as if its process were killed. */
class RecordingStore extends MemoryStore {
  readonly appends: LogAppend[] = [];
  stepReads = 0;
  commitsLeft = Infinity;

  override async commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    if (this.commitsLeft-- <= 0) return new Promise(() => {});
    this.appends.push(...batch);
    return super.commit(batch);
  }

  constructor() {
    super();
    const turns = { ...this.turns };
    this.turns.readSteps = (...request) => {
      this.stepReads++;
      return turns.readSteps(...request);
    };
  }
}

/** Starts an engine on the store like a new process, and resolves with the run of its first turn. */
async function startProcess(
  store: MemoryStore,
  afterRestart: "fail" | "restart" | "resume" = "restart",
  clock = new FakeClock(),
): Promise<EngineFixture & { scripted: ScriptedRun; run: Run }> {
  const fixture = createProcessFixture({ store, agent: new ScriptedAgent({ afterRestart }), clock });
  const isFirst = (await store.listUnfinished()).length === 0;
  if (isFirst) void fixture.engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
  else await fixture.engine.open();
  const scripted = await fixture.agent.waitForRun(0);
  await flushEventLoopForTest();
  return { ...fixture, scripted, run: scripted.run };
}

const scope = createTestTaskScopeForCaller(alice);

describe("run.once", () => {
  it("returns the stored result in a later attempt, and does not execute the step again [E18]", async () => {
    const store = new RecordingStore();
    const { run: first } = await startProcess(store);
    const order = { id: 7, lines: [{ price: 1.5 }, null], note: undefined };
    expect(await first.once("order", () => order)).toEqual({ id: 7, lines: [{ price: 1.5 }, null] });
    expect(store.stepReads).toBe(0);

    const { run: second } = await startProcess(store);
    expect(second.attempt).toBe(2);
    const repeated = await second.once("order", () => expect.unreachable("a finished step is not repeated"));
    expect(repeated).toEqual({ id: 7, lines: [{ price: 1.5 }, null] });
    await second.once("mail", async () => {});

    const { run: third } = await startProcess(store);
    expect(await third.once("mail", () => expect.unreachable())).toBeUndefined();
    expect(await third.once("order", () => expect.unreachable())).toEqual(repeated);
  });

  it("executes the step in flight again, with the same idempotency key [E18]", async () => {
    const store = new RecordingStore();
    const keys: string[] = [];
    const { run: first } = await startProcess(store);
    await first.once("a", () => 1);
    void first.once("b", ({ idempotencyKey, attempt }) => {
      keys.push(`${attempt} ${idempotencyKey}`);
      return new Promise(() => {});
    });
    await flushEventLoopForTest();
    const { run: second } = await startProcess(store);
    await second.once("b", ({ idempotencyKey, attempt }) => void keys.push(`${attempt} ${idempotencyKey}`));
    await second.once("c", ({ idempotencyKey, attempt }) => void keys.push(`${attempt} ${idempotencyKey}`));
    const [one = "", two = "", other = ""] = keys;
    expect(one).toMatch(/^1 [0-9a-f]{32}$/);
    expect(two).toBe(one.replace("1", "2"));
    expect(other.slice(2)).not.toBe(one.slice(2));
    expect(second.idempotencyKey).toBe(first.idempotencyKey);
    expect(keys.join()).not.toContain(first.idempotencyKey);
  });

  it("executes a step again whose result was not stored [E18]", async () => {
    const store = new RecordingStore();
    const { run: first } = await startProcess(store);
    store.commitsLeft = 0;
    let isFinished = false;
    void first.once("a", () => 1).then(() => (isFinished = true));
    await flushEventLoopForTest();
    expect(isFinished).toBe(false);
    store.commitsLeft = Infinity;
    const { run: second } = await startProcess(store);
    expect(await second.once("a", () => 2)).toBe(2);
  });

  it("stores its result in the commit of the events that the agent yielded before [E18]", async () => {
    const store = new RecordingStore();
    const { run, scripted } = await startProcess(store);
    store.appends.length = 0;
    scripted.emit(createTestChunkEvent("before", false));
    const once = run.once("a", () => 1);
    await once;
    const stepAt = store.appends.findIndex(({ steps = [] }) => steps.some(({ key }) => key === "a"));
    const eventAt = store.appends.findIndex(({ events }) =>
      events.some(({ jsonText }) => jsonText.includes("before")),
    );
    expect(eventAt).toBeGreaterThanOrEqual(0);
    expect(eventAt).toBeLessThanOrEqual(stepAt);
  });

  it("shares one execution between two calls with one key [E18]", async () => {
    const { run } = await startProcess(new RecordingStore());
    let executions = 0;
    const step = (): number => ++executions;
    expect(await Promise.all([run.once("a", step), run.once("a", step)])).toEqual([1, 1]);
    expect(await run.once("a", step)).toBe(1);
  });

  it("can be taken from the run, as in async function* ({ once, sleep })", async () => {
    const { once, sleep } = (await startProcess(new RecordingStore())).run;
    expect(await once("a", () => 1)).toBe(1);
    await sleep("b", 0);
  });

  it("stores no errors, so that a later call executes the step again", async () => {
    const store = new RecordingStore();
    const { run } = await startProcess(store);
    const failing = (): never => {
      throw new Error("503");
    };
    await expect(run.once("a", failing)).rejects.toThrow("503");
    await expect(run.once("a", () => Promise.reject(new Error("504")))).rejects.toThrow("504");
    expect(await run.once("a", () => "200")).toBe("200");
    expect(store.appends.flatMap(({ steps = [] }) => steps)).toHaveLength(1);
  });

  it.each([
    ["a date", { at: new Date(0) }, "result.at is an instance of Date"],
    ["a number that JSON lacks", [1, Number.NaN], "result[1] is NaN"],
    ["a function", () => 1, "result is of type function"],
    ["a hole", { list: [undefined] }, "result.list[0] is undefined"],
    ["a large integer", { id: 1n }, "BigInt"],
    ["a map", new Map(), "result is an instance of Map"],
  ])("refuses %s as a result, and names the step", async (_, result, problem) => {
    const { run } = await startProcess(new RecordingStore());
    const refused = run.once("order", () => result);
    await expect(refused).rejects.toThrow(problem);
    await expect(refused).rejects.toThrow('step "order"');
  });

  it("refuses a cyclic result, a result above its limit, and an invalid key", async () => {
    const { run } = await startProcess(new RecordingStore());
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    await expect(run.once("a", () => cycle)).rejects.toThrow('The result of step "a" is not JSON');
    await expect(run.once("a", () => "x".repeat(2 ** 23))).rejects.toThrow('step "a" has 8388621 characters');
    for (const key of ["", "k".repeat(257), "\ud800"])
      await expect(run.once(key, () => expect.unreachable())).rejects.toThrow("is invalid");
    expect(await run.once("k".repeat(256), () => 1)).toBe(1);
  });

  it.each<[string, (run: Run) => Promise<unknown>, string]>([
    [
      "once without a function",
      (run) => run.once("k", 5 as never),
      '"execute" of run.once("k", execute) is not a function; pass a function, such as async () => 1.',
    ],
    ["sleep with text", (run) => run.sleep("k", "tomorrow" as never), "pass milliseconds or a valid Date"],
    ["sleep with NaN", (run) => run.sleep("k", Number.NaN), '"until" of run.sleep("k", until) is not a time'],
    [
      "sleep with an invalid Date",
      (run) => run.sleep("k", new Date("x")),
      '"until" of run.sleep("k", until)',
    ],
    ["sleep without a time", (run) => run.sleep("k", null as never), '"until" of run.sleep("k", until)'],
    ["suspend with text", (run) => run.suspend("k", "1" as never), '"until" of run.suspend("k", until)'],
  ])("refuses %s, with the name of the argument", async (_name, call, message) => {
    const { run } = await startProcess(new RecordingStore());
    await expect(call(run)).rejects.toThrow(message);
  });

  it("returns in its first attempt what later attempts receive", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (result) => {
        const store = new RecordingStore();
        const { run: first } = await startProcess(store);
        const received = await first.once("a", () => result);
        const { run: second } = await startProcess(store);
        expect(await second.once("a", () => expect.unreachable())).toEqual(received);
      }),
      { numRuns: 20 },
    );
  });

  it("never repeats a finished step, wherever the process dies [E18]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 3 }), async (crashes) => {
        const store = new RecordingStore();
        const executions: string[] = [];
        const finished = new Set<string>();
        for (const commits of [...crashes, Infinity]) {
          const { run } = await startProcess(store);
          store.commitsLeft = commits;
          const work = async (): Promise<void> => {
            for (const key of ["a", "b", "c", "d"]) {
              await run.once(key, () => {
                expect(finished.has(key)).toBe(false);
                executions.push(key);
              });
              finished.add(key);
            }
          };
          void work();
          await flushEventLoopForTest(30);
          store.commitsLeft = Infinity;
        }
        expect([...finished]).toEqual(["a", "b", "c", "d"]);
        // Each crash repeats at most the step in flight.
        expect(executions.length).toBeLessThanOrEqual(4 + crashes.length);
      }),
      { numRuns: 50 },
    );
  });

  it("stores nothing for an agent whose turns have one attempt", async () => {
    const store = new RecordingStore();
    const { run } = await startProcess(store, "fail");
    expect(await run.once("a", () => 1)).toBe(1);
    expect(await run.once("a", () => 2)).toBe(1);
    expect(store.appends.flatMap(({ steps = [] }) => steps)).toEqual([]);
  });

  it("deletes the steps when the turn ends, and a later turn starts with none", async () => {
    const store = new RecordingStore();
    const { run, scripted, engine, agent } = await startProcess(store);
    await run.once("a", () => 1);
    expect(await store.turns.readSteps(scope, run.taskId, 1)).toHaveLength(1);
    scripted.emit(inputRequiredTestEvent).end();
    await flushEventLoopForTest();
    expect(await store.turns.readSteps(scope, run.taskId, 1)).toEqual([]);
    const answer = createTestSendMessageRequest("yes", { taskId: run.taskId });
    void engine.sendMessage(answer, alice).catch(() => {});
    const { run: later } = await agent.waitForRun(1);
    expect(await later.once("a", () => 2)).toBe(2);
    expect(later.idempotencyKey).not.toBe(run.idempotencyKey);
  });

  it("stores the steps again if the agent continues after INPUT_REQUIRED [E18]", async () => {
    const store = new RecordingStore();
    const { run, scripted } = await startProcess(store);
    await run.once("a", () => 1);
    scripted.emit(inputRequiredTestEvent);
    await flushEventLoopForTest();
    expect(await run.once("b", () => 2)).toBe(2);
    expect(await store.turns.readSteps(scope, run.taskId, 1)).toEqual([]);
    scripted.emit(workingTestEvent);
    await flushEventLoopForTest();
    expect(await store.turns.readSteps(scope, run.taskId, 1)).toHaveLength(2);
    const { run: second } = await startProcess(store);
    expect(await second.once("a", () => expect.unreachable())).toBe(1);
    expect(await second.once("b", () => expect.unreachable())).toBe(2);
  });

  it("stores the steps that an agent finishes before its task exists [E18]", async () => {
    const store = new RecordingStore();
    const agent = new ScriptedAgent({ afterRestart: "restart", respondsWith: "either" });
    const { engine } = createProcessFixture({ store, agent });
    void engine.sendMessage(createTestSendMessageRequest("hi"), alice).catch(() => {});
    const scripted = await agent.waitForRun(0);
    expect(await scripted.run.once("a", () => 1)).toBe(1);
    scripted.emit(workingTestEvent);
    await flushEventLoopForTest();
    const { run: second } = await startProcess(store);
    expect(second.taskId).toBe(scripted.run.taskId);
    expect(await second.once("a", () => expect.unreachable())).toBe(1);
    expect(second.idempotencyKey).toBe(scripted.run.idempotencyKey);
  });

  it("rejects when another node has claimed the task, and stores nothing [E18]", async () => {
    const store = new RecordingStore();
    const { run } = await startProcess(store);
    await store.open();
    await store.turns.claim("puppet", 10);
    await expect(run.once("a", () => 1)).rejects.toThrow("another writer has changed it");
    expect(await store.turns.readSteps(scope, run.taskId, 1)).toEqual([]);
  });

  it("starts no step after the task is canceled, and none after the turn has ended", async () => {
    const store = new RecordingStore();
    const { run, engine, clock } = await startProcess(store);
    void engine.cancelTask({ id: run.taskId }, alice).catch(() => {});
    await flushEventLoopForTest();
    await expect(run.once("a", () => expect.unreachable())).rejects.toThrow();
    clock.advance(5000);
    await flushEventLoopForTest();
    await expect(run.once("a", () => expect.unreachable())).rejects.toThrow("has ended");
  });
});

describe("run.sleep", () => {
  it("waits in a later attempt for the time that remains [E18]", async () => {
    const store = new RecordingStore();
    const clock = new FakeClock();
    const { run: first } = await startProcess(store, "restart", clock);
    void first.sleep("nap", 60_000);
    await flushEventLoopForTest();
    clock.advance(45_000);
    const { run: second } = await startProcess(store, "restart", clock);
    let isAwake = false;
    void second.sleep("nap", 60_000).then(() => (isAwake = true));
    await flushEventLoopForTest();
    clock.advance(14_999);
    await flushEventLoopForTest();
    expect(isAwake).toBe(false);
    clock.advance(1);
    await flushEventLoopForTest();
    expect(isAwake).toBe(true);
  });

  it("waits until a time, however far, and returns at once for a time in the past", async () => {
    const clock = new FakeClock();
    const { run } = await startProcess(new RecordingStore(), "restart", clock);
    await run.sleep("past", new Date(clock.now() - 1));
    let isAwake = false;
    void run.sleep("month", new Date(clock.now() + 30 * 86_400_000)).then(() => (isAwake = true));
    for (let hour = 0; hour < 30 * 24; hour++) {
      await flushEventLoopForTest(2);
      expect(isAwake).toBe(false);
      clock.advance(3_600_000);
    }
    await flushEventLoopForTest();
    expect(isAwake).toBe(true);
  });

  it("rejects when the task is canceled, and leaves no timer", async () => {
    const { run, engine, clock, scripted } = await startProcess(new RecordingStore());
    const sleep = run.sleep("nap", 60_000);
    await flushEventLoopForTest();
    const timersBefore = clock.pendingTimerCount;
    void engine.cancelTask({ id: run.taskId }, alice).catch(() => {});
    await expect(sleep).rejects.toThrow();
    scripted.emit(completedTestEvent).end();
    await flushEventLoopForTest();
    expect(clock.pendingTimerCount).toBeLessThan(timersBefore);
  });
});
