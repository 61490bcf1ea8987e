import { gzipSync } from "node:zlib";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTrafficWriter, openTrafficFileSink } from "../../observe/trace/recording/index.ts";
import type { Task } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import type {
  ConsoleAgentList,
  ConsoleCardReport,
  ConsolePushRegistration,
  ConsoleSession,
  ConsoleTaskList,
} from "../console-api/index.ts";
import { ConsoleTestServer, findTestTaskId } from "./console.fixture.ts";

let console: ConsoleTestServer;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "console-"));
});
afterEach(async () => {
  await console.close();
  rmSync(folder, { recursive: true });
});

describe("a console of a record", () => {
  it("shows the agents, tasks, and lines that a server has recorded, and sends no requests", async () => {
    const file = join(folder, "record.jsonl");
    const recorded = await ConsoleTestServer.start({ parrot: messageCommandTestAgent }, { record: file });
    const id = findTestTaskId(await recorded.send("parrot", "echo hello"));
    await recorded.send("parrot", "ask");
    await recorded.close();

    console = await ConsoleTestServer.start({}, {}, { mode: "file", recordFiles: [file] });
    expect(await console.readJson<ConsoleSession>("GET session")).toMatchObject({
      mode: "file",
      canAct: false,
    });
    const { agents } = await console.readJson<ConsoleAgentList>("GET agents");
    expect(agents).toMatchObject([
      { id: "parrot", name: "parrot", isRecorded: true, capabilities: { streaming: true } },
    ]);
    const { tasks } = await console.readJson<ConsoleTaskList>("GET tasks?pageSize=1");
    expect(tasks).toMatchObject([{ state: "TASK_STATE_INPUT_REQUIRED" }]);
    const completed = await console.readJson<ConsoleTaskList>("GET tasks?state=TASK_STATE_COMPLETED");
    expect(completed.tasks).toMatchObject([{ id, agent: "parrot", preview: "echo hello" }]);
    const task = await console.readJson<Task>(`GET agents/parrot/tasks/${id}`);
    expect(task).toMatchObject({ id, status: { state: "TASK_STATE_COMPLETED" } });
    expect(JSON.stringify(task.artifacts)).toContain("hello");
    const kinds = new Set((await console.readTaskLines("parrot", id)).map(({ kind }) => kind));
    expect([...kinds]).toEqual(expect.arrayContaining(["request", "response", "frame", "event", "turn"]));
    const { card } = await console.readJson<ConsoleCardReport>("GET agents/parrot/card");
    expect(card["name"]).toBe("parrot");
    expect((await console.request("POST agents/parrot/messages", { body: {} })).status).toBe(400);
    expect((await console.request("GET agents/parrot/tasks/none")).status).toBe(404);
  });

  it("reads compressed files, and ignores lines that are torn or of other formats", async () => {
    const base = { v: 1, writer: "w", at: "2026-11-23T08:00:00.000Z", mono_ms: 1 };
    const status = { state: "TASK_STATE_WORKING", timestamp: base.at };
    const event = { task: { id: "task-1", contextId: "c", status } };
    const lines = [
      { ...base, seq: 1, kind: "event", agent: "far", task_id: "task-1", log_seq: 1, event },
      { kind: "card", v: 1 },
      { ...base, seq: 2, kind: "of the future" },
    ];
    const file = join(folder, "record.jsonl.gz");
    writeFileSync(file, gzipSync(`${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"v":1,"ki`));
    console = await ConsoleTestServer.start({}, {}, { mode: "file", recordFiles: [file] });
    const { tasks } = await console.readJson<ConsoleTaskList>("GET tasks");
    expect(tasks).toMatchObject([{ agent: "far", id: "task-1", state: "TASK_STATE_WORKING" }]);
  });
});

describe("a console of a record of the tap", () => {
  const base = { v: 1, writer: "w", at: "2026-11-23T08:00:00.000Z", mono_ms: 1 };
  const openRecord = async (lines: readonly object[]): Promise<void> => {
    const file = join(folder, "record.jsonl");
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    console = await ConsoleTestServer.start({}, {}, { mode: "file", recordFiles: [file] });
  };

  it("shows the other agents if the card of one is invalid", async () => {
    const agents = [
      { name: "good", supportedInterfaces: [], capabilities: {}, skills: [] },
      { name: "bad", supportedInterfaces: "none" },
    ];
    await openRecord(
      agents.map((card, at) => ({ ...base, seq: at + 1, kind: "agent", agent: card.name, url: "", card })),
    );
    const list = await console.readJson<ConsoleAgentList>("GET agents");
    expect(list.agents.map(({ name }) => name)).toEqual(["good", "bad"]);
    expect((await console.request("GET agents/bad/card")).status).toBe(404);
  });

  it("has pages that contain each task once, also if the tasks have the same time", async () => {
    const ids = ["task-1", "task-2", "task-3", "task-4", "task-5"];
    const status = { state: "TASK_STATE_WORKING", timestamp: base.at };
    await openRecord(
      ids.map((id, at) => {
        const event = { task: { id, contextId: "c", status } };
        return { ...base, seq: at + 1, kind: "event", agent: "far", task_id: id, log_seq: 1, event };
      }),
    );
    const listed: string[] = [];
    for (let token: string | undefined = ""; token !== undefined && listed.length < 10;) {
      const page: ConsoleTaskList = await console.readJson(`GET tasks?pageSize=2&pageToken=${token}`);
      listed.push(...page.tasks.map(({ id }) => id));
      token = page.nextPageToken;
    }
    expect(listed.toSorted()).toEqual(ids);
  });
});

describe("a console of a server with a record", () => {
  it("works after a user has deleted the file of the record", async () => {
    const file = join(folder, "record.jsonl");
    const writer = createTrafficWriter(openTrafficFileSink(file), { vantage: "server", name: "test" });
    console = await ConsoleTestServer.start(
      { parrot: messageCommandTestAgent },
      { record: writer },
      { serverRecord: writer, serverRecordFile: file },
    );
    await fetch(`${console.url}/a2a/parrot/tasks`, { headers: { "A2A-Version": "1.0" } });
    await writer.flush();
    rmSync(file);
    expect((await console.request("GET session")).status).toBe(200);
    await writer.close();
  });
});

describe("push notifications to the console", () => {
  it("become lines of the task", async () => {
    const remote = createServer(
      { parrot: messageCommandTestAgent },
      { store: "memory", observer: false, push: { allowPrivate: true } },
    );
    const { url } = await remote.listen();
    console = await ConsoleTestServer.start({}, {}, { agentUrls: [`${url}/a2a/parrot`] });
    const [agent] = (await console.readJson<ConsoleAgentList>("GET agents")).agents;
    const id = agent?.id ?? "";
    const taskId = findTestTaskId(await console.send(id, "ask"));
    const registration = await console.readJson<ConsolePushRegistration>(`POST push/${id}/tasks/${taskId}`);
    expect(registration.url).toMatch(new RegExp(`^${console.url}/console/hooks/[0-9a-f-]{36}$`));
    const watch = await console.request("GET lines");
    const lines = (watch.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    await console.request(`POST agents/${id}/tasks/${taskId}/cancel`);
    let text = "";
    while (!text.includes(`"kind":"push"`)) text += (await lines.read()).value ?? "";
    expect(text).toContain(registration.configId);
    await lines.cancel();
    const forged = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    expect((await fetch(registration.url, forged)).status).toBe(401);
    expect((await fetch(`${console.url}/console/hooks/none`, forged)).status).toBe(404);
    await remote.close();
  });
});

describe("the task list of several agents", () => {
  it("has pages that contain each task once, with the newest first", async () => {
    const remotes = [0, 1].map(() =>
      createServer({ parrot: messageCommandTestAgent }, { store: "memory", observer: false }),
    );
    const urls = await Promise.all(
      remotes.map(async (remote) => `${(await remote.listen()).url}/a2a/parrot`),
    );
    console = await ConsoleTestServer.start(
      { parrot: messageCommandTestAgent },
      { store: `sqlite:${join(folder, "tasks.db")}` },
      { agentUrls: urls },
    );
    const ids = (await console.readJson<ConsoleAgentList>("GET agents")).agents.map(({ id }) => id);
    const sent: string[] = [];
    for (let round = 0; round < 3; round++)
      for (const id of ids) sent.push(findTestTaskId(await console.send(id, `echo ${round}`)));
    const listed: ConsoleTaskList["tasks"][number][] = [];
    let token = "";
    do {
      const page = await console.readJson<ConsoleTaskList>(
        `GET tasks?pageSize=2${token && `&pageToken=${token}`}`,
      );
      listed.push(...page.tasks);
      token = page.nextPageToken ?? "";
    } while (token !== "");
    expect(listed.map(({ id }) => id).toSorted()).toEqual(sent.toSorted());
    const times = listed.map(({ updatedAt }) => updatedAt);
    expect(times).toEqual(times.toSorted().toReversed());
    for (const id of ids) {
      const { tasks } = await console.readJson<ConsoleTaskList>(`GET tasks?agent=${id}`);
      expect(tasks.map(({ agent }) => agent)).toEqual([id, id, id]);
    }
    const [newest] = listed;
    const context = await console.readJson<ConsoleTaskList>(`GET tasks?context=${newest?.contextId}`);
    expect(context.tasks.map(({ id }) => id)).toEqual([newest?.id]);
    const later = await console.readJson<ConsoleTaskList>(`GET tasks?from=${newest?.updatedAt}`);
    expect(later.tasks.map(({ id }) => id)).toContain(newest?.id);
    const earlier = await console.readJson<ConsoleTaskList>("GET tasks?to=2020-01-01T00:00:00Z");
    expect(earlier.tasks).toEqual([]);
    for (const query of [
      "pageToken=x",
      "pageToken=e30",
      "pageSize=0",
      "state=DONE",
      "from=yesterday",
      "text=x",
    ]) {
      const { status } = await console.request(`GET tasks?${query}`);
      expect([query, status]).toEqual([query, query === "text=x" || query === "pageToken=e30" ? 200 : 400]);
    }
    await Promise.all(remotes.map((remote) => remote.close()));
  });
});
