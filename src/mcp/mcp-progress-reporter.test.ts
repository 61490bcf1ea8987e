import { describe, expect, it } from "vitest";
import type { StreamResponse } from "../protocol/index.ts";
import { McpProgressReporter } from "./mcp-progress-reporter.ts";

const createChunkEvent = (text: string): StreamResponse => ({
  artifactUpdate: { taskId: "t", contextId: "c", artifact: { artifactId: "a", parts: [{ text }] } },
});
const createStatusEvent = (text: string): StreamResponse => ({
  statusUpdate: {
    taskId: "t",
    contextId: "c",
    status: {
      state: "TASK_STATE_WORKING",
      message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text }] },
    },
  },
});

describe("progress", () => {
  it("is told one by one: chunks that come while the host reads become one, of which it gets the end", async () => {
    const told: [number, string][] = [];
    let read!: () => void;
    const progress = new McpProgressReporter((number, message) => {
      told.push([number, message]);
      return new Promise((resolve) => (read = resolve));
    });
    progress.reportEvent(createChunkEvent("first"));
    for (let at = 0; at < 1000; at++) progress.reportEvent(createChunkEvent(`${at} `));
    progress.reportEvent(createStatusEvent("Nearly there"));
    progress.reportEvent(createChunkEvent("last"));
    expect(told).toEqual([[1, "first"]]);
    const over = progress.flush().then(() => told.push([0, "over"]));
    for (let step = 0; step < 4; step++) {
      read();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await over;
    expect(told.map(([number]) => number)).toEqual([1, 2, 3, 4, 0]);
    expect(told[1]?.[1]).toHaveLength(1000);
    expect(told[1]?.[1]).toMatch(/ 998 999 $/);
    expect(told.slice(2, 4).map(([, message]) => message)).toEqual(["Nearly there", "last"]);
  });

  it("is bounded for a host that never reads", () => {
    let told = 0;
    const progress = new McpProgressReporter(() => {
      told++;
      return new Promise(() => {});
    });
    for (let at = 0; at < 10_000; at++) progress.reportEvent(createStatusEvent(`step ${at}`));
    expect(told).toBe(1);
  });

  it("is no concern of a call whose host is gone, or did not ask", async () => {
    const gone = new McpProgressReporter(() => Promise.reject(new Error("closed")));
    gone.reportEvent(createStatusEvent("one"));
    gone.reportEvent(createStatusEvent("two"));
    await gone.flush();
    const unasked = new McpProgressReporter(undefined);
    unasked.reportEvent(createStatusEvent("one"));
    await expect(unasked.flush()).resolves.toBeUndefined();
  });
});
