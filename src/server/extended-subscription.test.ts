import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Subscription } from "../engine/index.ts";
import { LogEvent, type TaskEvent } from "../protocol/index.ts";
import { extendSubscription } from "./server-extensions.ts";

interface ServerVector {
  readonly name: string;
  readonly after: number | null;
  readonly log: readonly { readonly generation: number; readonly event: TaskEvent }[];
  readonly events: readonly object[];
}

const vectorUrl = new URL("../../docs/extensions/vectors/stream-cursor-v1.json", import.meta.url);
const { server: vectors } = JSON.parse(readFileSync(vectorUrl, "utf8")) as { server: ServerVector[] };

/** Delivers one event at a time, in the same way as a subscription to a log. */
function createSubscription(events: LogEvent[]): Subscription {
  const remaining = [...events];
  return {
    next: () => Promise.resolve(remaining.length > 0 ? remaining.splice(0, 1) : undefined),
    close: () => {},
    isComplete: true,
  };
}

async function readEvents(subscription: Subscription): Promise<LogEvent[]> {
  const events: LogEvent[] = [];
  for (let next = await subscription.next(); next; next = await subscription.next()) events.push(...next);
  return events;
}

it.each(vectors)("sends $name as in the vectors of the stream cursor", async ({ after, log, events }) => {
  const later = log
    .filter(({ generation, event }) => generation > (after ?? 0) && !("message" in event))
    .map(({ generation, event }) => LogEvent.create(generation, event));
  const subscription = extendSubscription(createSubscription(later), true, after ?? undefined);
  expect((await readEvents(subscription)).map(({ event }) => event)).toEqual(events);
});

it("converts each event once for all readers, unless their previous events differ", async () => {
  const log = (vectors[0]?.log ?? []).map(({ generation, event }) => LogEvent.create(generation, event));
  const [, working, asked, message, resumed] = log as [LogEvent, LogEvent, LogEvent, LogEvent, LogEvent];
  const read = (events: LogEvent[]): Promise<LogEvent[]> =>
    readEvents(extendSubscription(createSubscription(events), true, 1));
  const [first, second] = [
    await read([working, asked, resumed]),
    await read([working, asked, message, resumed]),
  ];
  expect(first[0]).toBe(second[0]);
  expect(first[1]).toBe(second[1]);
  expect(first[2]?.jsonText).toContain("previousGeneration");
  expect(second[3]?.jsonText).not.toContain("previousGeneration");
});

it("leaves a reply without a task unchanged", async () => {
  const reply = LogEvent.create(0, {
    message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "x" }] },
  });
  expect(await readEvents(extendSubscription(createSubscription([reply]), true, undefined))).toEqual([reply]);
});
