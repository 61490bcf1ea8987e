import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogEvent, type TaskEvent } from "../protocol/index.ts";
import { createTestChunkEvent, createTestStatusEvent } from "./task-event-logs.fixture.ts";
import { toLogRows } from "./to-log-rows.ts";

const status = createTestStatusEvent("t", "TASK_STATE_WORKING");
const largeChunk = createTestChunkEvent("t", "x".repeat(5000));

function createLogEvents(events: readonly TaskEvent[]): LogEvent[] {
  return events.map((event, at) => LogEvent.create(at + 1, event));
}

describe("the log rows of an append", () => {
  it("are one row for small artifacts", () => {
    const rows = toLogRows(createLogEvents([status, createTestChunkEvent("t", "small"), status]));
    expect(rows).toMatchObject([{ seq: 3, hasOnlyArtifacts: false }]);
  });

  it("separate large artifacts from the other events", () => {
    const rows = toLogRows(createLogEvents([status, largeChunk, largeChunk, status]));
    expect(rows.map(({ seq, hasOnlyArtifacts }) => [seq, hasOnlyArtifacts])).toEqual([
      [1, false],
      [3, true],
      [4, false],
    ]);
  });

  it("are marked if all events are artifact events", () => {
    const small = createTestChunkEvent("t", "small");
    expect(toLogRows(createLogEvents([small, small]))).toMatchObject([{ seq: 2, hasOnlyArtifacts: true }]);
  });

  it("do not exist for an append without events", () => {
    expect(toLogRows([])).toEqual([]);
  });

  it("contain all events in order, and a marked row contains only artifact events", () => {
    const eventArbitrary = fc.constantFrom(status, largeChunk, createTestChunkEvent("t", '"artifactUpdate'));
    fc.assert(
      fc.property(fc.array(eventArbitrary), (events) => {
        const rows = toLogRows(createLogEvents(events));
        const texts = rows.flatMap(({ lines }) => lines.split("\n"));
        expect(texts).toEqual(events.map((event) => JSON.stringify(event)));
        let seq = 0;
        for (const row of rows) {
          const parsed = row.lines.split("\n").map((line) => JSON.parse(line) as TaskEvent);
          expect(row.seq).toBe((seq += parsed.length));
          expect(row.hasOnlyArtifacts).toBe(parsed.every((event) => "artifactUpdate" in event));
        }
      }),
    );
  });
});
