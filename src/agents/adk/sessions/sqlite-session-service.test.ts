import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CreateSessionRequest, LlmAgent, type Session } from "@google/adk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SqliteStore } from "../../../stores/sqlite/index.ts";
import { adkAgent } from "../adk-agent.ts";
import { ScriptedLlm } from "../models/index.ts";
import { TaskHarness } from "../task-harness.fixture.ts";
import { createTestTextEvent } from "./session-service.contract.ts";
import { SqliteSessionService } from "./sqlite-session-service.ts";
import { expectFileMode } from "../../../../test/support/is-windows.ts";

let folder: string;
let path: string;
const openedServices: SqliteSessionService[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-sessions-"));
  path = join(folder, "deep", "sessions.db");
});

afterEach(() => {
  for (const service of openedServices.splice(0)) service.close();
  rmSync(folder, { recursive: true });
});

function openService(): SqliteSessionService {
  const service = new SqliteSessionService(path);
  openedServices.push(service);
  return service;
}

const sessionKey = { appName: "app", userId: "u", sessionId: "s" };

describe("ADK sessions in SQLite", () => {
  it("reject an existing id without affecting other writes", async () => {
    const service = openService();
    const [first, second, third] = await Promise.allSettled([
      service.createSession(sessionKey),
      service.createSession(sessionKey),
      service.createSession({ ...sessionKey, sessionId: "t" }),
    ]);
    expect([first.status, second.status, third.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("may be created concurrently by another server", async () => {
    class RacingSessionService extends SqliteSessionService {
      override async createSession(request: CreateSessionRequest): Promise<Session> {
        await openService().createSession(request);
        return super.createSession(request);
      }
    }
    const service = new RacingSessionService(path);
    openedServices.push(service);
    const agent = new LlmAgent({ name: "app", model: new ScriptedLlm(["Hello."]) });
    const task = new TaskHarness(adkAgent(agent, { sessionService: service }));
    await task.send("Hi");
    expect(task.task.status.state).toBe("TASK_STATE_COMPLETED");
    const session = await service.getSession({ ...sessionKey, userId: "A2A_USER_C", sessionId: "C" });
    expect(session?.events).toHaveLength(2);
  });

  it("accept any state name, including __proto__", async () => {
    const service = openService();
    const session = await service.createSession(sessionKey);
    const delta = JSON.parse('{"__proto__": {"polluted": true}}') as Record<string, unknown>;
    await service.appendEvent({ session, event: createTestTextEvent("one", 1, delta) });
    expect(Object.keys((await service.getSession(sessionKey))?.state ?? {})).toEqual(["__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("share the file of a task store, which only the current user can read", async () => {
    const store = new SqliteStore(path);
    const service = openService();
    const session = await service.createSession(sessionKey);
    await store.open();
    await service.appendEvent({ session, event: createTestTextEvent("one", 1) });
    expect(await store.turns.claim("agent", 10)).toEqual([]);
    expect((await service.getSession(sessionKey))?.events).toHaveLength(1);
    await store.close();
    expectFileMode(path, 0o600);
  });
});
