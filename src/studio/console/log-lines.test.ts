import { describe, expect, it } from "vitest";
import { LogEvent } from "../../protocol/index.ts";
import { LineJournal } from "./line-journal.ts";
import { readLogLines } from "./log-lines.ts";

describe("the lines of a log that the console did not observe", () => {
  it.each([undefined, null, Number.NaN, 1e300, "1764403200000"])(
    "have no time if a store of the user returns the time %j [E26]",
    async (committedAt) => {
      const artifact = { artifactId: "a", parts: [{ text: "x" }] };
      const json = JSON.stringify({ artifactUpdate: { taskId: "t", contextId: "c", artifact } });
      const event = LogEvent.fromJsonText(1, json, committedAt as number | undefined);
      const tasks = {
        readEvents: async (_: string, __: string, after: number) => (after === 0 ? [event] : []),
      };
      const ids = { agentId: "a", taskId: "t", agentName: "a" };
      const lines: unknown[] = [];
      for await (const line of readLogLines(tasks as never, ids, new LineJournal()))
        lines.push(JSON.parse(line));
      expect(lines).toMatchObject([{ log_seq: 1, time_known: false }]);
    },
  );
});

it.each([
  ["a task", { parent: { task_id: "p", agent: "planner" } }],
  ["the console", {}],
])("a journal knows when %s sent the request for a task of another server", (_, sender) => {
  const journal = new LineJournal();
  const line = { v: 1, writer: "w", call: "c1", mono_ms: 0 };
  const request = { ...line, seq: 1, kind: "request", at: "2026-11-29T10:00:00.000Z", to: "solver" };
  const frame = { ...line, seq: 2, kind: "frame", at: "2026-11-29T10:00:01.000Z", index: 1, log_seq: 1 };
  journal.append(JSON.stringify({ ...request, ...sender }));
  journal.append(JSON.stringify({ ...frame, task_id: "t" }));
  journal.append(JSON.stringify({ ...frame, seq: 3, index: 2, log_seq: 4, task_id: "t" }));
  expect(journal.findFacts("t")).toEqual({ createdAt: request.at, ...sender, events: 4 });
});
