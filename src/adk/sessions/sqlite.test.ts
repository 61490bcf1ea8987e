import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CreateSessionRequest, LlmAgent, type Session } from "@google/adk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SqliteStore } from "../../stores/sqlite/index.ts";
import { adkAgent } from "../executor.ts";
import { ScriptedLlm } from "../models/index.ts";
import { OneTask } from "../one-task.contract.ts";
import { said } from "./service.contract.ts";
import { SqliteSessionService } from "./sqlite.ts";

let folder: string;
let path: string;
const opened: SqliteSessionService[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-sessions-"));
  path = join(folder, "deep", "sessions.db");
});

afterEach(() => {
  for (const service of opened.splice(0)) service.close();
  rmSync(folder, { recursive: true });
});

function open(): SqliteSessionService {
  const service = new SqliteSessionService(path);
  opened.push(service);
  return service;
}

const key = { appName: "app", userId: "u", sessionId: "s" };

describe("ADK sessions in SQLite", () => {
  it("refuse one that exists already, without harm to what is written beside it", async () => {
    const service = open();
    const [first, second, third] = await Promise.allSettled([
      service.createSession(key),
      service.createSession(key),
      service.createSession({ ...key, sessionId: "t" }),
    ]);
    expect([first.status, second.status, third.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("may be begun by another server just when this one would", async () => {
    class Late extends SqliteSessionService {
      override async createSession(request: CreateSessionRequest): Promise<Session> {
        await open().createSession(request);
        return super.createSession(request);
      }
    }
    const service = new Late(path);
    opened.push(service);
    const agent = new LlmAgent({ name: "app", model: new ScriptedLlm(["Hello."]) });
    const task = new OneTask(adkAgent(agent, { sessionService: service }));
    await task.send("Hi");
    expect(task.task.status.state).toBe("TASK_STATE_COMPLETED");
    const session = await service.getSession({ ...key, userId: "A2A_USER_C", sessionId: "C" });
    expect(session?.events).toHaveLength(2);
  });

  it("take a name of state for a name", async () => {
    const service = open();
    const session = await service.createSession(key);
    const delta = JSON.parse('{"__proto__": {"polluted": true}}') as Record<string, unknown>;
    await service.appendEvent({ session, event: said("one", 1, delta) });
    expect(Object.keys((await service.getSession(key))?.state ?? {})).toEqual(["__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("share the file of a task store, which only its owner can read", async () => {
    const store = new SqliteStore(path);
    const service = open();
    const session = await service.createSession(key);
    await store.open();
    await service.appendEvent({ session, event: said("one", 1) });
    expect(await store.unfinished()).toEqual([]);
    expect((await service.getSession(key))?.events).toHaveLength(1);
    await store.close();
    expect(statSync(path).mode & 0o077).toBe(0);
  });
});
