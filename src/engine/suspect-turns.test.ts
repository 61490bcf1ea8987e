import { assert, asyncProperty, integer, nat } from "fast-check";
import { describe, expect, it } from "vitest";
import { alice, FakeClock, flushEventLoopForTest } from "./engine.fixture.ts";
import { isSuspect, SuspectTurnQueue } from "./suspect-turns.ts";
import type { ClaimedTask } from "./task-store.ts";
import { countFailedAttempts, countAsGroupOfTwo, type TurnRestartData } from "./turn-restart-data.ts";

type Suspect = Parameters<SuspectTurnQueue["add"]>[0][number];

const scope = { ...alice, agent: "echo" };
const createSuspect = (taskId: string, turn: Partial<TurnRestartData> = {}): Suspect => ({
  scope,
  taskId,
  contextId: "c",
  state: "TASK_STATE_WORKING",
  timestamp: "2026-01-01T00:00:00.000Z",
  epoch: 1,
  seq: 1,
  turn: { seq: 1, attempt: 2, request: {}, service: {}, ...turn },
});

describe("SuspectTurnQueue", () => {
  const createQueue = (): {
    readonly queue: SuspectTurnQueue;
    readonly clock: FakeClock;
    readonly groups: string[][];
    readonly joined: string[];
    readonly endTurns: (...ids: string[]) => Promise<void>;
  } => {
    const clock = new FakeClock();
    const groups: string[][] = [];
    const joined: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<void>>();
    const queue = new SuspectTurnQueue(
      clock,
      (group) => {
        groups.push(group.map(({ taskId }) => taskId));
        for (const { taskId } of group) ends.set(taskId, Promise.withResolvers<void>());
        return Promise.resolve(group.map(({ taskId }) => ends.get(taskId)?.promise ?? Promise.resolve()));
      },
      ({ taskId }) => {
        joined.push(taskId);
        return Promise.resolve();
      },
    );
    const endTurns = async (...ids: string[]): Promise<void> => {
      for (const id of ids) ends.get(id)?.resolve();
      await flushEventLoopForTest();
    };
    return { queue, clock, groups, joined, endTurns };
  };

  it("starts half of the turns, and the others when all of the first have ended [E17]", async () => {
    const { queue, groups, endTurns } = createQueue();
    void queue.add(["a", "b", "c", "d"].map((id) => createSuspect(id)));
    await flushEventLoopForTest();
    expect(groups).toEqual([["d", "c"]]);
    await endTurns("d");
    expect(groups).toHaveLength(1);
    await endTurns("c");
    expect(groups.slice(1)).toEqual([["b", "a"]]);
    await endTurns("a", "b");
    void queue.add([createSuspect("e")]);
    await flushEventLoopForTest();
    expect(groups.at(-1)).toEqual(["e"]);
  });

  it("starts the next group after ten seconds, and leaves no timer", async () => {
    const { queue, clock, groups, endTurns } = createQueue();
    void queue.add(["a", "b", "c", "d"].map((id) => createSuspect(id)));
    await flushEventLoopForTest();
    clock.advance(9_999);
    await flushEventLoopForTest();
    expect(groups).toEqual([["d", "c"]]);
    clock.advance(1);
    await flushEventLoopForTest();
    expect(groups.slice(1)).toEqual([["b", "a"]]);
    await endTurns("b", "a");
    expect(clock.pendingTimerCount).toBe(0);
  });

  it.each([
    { outlivedRuns: 0, runMs: 2_500 },
    { outlivedRuns: 3, runMs: 20_000 },
    { outlivedRuns: 9, runMs: 40_000 },
  ])("starts the next group $runMs ms after a lone turn that has outlived $outlivedRuns", async (row) => {
    const { queue, clock, groups, joined } = createQueue();
    const lone = createSuspect("lone", { groupSize: 2, outlivedRuns: row.outlivedRuns });
    void queue.add([lone, createSuspect("a"), createSuspect("b")]);
    await flushEventLoopForTest();
    clock.advance(row.runMs - 1);
    await flushEventLoopForTest();
    expect([groups, joined]).toEqual([[["lone"]], []]);
    clock.advance(1);
    await flushEventLoopForTest();
    expect([groups.slice(1), joined]).toEqual([[["b", "a"]], ["lone"]]);
  });

  it("starts 3,000 turns that never end within 20 seconds, although they arrive in small claims [E17]", async () => {
    const { queue, clock, groups } = createQueue();
    const suspects = Array.from({ length: 3000 }, (_, at) => createSuspect(String(at).padStart(4, "0")));
    for (let at = 0; at < suspects.length; at += 256) await queue.add(suspects.slice(at, at + 256));
    for (const _ of [1, 2]) {
      clock.advance(10_000);
      await flushEventLoopForTest();
    }
    expect(groups.flat()).toHaveLength(3000);
    expect(queue.waitingCount).toBe(0);
  });

  it("starts a group that died before other turns, in halves", async () => {
    const { queue, groups, endTurns } = createQueue();
    const died = ["a", "b", "c"].map((id) => createSuspect(id, { attempt: 3, groupSize: 3 }));
    void queue.add([...["x", "y"].map((id) => createSuspect(id)), ...died]);
    await endTurns();
    expect(groups).toEqual([["c"]]);
    await endTurns("c");
    await endTurns("b");
    await endTurns("a");
    expect(groups).toEqual([["c"], ["b"], ["a"], ["y", "x"]]);
  });

  it("returns the turns that have not started", async () => {
    const { queue, groups } = createQueue();
    void queue.add(["a", "b", "c"].map((id) => createSuspect(id)));
    await flushEventLoopForTest();
    expect(groups).toEqual([["c", "b"]]);
    expect([queue.isWaiting(scope, "a"), queue.isWaiting(scope, "b")]).toEqual([true, false]);
    expect(queue.takeAll().map(({ taskId }) => taskId)).toEqual(["a"]);
    expect(queue.takeAll()).toEqual([]);
    void queue.add([createSuspect("d")]);
    expect(queue.take(scope, "d")).toMatchObject({ taskId: "d" });
    expect(queue.take(scope, "d")).toBeUndefined();
    expect(queue.waitingCount).toBe(0);
  });

  it("finds the turn that kills each process, and never counts its deaths against other turns [E17]", async () => {
    const parameters = [integer({ min: 1, max: 200 }), nat(), integer({ min: 3, max: 6 })] as const;
    const property = async (count: number, position: number, turnAttempts: number): Promise<void> => {
      const poison = String(position % count);
      const unsettled = new Map<string, ClaimedTask>();
      for (let at = 0; at < count; at++) unsettled.set(String(at), createSuspect(String(at)));
      let deaths = 0;
      while (unsettled.size > 0) {
        deaths += await runProcess(unsettled, poison, turnAttempts);
        expect(deaths).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + turnAttempts);
      }
    };
    await assert(asyncProperty(...parameters, property), { numRuns: 50 });
  });
  it("counts no deaths against turns that run for long before a turn that kills each process [E17]", async () => {
    const parameters = [integer({ min: 1, max: 40 }), nat(), nat()] as const;
    const property = async (count: number, position: number, startedAlone: number): Promise<void> => {
      const poison = String(position % count);
      const stored = new Map<string, Suspect>();
      for (let at = 0; at < count; at++) {
        // Some turns have died in small groups already.
        const isOfPair = at < startedAlone % count;
        stored.set(String(at), createSuspect(String(at), isOfPair ? { attempt: 3, groupSize: 2 } : {}));
      }
      for (let deaths = 0; stored.has(poison); deaths++) {
        expect(deaths).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + 5);
        await runProcessOfLongTurns(stored, poison);
      }
      expect(stored.size).toBe(count - 1);
    };
    await assert(asyncProperty(...parameters, property), { numRuns: 25 });
  });

  it("finds a turn that kills each process after up to 40 seconds [E17]", async () => {
    const parameters = [integer({ min: 1, max: 12 }), nat(), integer({ min: 1, max: 39 })] as const;
    const property = async (count: number, position: number, killAfterSeconds: number): Promise<void> => {
      const poison = String(position % count);
      const stored = new Map<string, Suspect>();
      for (let at = 0; at < count; at++) stored.set(String(at), createSuspect(String(at)));
      for (let deaths = 0; stored.has(poison); deaths++) {
        expect(deaths).toBeLessThanOrEqual(Math.ceil(Math.log2(count)) + 10);
        await runProcessOfLongTurns(stored, poison, killAfterSeconds);
      }
      // The deaths before the first run of 40 seconds can count against one other turn.
      expect(stored.size).toBeGreaterThanOrEqual(killAfterSeconds < 10 ? count - 1 : count - 2);
    };
    await assert(asyncProperty(...parameters, property), { numRuns: 20 });
  });
});

/**
 * Runs the turns in one process until the poison has killed the process. The other turns never end. Turns that fail are
 * removed.
 */
async function runProcessOfLongTurns(
  stored: Map<string, Suspect>,
  poison: string,
  killAfterSeconds = 0,
): Promise<void> {
  const clock = new FakeClock();
  const process = { isDead: false };
  const queue = new SuspectTurnQueue(
    clock,
    (group) => {
      for (const task of process.isDead ? [] : group) {
        const { taskId, turn } = task as Suspect;
        if (countFailedAttempts(turn) >= 5) stored.delete(taskId);
        else stored.set(taskId, { ...task, turn: { ...turn, attempt: turn.attempt + 1 } });
      }
      if (group.some(({ taskId }) => taskId === poison && stored.has(poison))) {
        process.isDead ||= killAfterSeconds === 0;
        clock.schedule(killAfterSeconds * 1000, () => (process.isDead = true));
      }
      return Promise.resolve(
        group.map(({ taskId }) => (stored.has(taskId) ? new Promise(() => {}) : Promise.resolve())),
      );
    },
    ({ taskId }) => {
      const task = stored.get(taskId);
      if (!process.isDead && task)
        stored.set(taskId, { ...task, turn: { ...task.turn, ...countAsGroupOfTwo(task.turn) } });
      return Promise.resolve();
    },
  );
  void queue.add([...stored.values()]);
  for (let second = 0; second < 1000 && !process.isDead && stored.has(poison); second += 0.5) {
    await flushEventLoopForTest();
    clock.advance(500);
  }
}

/** Recovers the tasks in one process, which dies if the poison starts. Returns the number of deaths. */
async function runProcess(
  unsettled: Map<string, ClaimedTask>,
  poison: string,
  turnAttempts: number,
): Promise<number> {
  let isDead = false;
  const queue = new SuspectTurnQueue(
    new FakeClock(),
    (group) => {
      if (isDead) return new Promise(() => {});
      for (const task of group) {
        const { taskId, turn } = task;
        if (!turn) throw new Error(`Task ${taskId} has no turn.`);
        if (countFailedAttempts(turn) >= turnAttempts) {
          expect(taskId).toBe(poison);
          unsettled.delete(taskId);
        } else unsettled.set(taskId, { ...task, turn: { ...turn, attempt: turn.attempt + 1 } });
      }
      isDead = group.some(({ taskId }) => taskId === poison && unsettled.has(poison));
      if (!isDead) for (const { taskId } of group) unsettled.delete(taskId);
      return isDead ? new Promise(() => {}) : Promise.resolve([]);
    },
    () => Promise.resolve(),
  );
  void queue.add([...unsettled.values()].filter(isSuspect));
  await flushEventLoopForTest();
  return isDead ? 1 : 0;
}
