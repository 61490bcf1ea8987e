import { describe, expect, it } from "vitest";
import { FakeClock, flushEventLoopForTest } from "./engine.fixture.ts";
import { SuspectTurnQueue } from "./task-recovery.ts";

describe("SuspectTurnQueue", () => {
  const createQueue = (): {
    readonly queue: SuspectTurnQueue<string>;
    readonly clock: FakeClock;
    readonly started: string[];
    readonly endTurn: (name: string) => Promise<void>;
  } => {
    const clock = new FakeClock();
    const started: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<void>>();
    const queue = new SuspectTurnQueue<string>(clock, (name) => {
      started.push(name);
      const end = Promise.withResolvers<void>();
      ends.set(name, end);
      return Promise.resolve({ end: end.promise });
    });
    const endTurn = async (name: string): Promise<void> => {
      ends.get(name)?.resolve();
      await flushEventLoopForTest();
    };
    return { queue, clock, started, endTurn };
  };

  it("starts the next turn when the turn before has ended [E17]", async () => {
    const { queue, started, endTurn } = createQueue();
    void queue.add(["a", "b"]);
    void queue.add(["c"]);
    await flushEventLoopForTest();
    expect(started).toEqual(["a"]);
    await endTurn("a");
    expect(started).toEqual(["a", "b"]);
    await endTurn("b");
    await endTurn("c");
    void queue.add(["d"]);
    await flushEventLoopForTest();
    expect(started).toEqual(["a", "b", "c", "d"]);
  });

  it("starts the next turn after ten seconds, and leaves no timer", async () => {
    const { queue, clock, started, endTurn } = createQueue();
    void queue.add(["slow", "next"]);
    await flushEventLoopForTest();
    clock.advance(9_999);
    await flushEventLoopForTest();
    expect(started).toEqual(["slow"]);
    clock.advance(1);
    await flushEventLoopForTest();
    expect(started).toEqual(["slow", "next"]);
    await endTurn("next");
    expect(clock.pendingTimerCount).toBe(0);
  });

  it("returns the turns that have not started", async () => {
    const { queue, started } = createQueue();
    void queue.add(["a", "b", "c"]);
    await flushEventLoopForTest();
    expect(queue.takeWaiting()).toEqual(["b", "c"]);
    expect(queue.takeWaiting()).toEqual([]);
    expect(started).toEqual(["a"]);
  });
});
