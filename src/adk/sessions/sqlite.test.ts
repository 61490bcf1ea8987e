import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BaseSessionService, createEvent, type Event, InMemorySessionService } from "@google/adk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SqliteStore } from "../../stores/sqlite/index.ts";
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

function said(text: string, stateDelta: Record<string, unknown> = {}, timestamp = 1): Event {
  return createEvent({
    id: text,
    invocationId: "i",
    author: "a",
    timestamp,
    content: { role: "model", parts: [{ text }] },
    actions: { stateDelta },
  });
}

async function append(service: BaseSessionService, place: typeof key, ...events: Event[]): Promise<void> {
  const session = await service.getSession(place);
  if (!session) throw new Error("no session");
  for (const event of events) await service.appendEvent({ session, event });
}

/** A session as a list shows it: without events and state. */
const row = (id: string): unknown => [id, 0, {}];

describe.each([
  ["memory", (): BaseSessionService => new InMemorySessionService()],
  ["SQLite", (): BaseSessionService => open()],
])("an ADK session in %s", (_, create) => {
  it("keeps its events in their order and its state by level", async () => {
    const service = create();
    await service.createSession({ ...key, state: { first: 1, "temp:x": 1 } });
    await service.createSession({ ...key, sessionId: "other" });
    await service.createSession({ ...key, userId: "v", sessionId: "theirs" });
    await append(
      service,
      key,
      said("one", { "app:a": 1, "user:b": 2, c: { d: [3] }, "temp:t": 4 }),
      said("two"),
    );
    const session = await service.getSession(key);
    expect(session?.events.map(({ content }) => content?.parts?.[0]?.text)).toEqual(["one", "two"]);
    expect(session?.events[0]?.actions.stateDelta).toEqual({ "app:a": 1, "user:b": 2, c: { d: [3] } });
    expect(session?.state).toEqual({ first: 1, "app:a": 1, "user:b": 2, c: { d: [3] } });
    expect((await service.getSession({ ...key, sessionId: "other" }))?.state).toEqual({
      "app:a": 1,
      "user:b": 2,
    });
    expect((await service.getSession({ ...key, userId: "v", sessionId: "theirs" }))?.state).toEqual({
      "app:a": 1,
    });
  });

  it("gives recent events, and events since a time", async () => {
    const service = create();
    await service.createSession(key);
    await append(service, key, said("one", {}, 10), said("two", {}, 20), said("three", {}, 30));
    const ids = async (config: object): Promise<string[] | undefined> =>
      (await service.getSession({ ...key, config }))?.events.map(({ id }) => id);
    expect(await ids({ numRecentEvents: 2 })).toEqual(["two", "three"]);
    expect(await ids({ afterTimestamp: 20 })).toEqual(["two", "three"]);
    expect(await ids({ afterTimestamp: 20, numRecentEvents: 1 })).toEqual(["three"]);
  });

  it("does not keep partial events, and replaces an event that comes again", async () => {
    const service = create();
    await service.createSession(key);
    const again = { ...said("two"), id: "one" };
    await append(service, key, { ...said("piece"), partial: true }, said("one"), said("three"), again);
    const session = await service.getSession(key);
    expect(session?.events.map(({ content }) => content?.parts?.[0]?.text)).toEqual(["two", "three"]);
  });

  it("lists by user and page, and forgets what is deleted", async () => {
    const service = create();
    for (const sessionId of ["s1", "s2", "s3"]) {
      await service.createSession({ ...key, sessionId });
      await append(service, { ...key, sessionId }, said("x", {}, Number(sessionId.slice(1))));
    }
    await service.createSession({ ...key, userId: "v", sessionId: "s4" });
    const list = async (more: object): Promise<unknown[]> => {
      const { sessions, ...page } = await service.listSessions({ appName: "app", ...more });
      return [sessions.map(({ id, events, state }) => [id, events.length, state]), page];
    };
    expect(await list({ userId: "u", order: "desc", limit: 2 })).toEqual([
      [row("s3"), row("s2")],
      { page: 1, limit: 2, totalItems: 3, totalPages: 2 },
    ]);
    expect(await list({ userId: "u", order: "desc", limit: 2, page: 2 })).toEqual([
      [row("s1")],
      { page: 2, limit: 2, totalItems: 3, totalPages: 2 },
    ]);
    expect((await service.listSessions({ appName: "app" })).totalItems).toBe(4);
    expect(await list({ userId: "nobody" })).toEqual([
      [],
      { page: 1, limit: 0, totalItems: 0, totalPages: 0 },
    ]);
    await service.deleteSession({ ...key, sessionId: "s2" });
    await service.deleteSession({ ...key, sessionId: "never" });
    expect(await service.getSession({ ...key, sessionId: "s2" })).toBeUndefined();
    expect((await service.listSessions({ appName: "app", userId: "u" })).totalItems).toBe(2);
    await service.createSession({ ...key, sessionId: "s2" });
    expect((await service.getSession({ ...key, sessionId: "s2" }))?.events).toEqual([]);
  });
});

describe("ADK sessions in SQLite", () => {
  it("are there after a restart", async () => {
    await open().createSession({ ...key, state: { kept: true } });
    await append(opened[0] as SqliteSessionService, key, said("one"));
    opened[0]?.close();
    const session = await open().getSession(key);
    expect(session?.events.map(({ id }) => id)).toEqual(["one"]);
    expect(session?.state).toEqual({ kept: true });
  });

  it("are seen by another process before the first one closes", async () => {
    await open().createSession(key);
    await append(opened[0] as SqliteSessionService, key, said("one"));
    expect((await open().getSession(key))?.events).toHaveLength(1);
  });

  it("lose nothing when many runs write at once", async () => {
    const service = open();
    await service.createSession(key);
    const runs = Array.from({ length: 20 }, async (_, run) => {
      const events = Array.from({ length: 5 }, (_, n) =>
        said(`${run}.${n}`, { [`of${run}`]: n, "app:last": run }),
      );
      await append(service, key, ...events);
    });
    await Promise.all(runs);
    const session = await service.getSession(key);
    expect(session?.events).toHaveLength(100);
    for (let run = 0; run < 20; run++) {
      expect(session?.state[`of${run}`]).toBe(4);
      const own = session?.events.map(({ id }) => id).filter((id) => id.startsWith(`${run}.`));
      expect(own).toEqual([0, 1, 2, 3, 4].map((n) => `${run}.${n}`));
    }
  });

  it("refuse one that exists already, without harm to what is written beside it", async () => {
    const service = open();
    const [first, second, third] = await Promise.allSettled([
      service.createSession(key),
      service.createSession(key),
      service.createSession({ ...key, sessionId: "t" }),
    ]);
    expect([first.status, second.status, third.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("refuse events for a session that is gone", async () => {
    const service = open();
    const session = await service.createSession(key);
    await service.deleteSession(key);
    await expect(service.appendEvent({ session, event: said("one") })).rejects.toThrow(/is gone/);
  });

  it("take a name of state for a name", async () => {
    const service = open();
    await service.createSession(key);
    await append(
      service,
      key,
      said("one", JSON.parse('{"__proto__": {"polluted": true}}') as Record<string, unknown>),
    );
    const session = await service.getSession(key);
    expect(Object.keys(session?.state ?? {})).toEqual(["__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("share the file of a task store, which only its owner can read", async () => {
    const store = new SqliteStore(path);
    const service = open();
    await service.createSession(key);
    await store.open();
    await append(service, key, said("one"));
    expect(await store.unfinished()).toEqual([]);
    expect((await service.getSession(key))?.events).toHaveLength(1);
    await store.close();
    expect(statSync(path).mode & 0o077).toBe(0);
  });
});
