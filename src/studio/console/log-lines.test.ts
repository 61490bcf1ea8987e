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
