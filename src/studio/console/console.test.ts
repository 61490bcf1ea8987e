import { afterEach, describe, expect, it } from "vitest";
import type { Task } from "../../protocol/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import type {
  ConsoleAgentList,
  ConsoleCardReport,
  ConsoleSession,
  ConsoleTaskList,
} from "../console-api/index.ts";
import { ConsoleTestServer, findTestTaskId } from "./console.fixture.ts";

let console: ConsoleTestServer;
afterEach(() => console.close());

describe("the console of a server", () => {
  it("describes itself and the agents of the server", async () => {
    console = await ConsoleTestServer.start({ parrot: messageCommandTestAgent });
    expect(await console.readJson<ConsoleSession>("GET session")).toMatchObject({
      mode: "serve",
      canAct: true,
      isOperator: false,
    });
    const { agents } = await console.readJson<ConsoleAgentList>("GET agents");
    expect(agents).toMatchObject([
      { id: "parrot", name: "parrot", status: "connected", isOwn: true, binding: "JSONRPC", version: "1.0" },
    ]);
    const report = await console.readJson<ConsoleCardReport>("GET agents/parrot/card");
    expect(report).toMatchObject({
      card: { name: "parrot" },
      problems: [],
      signature: { status: "unsigned" },
    });
  });

  it("sends a message, and shows its task, lines, and log", async () => {
    console = await ConsoleTestServer.start({ parrot: messageCommandTestAgent });
    const lines = await console.send("parrot", "echo hello");
    expect(lines.map(({ kind }) => kind)).toContain("frame");
    expect(lines.at(-1)).toMatchObject({ kind: "stream-end", reason: "completed" });
    const id = findTestTaskId(lines);
    const task = await console.readJson<Task>(`GET agents/parrot/tasks/${id}`);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    const { tasks } = await console.readJson<ConsoleTaskList>("GET tasks");
    expect(tasks).toMatchObject([
      { agent: "parrot", id, state: "TASK_STATE_COMPLETED", preview: "echo hello" },
    ]);
    const all = await console.readTaskLines("parrot", id);
    const events = all.filter((line) => line.kind === "event");
    expect(events.map(({ log_seq }) => log_seq)).toEqual(events.map((_, at) => at + 1));
    expect(events).toHaveLength(tasks[0]?.events ?? 0);
    expect(all.some(({ kind }) => kind === "request")).toBe(true);
  });
});
