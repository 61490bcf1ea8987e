import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OperatorAccessReport } from "../../engine/index.ts";
import type { Task } from "../../protocol/index.ts";
import { bearer } from "../../server/auth/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import type { ConsoleSession, ConsoleTaskList } from "../console-api/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { ConsoleTestServer, collectTestLines, findTestTaskId, readTestLines } from "./console.fixture.ts";

const ADA = "token-of-the-caller-ada";
const BOB = "token-of-the-caller-bob";
const OPERATOR = "token-of-the-operator-olga";

/** Requests that name a task. Each must treat the task of another caller as a task that does not exist. */
const TASK_ROUTES = [
  "GET agents/parrot/tasks/ID",
  "POST agents/parrot/tasks/ID/cancel",
  "POST push/parrot/tasks/ID",
];

let console: ConsoleTestServer;
let folder: string;
let accesses: OperatorAccessReport[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "console-"));
  accesses = [];
  console = await ConsoleTestServer.start(
    { parrot: messageCommandTestAgent },
    {
      store: `sqlite:${join(folder, "tasks.db")}`,
      push: { allowPrivate: true },
      authenticate: bearer({ tokens: { [ADA]: "ada", [BOB]: "bob" } }),
      operator: { authenticate: bearer({ tokens: { [OPERATOR]: "olga" } }) },
      observer: { onOperatorAccess: (seen) => accesses.push(seen) },
    },
  );
});
afterEach(async () => {
  await console.close();
  rmSync(folder, { recursive: true });
});

const listTasks = (token: string, query = ""): Promise<ConsoleTaskList> =>
  console.readJson<ConsoleTaskList>(`GET tasks${query}`, { token });

describe("a caller of a shared console", () => {
  it("sees only their own tasks in every route [E13] [SEC-63]", async () => {
    const id = findTestTaskId(await console.send("parrot", "ask", { token: ADA }));
    expect((await listTasks(ADA)).tasks.map((task) => task.id)).toEqual([id]);
    for (const query of ["", "?agent=parrot", "?state=TASK_STATE_INPUT_REQUIRED"])
      expect((await listTasks(BOB, query)).tasks).toEqual([]);
    for (const route of TASK_ROUTES) {
      const foreign = await console.request(route.replace("ID", id), { token: BOB });
      const unknown = await console.request(route.replace("ID", "unknown"), { token: BOB });
      expect([route, foreign.status]).toEqual([route, 404]);
      expect((await foreign.text()).replaceAll(id, "ID")).toBe(
        (await unknown.text()).replaceAll("unknown", "ID"),
      );
    }
    // The lines of the caller's own requests remain.
    const lines = await console.readTaskLines("parrot", id, { token: BOB });
    expect(new Set(lines.map(({ kind }) => kind))).toEqual(new Set(["writer", "request", "response"]));
    expect(JSON.stringify(lines)).not.toContain("what?");
    expect((await console.readTaskLines("parrot", id, { token: ADA })).length).toBeGreaterThan(2);
    const answer = { message: { taskId: id, parts: [{ text: "echo x" }] } };
    for (const route of ["POST agents/parrot/messages", `POST agents/parrot/tasks/${id}/subscribe`]) {
      const response = await console.request(route, { token: BOB, body: answer });
      await expect(collectTestLines(readTestLines(response))).rejects.toThrow("TASK_NOT_FOUND");
    }
  });

  it("sees only the live lines of their own tasks [E13]", async () => {
    await listTasks(BOB);
    const stop = new AbortController();
    const watch = await console.request("GET lines", { token: BOB, signal: stop.signal });
    const foreign = findTestTaskId(await console.send("parrot", "echo secret of ada", { token: ADA }));
    const own = findTestTaskId(await console.send("parrot", "echo bob", { token: BOB }));
    let text = "";
    const reader = (watch.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    while (!text.includes("TASK_STATE_COMPLETED")) text += (await reader.read()).value ?? "";
    stop.abort();
    expect(text).toContain(own);
    expect(text).toContain(`"kind":"event"`);
    expect(text).not.toContain(foreign);
    expect(text).not.toContain("secret of ada");
  });

  it("sees no requests of other callers, also not those that name a task of the caller [E13] [SEC-64]", async () => {
    await console.close();
    const record = createTrafficWriter(createMemoryTrafficSink(), { vantage: "server", name: "test" });
    console = await ConsoleTestServer.start(
      { parrot: messageCommandTestAgent },
      {
        record,
        authenticate: bearer({ tokens: { [ADA]: "ada", [BOB]: "bob" } }),
        operator: { authenticate: bearer({ tokens: { [OPERATOR]: "olga" } }) },
      },
      { serverRecord: record },
    );
    const id = findTestTaskId(await console.send("parrot", "ask", { token: ADA }));
    await console.readJson("GET session", { token: OPERATOR });
    await console.request(`POST agents/parrot/tasks/${id}/cancel`, { token: BOB });
    const seenByAda = await console.readTaskLines("parrot", id, { token: ADA });
    const seenByOperator = await console.readTaskLines("parrot", id, { token: OPERATOR });
    expect(JSON.stringify(seenByAda)).not.toContain("bob");
    const attempts = seenByOperator.filter(
      (line) => line.kind === "request" && line.operation === "CancelTask",
    );
    expect(attempts).toMatchObject([{ from: "bob", task_id: id }]);
  });

  it("is no operator, even with the launch token", async () => {
    expect(await console.readJson<ConsoleSession>("GET session", { token: ADA })).toMatchObject({
      isOperator: false,
    });
    expect((await console.request("GET session")).status).toBe(401);
    expect((await console.request("GET session", { token: false })).status).toBe(401);
    expect(accesses).toEqual([]);
  });
});

describe("an operator", () => {
  it("sees the tasks of all callers, and each look is reported [SEC-65]", async () => {
    const ada = findTestTaskId(await console.send("parrot", "echo a", { token: ADA }));
    const bob = findTestTaskId(await console.send("parrot", "echo b", { token: BOB }));
    const { tasks } = await listTasks(OPERATOR);
    expect(tasks.map(({ id, caller }) => [id, caller])).toEqual(
      expect.arrayContaining([
        [ada, "ada"],
        [bob, "bob"],
      ]),
    );
    const task = await console.readJson<Task>(`GET agents/parrot/tasks/${ada}`, { token: OPERATOR });
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect((await console.readTaskLines("parrot", ada, { token: OPERATOR })).length).toBeGreaterThan(2);
    const ofTask = { agent: "parrot", taskId: ada, owner: { tenant: "", principal: "ada" } };
    const address = { operator: "olga", remoteAddress: "127.0.0.1" };
    expect(accesses).toEqual([
      { ...address, action: "list tasks" },
      { ...address, ...ofTask, action: "GetTask" },
      { ...address, ...ofTask, action: "read events" },
    ]);
  });

  it("acts on the tasks of callers on their behalf, and each act is reported", async () => {
    const id = findTestTaskId(await console.send("parrot", "ask", { token: ADA }));
    const answer = { taskId: id, parts: [{ text: "echo answered by olga" }] };
    await collectTestLines(console.stream("parrot", answer, { token: OPERATOR }));
    const task = await console.readJson<Task>(`GET agents/parrot/tasks/${id}`, { token: ADA });
    expect(JSON.stringify(task)).toContain("answered by olga");
    expect(accesses.map(({ action, taskId }) => [action, taskId])).toEqual([["SendStreamingMessage", id]]);
    const waiting = findTestTaskId(await console.send("parrot", "ask", { token: BOB }));
    const canceled = await console.readJson<Task>(`POST agents/parrot/tasks/${waiting}/cancel`, {
      token: OPERATOR,
    });
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect(accesses.at(-1)).toMatchObject({
      action: "CancelTask",
      taskId: waiting,
      owner: { principal: "bob" },
    });
  });

  it("owns the tasks that they start", async () => {
    const id = findTestTaskId(await console.send("parrot", "echo mine", { token: OPERATOR }));
    const { tasks } = await listTasks(OPERATOR);
    expect(tasks).toMatchObject([{ id, caller: "olga" }]);
    expect((await listTasks(ADA)).tasks).toEqual([]);
  });
});
