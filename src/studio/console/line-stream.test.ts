import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSse } from "../../wire/index.ts";
import { LineJournal } from "./line-journal.ts";
import { createLineStreamResponse } from "./line-stream.ts";

/** Returns a line with a number, padded to about 1,000 characters. */
const createLine = (seq: number): string =>
  JSON.stringify({ v: 1, kind: "turn", writer: "w", seq, task_id: `task-${seq % 2}`, pad: "x".repeat(900) });

interface ReceivedLine {
  readonly kind: string;
  readonly seq: number;
  readonly lines?: number;
}

/** Reads a stream to its end. */
async function readLines(response: Response): Promise<ReceivedLine[]> {
  const lines: ReceivedLine[] = [];
  for await (const { event, data } of parseSse(response.body as unknown as AsyncIterable<Uint8Array>))
    if (event !== "end") lines.push(JSON.parse(data) as ReceivedLine);
  return lines;
}

describe("a stream of journal lines", () => {
  it("delivers each line after the cursor once, or counts it as lost", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 1, max: 30 }),
        async (before, later, kilobytes) => {
          const journal = new LineJournal(kilobytes * 1_000);
          for (let seq = 1; seq <= before; seq++) journal.append(createLine(seq));
          let isOver = false;
          const findEnd = (): { reason: "completed" } | undefined =>
            isOver ? { reason: "completed" } : undefined;
          const reading = readLines(createLineStreamResponse({ journal, after: 0, findEnd }, {}));
          for (let seq = before + 1; seq <= before + later; seq++) {
            journal.append(createLine(seq));
            if (seq % 7 === 0) await Promise.resolve();
          }
          isOver = true;
          journal.wakeReaders();
          let expected = 1;
          for (const { kind, seq, lines = 0 } of await reading) {
            if (kind === "loss") expected += lines;
            else expect(seq).toBe(expected++);
          }
          expect(expected).toBe(before + later + 1);
        },
      ),
    );
  });

  it("keeps no lines for a page that does not read", async () => {
    const journal = new LineJournal(10_000);
    const response = createLineStreamResponse({ journal, after: 0 }, {});
    for (let seq = 1; seq <= 10_000; seq++) journal.append(createLine(seq));
    expect([...journal.entriesAfter(0)].length).toBeLessThan(11);
    expect(journal.countLostLines(0)).toBeGreaterThan(9_980);
    await response.body?.cancel();
  });

  it("closes its operation when the page closes it", async () => {
    let closed = 0;
    const stream = { journal: new LineJournal(), after: 0, onClose: () => closed++ };
    const response = createLineStreamResponse(stream, {});
    await response.body?.cancel();
    expect(closed).toBe(1);
  });
});

describe("the lines of a task", () => {
  it("include the lines of its calls that name no task", () => {
    const journal = new LineJournal();
    const append = (line: object): unknown => journal.append(JSON.stringify({ v: 1, writer: "w", ...line }));
    append({ kind: "request", call: "c1" });
    append({ kind: "request", call: "c2" });
    append({ kind: "response", call: "c1", task_id: "t" });
    append({ kind: "turn", task_id: "t" });
    append({ kind: "frame", call: "c2", task_id: "other" });
    expect(journal.listTaskLines("t").map(({ cursor }) => cursor)).toEqual([1, 3, 4]);
  });
});
