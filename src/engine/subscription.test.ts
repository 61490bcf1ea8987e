import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold, isRefusal, type Task } from "../protocol/index.ts";
import { alice, askForInput, chunk, drain, house, request, settle, word, working } from "./engine.fixture.ts";

type Step =
  | { do: "say"; text: string }
  | { do: "ask" }
  | { do: "read"; after: number | undefined }
  | { do: "pause"; turns: number };

const step: fc.Arbitrary<Step> = fc.oneof(
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
  it("give every event once and in order, for any interleaving of agent and readers [E1, E3, E4, F-53, G-03]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, merge) => {
        const { engine, puppet, store } = house({ merge });
        const whole = engine.stream(request("hi"), alice);
        const run = await puppet.run(0);
        const { taskId } = run.run;
        const first = drain(await whole);
        const readers: { after: number | undefined; seen: ReturnType<typeof drain> }[] = [];
        run.say(working);
        for (const at of steps) {
          if (at.do === "say") run.say(chunk(at.text));
          else if (at.do === "ask") run.say(askForInput, working);
          else if (at.do === "pause") await settle(at.turns);
          else {
            const known = await store.load({ agent: "puppet", ...alice }, taskId);
            const after = at.after === undefined ? undefined : Math.min(at.after, known?.seq ?? 0);
            readers.push({
              after,
              seen: drain(await engine.subscribe({ id: taskId }, alice, { after: after })),
            });
          }
        }
        run.end();
        const log = await (async () => {
          // Nobody reads the log directly but a reader from its very beginning.
          await settle();
          return drain(await engine.subscribe({ id: taskId }, alice, { after: 0 }));
        })();
        expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1));
        const final = await engine.get({ id: taskId }, alice);
        for (const { after, seen } of readers) {
          const events = await seen;
          if (after !== undefined) {
            expect(events).toEqual(log.slice(after));
            continue;
          }
          // A snapshot at seq n and all that follows it fold to the task.
          const [opening, ...rest] = events;
          expect(rest).toEqual(log.slice(opening?.seq));
          expect(foldAll(events.map(({ event }) => event))).toEqual(final);
        }
        const turn = await first;
        const stop = log.findIndex(({ event }) => word(event) === "INPUT_REQUIRED");
        expect(turn).toEqual(stop < 0 ? log : log.slice(0, stop + 1));
      }),
      { numRuns: 60 },
    );
  });
});

function foldAll(events: Parameters<typeof fold>[1][]): Task | undefined {
  let task: Task | undefined;
  for (const event of events) {
    const next = fold(task, event);
    if (isRefusal(next)) throw new Error(next.refused);
    task = next;
  }
  return task;
}
