import { afterEach, describe, expect, it } from "vitest";
import type { Task } from "../../protocol/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import type { TrafficLine } from "../../observe/trace/index.ts";
import type { ConsoleAgentList } from "../console-api/index.ts";
import { ConsoleTestServer, collectTestLines, findTestTaskId, readTestLines } from "./console.fixture.ts";

let console: ConsoleTestServer;
let remote: Server | undefined;
afterEach(async () => {
  await console.close();
  await remote?.close();
  remote = undefined;
});

/** Starts a console for an agent of the same server, or for a remote agent, and returns the id of the agent. */
async function start(location: "own" | "remote"): Promise<string> {
  if (location === "own") console = await ConsoleTestServer.start({ parrot: messageCommandTestAgent });
  else {
    remote = createServer({ parrot: messageCommandTestAgent }, { store: "memory", observer: false });
    const { url } = await remote.listen();
    console = await ConsoleTestServer.start({}, {}, { mode: "console", agentUrls: [`${url}/a2a/parrot`] });
  }
  const { agents } = await console.readJson<ConsoleAgentList>("GET agents");
  return agents[0]?.id ?? "";
}

const listFrameSeqs = (lines: readonly TrafficLine[]): (number | undefined)[] =>
  lines.flatMap((line) => (line.kind === "frame" ? [line.log_seq] : []));

describe.each(["own", "remote"] as const)("a task of an agent (%s)", (location) => {
  it("is replayed after an event, also after its end", async () => {
    const id = await start(location);
    const sent = await console.send(id, "echo hello");
    const taskId = findTestTaskId(sent);
    const all = listFrameSeqs(sent);
    expect(all.length).toBeGreaterThan(2);
    const after = all[0] ?? 0;
    const response = await console.request(`POST agents/${id}/tasks/${taskId}/subscribe?after=${after}`);
    const replayed = await collectTestLines(readTestLines(response));
    expect(listFrameSeqs(replayed)).toEqual(all.slice(1));
    expect(replayed.at(-1)).toMatchObject({ kind: "stream-end", reason: "completed" });
  });

  it("is repeated with an edited message, which names the earlier task", async () => {
    const id = await start(location);
    const earlierId = findTestTaskId(await console.send(id, "echo hello"));
    const earlier = await console.readJson<Task>(`GET agents/${id}/tasks/${earlierId}`);
    const message = {
      parts: [{ text: "echo goodbye" }],
      contextId: earlier.contextId,
      referenceTaskIds: [earlierId],
    };
    const repeatedId = findTestTaskId(await collectTestLines(console.stream(id, message)));
    expect(repeatedId).not.toBe(earlierId);
    const repeated = await console.readJson<Task>(`GET agents/${id}/tasks/${repeatedId}`);
    expect(repeated.contextId).toBe(earlier.contextId);
    expect(repeated.history?.[0]).toMatchObject({
      parts: [{ text: "echo goodbye" }],
      referenceTaskIds: [earlierId],
    });
    expect(JSON.stringify(repeated.artifacts)).toContain("goodbye");
  });

  it("continues with an answer to its question", async () => {
    const id = await start(location);
    const taskId = findTestTaskId(await console.send(id, "ask"));
    expect((await console.readJson<Task>(`GET agents/${id}/tasks/${taskId}`)).status.state).toBe(
      "TASK_STATE_INPUT_REQUIRED",
    );
    const answered = await collectTestLines(console.stream(id, { parts: [{ text: "blue" }], taskId }));
    expect(findTestTaskId(answered)).toBe(taskId);
    const task = await console.readJson<Task>(`GET agents/${id}/tasks/${taskId}`);
    expect(JSON.stringify(task.history)).toContain("blue");
  });
});
