import { expect, it } from "vitest";
import { LogEvent } from "../protocol/index.ts";
import { TaskLogTail } from "./task-feed.ts";

/** Returns chunks with the sequence numbers from `first` to `last`, and `textLength` characters each. */
function createChunks(first: number, last: number, textLength = 1): LogEvent[] {
  const parts = [{ text: "x".repeat(textLength) }];
  const artifactUpdate = { taskId: "T", contextId: "C", artifact: { artifactId: "a", parts } };
  return Array.from({ length: last - first + 1 }, (_, at) => LogEvent.create(first + at, { artifactUpdate }));
}

const listSeqs = (events: readonly LogEvent[] | undefined): number[] | undefined =>
  events?.map(({ seq }) => seq);

it("a tail returns the events after a sequence number, from its first event on", () => {
  const tail = new TaskLogTail();
  expect(tail.findSince(0)).toBeUndefined();
  tail.add(createChunks(5, 6));
  tail.add(createChunks(7, 7));
  const found = [3, 4, 5, 7].map((seq) => listSeqs(tail.findSince(seq)));
  expect(found).toEqual([undefined, [5, 6, 7], [6, 7], []]);
  tail.clear();
  expect(tail.findSince(7)).toBeUndefined();
  tail.add(createChunks(9, 9));
  expect(listSeqs(tail.findSince(8))).toEqual([9]);
});

it.each([
  ["more than 1,024 events", 1025, 1],
  ["more than 1 MiB", 5, 255 * 1024],
])("a tail drops its older half if it has %s", (_, count, textLength) => {
  const tail = new TaskLogTail();
  for (const event of createChunks(1, count - 1, textLength)) tail.add([event]);
  tail.add(createChunks(count, count, textLength));
  const oldest = Math.ceil(count / 2) + 1;
  expect([tail.findSince(oldest - 2), tail.findSince(oldest - 1)?.length]).toEqual([
    undefined,
    count - oldest + 1,
  ]);
});
