import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold, isEventRefusal, type Task } from "../protocol/index.ts";
import {
  alice,
  inputRequiredTestEvent,
  createTestChunkEvent,
  collectSubscriptionEventsForTest,
  createEngineFixture,
  createTestSendMessageRequest,
  flushEventLoopForTest,
  formatTaskEventForTest,
  workingTestEvent,
} from "./engine.fixture.ts";

type InterleavingStep =
  | { do: "say"; text: string }
  | { do: "ask" }
  | { do: "read"; after: number | undefined }
  | { do: "pause"; turns: number };

const stepArbitrary: fc.Arbitrary<InterleavingStep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("say" as const), text: fc.string({ maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: "ask" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      after: fc.option(fc.nat(12), { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("pause" as const), turns: fc.integer({ min: 1, max: 3 }) }),
  },
);

describe("subscriptions", () => {
  it("deliver every event once and in order, for any interleaving of agent and readers [E1, E3, E4, F-53, G-03]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 40 }), fc.boolean(), async (steps, merge) => {
        const { engine, agent, store } = createEngineFixture({ mergeChunks: merge });
        const whole = engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
        const run = await agent.waitForRun(0);
        const { taskId } = run.run;
        const first = collectSubscriptionEventsForTest(await whole);
        const readers: {
          after: number | undefined;
          seen: ReturnType<typeof collectSubscriptionEventsForTest>;
        }[] = [];
        run.emit(workingTestEvent);
        for (const at of steps) {
          if (at.do === "say") run.emit(createTestChunkEvent(at.text));
          else if (at.do === "ask") run.emit(inputRequiredTestEvent, workingTestEvent);
          else if (at.do === "pause") await flushEventLoopForTest(at.turns);
          else {
            const known = await store.load({ agent: "puppet", ...alice }, taskId);
            const after = at.after === undefined ? undefined : Math.min(at.after, known?.seq ?? 0);
            readers.push({
              after,
              seen: collectSubscriptionEventsForTest(
                await engine.subscribeToTask({ id: taskId }, alice, { resumeAfterSeq: after }),
              ),
            });
          }
        }
        run.end();
        const log = await (async () => {
          // Only a reader from the start sees the entire log.
          await flushEventLoopForTest();
          return collectSubscriptionEventsForTest(
            await engine.subscribeToTask({ id: taskId }, alice, { resumeAfterSeq: 0 }),
          );
        })();
        expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1));
        const final = await engine.getTask({ id: taskId }, alice);
        for (const { after, seen } of readers) {
          const events = await seen;
          if (after !== undefined) {
            expect(events).toEqual(log.slice(after));
            continue;
          }
          // A snapshot at seq n, folded with all later events, equals the task.
          const [opening, ...rest] = events;
          expect(rest).toEqual(log.slice(opening?.seq));
          expect(foldAll(events.map(({ event }) => event))).toEqual(final);
        }
        const turn = await first;
        const stop = log.findIndex(({ event }) => formatTaskEventForTest(event) === "INPUT_REQUIRED");
        expect(turn).toEqual(stop < 0 ? log : log.slice(0, stop + 1));
      }),
      { numRuns: 60 },
    );
  });

  it("return the opening event with the events that are already committed, and wait only without events [E3]", async () => {
    const { engine, agent } = createEngineFixture();
    await engine.sendStreamingMessage(createTestSendMessageRequest("hi"), alice);
    const run = await agent.waitForRun(0);
    const reader = await engine.subscribeToTask({ id: run.run.taskId }, alice);
    run.emit(workingTestEvent, createTestChunkEvent("x", false));
    await flushEventLoopForTest();
    const events = reader.next();
    expect(events).not.toBeInstanceOf(Promise);
    expect((await events)?.map(({ event }) => formatTaskEventForTest(event))).toEqual([
      "task SUBMITTED",
      "WORKING",
      "x",
    ]);
    const waiting = reader.next();
    expect(waiting).toBeInstanceOf(Promise);
    run.end();
    expect((await waiting)?.map(({ event }) => formatTaskEventForTest(event))).toEqual(["COMPLETED"]);
    expect(reader.next()).toBeUndefined();
    expect(reader.isComplete).toBe(true);
  });
});

function foldAll(events: Parameters<typeof fold>[1][]): Task | undefined {
  let task: Task | undefined;
  for (const event of events) {
    const next = fold(task, event);
    if (isEventRefusal(next)) throw new Error(next.refusalReason);
    task = next;
  }
  return task;
}
