import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("sessions in PostgreSQL", () => {
  let store: PostgresStore;

  beforeAll(async () => {
    store = new PostgresStore(url);
    await store.open();
  });

  afterAll(() => store.close());

  it("have any text as id and as name of a state value", async () => {
    for (const text of ["\0", "\ud800", "\u0001d800", "", "__proto__", "a'b\"c"]) {
      const session = { app: text, user: text, id: text, updated: 7.5 };
      await store.sessionRepository.addSession(session, [{ level: "session", name: text, json: "1" }]);
      await store.sessionRepository.appendEvent(session, { id: text, timestamp: 9.25, json: "{}" }, []);
      const loaded = await store.sessionRepository.loadSession(session, {});
      expect(loaded).toEqual({ ...session, updated: 9.25, events: ["{}"], state: [[text, "1"]] });
      expect(await store.sessionRepository.listSessions({ app: text, offset: 0 })).toEqual({
        sessions: [{ ...session, updated: 9.25 }],
        total: 1,
      });
    }
  });

  it("lose deleted state values, and all of their rows when they are deleted", async () => {
    const session = { app: "a", user: "u", id: "s", updated: 1 };
    const { sessionRepository } = store;
    await sessionRepository.addSession(session, [
      { level: "session", name: "x", json: "1" },
      { level: "user", name: "user:x", json: "2" },
    ]);
    await sessionRepository.appendEvent(session, { id: "e", timestamp: 2, json: "{}" }, [
      { level: "session", name: "x", json: "3" },
      { level: "session", name: "x", json: undefined },
    ]);
    expect((await sessionRepository.loadSession(session, {}))?.state).toEqual([["user:x", "2"]]);
    await sessionRepository.deleteSession(session);
    expect(await sessionRepository.loadSession(session, {})).toBeUndefined();
    const rows = await runTestSql(
      url,
      `SELECT (SELECT count(*) FROM colloquy.adk_event WHERE id = 'e')::int AS events,
        (SELECT count(*) FROM colloquy.adk_state WHERE app = 'a' AND level = 'session')::int AS state`,
    );
    expect(rows).toEqual([{ events: 0, state: 0 }]);
  });

  it("of one app write the state of the app concurrently without a deadlock", async () => {
    const names = ["app:1", "app:2", "app:3", "app:4"];
    const sessions = Array.from({ length: 16 }, (_, at) => ({
      app: "busy",
      user: "u",
      id: `s${at}`,
      updated: 1,
    }));
    await Promise.all(
      sessions.map(async (session, at) => {
        const state = (at % 2 ? names : names.toReversed()).map((name) => ({
          level: "app" as const,
          name,
          json: `${at}`,
        }));
        await store.sessionRepository.addSession(session, []);
        for (let round = 0; round < 20; round++) {
          const event = { id: `${round}`, timestamp: round, json: "{}" };
          expect(await store.sessionRepository.appendEvent(session, event, state)).toBe(true);
        }
      }),
    );
    const loaded = await store.sessionRepository.loadSession(sessions[0]!, {});
    expect(loaded?.events).toHaveLength(20);
    expect(new Set([...(loaded?.state ?? [])].map(([, json]) => json)).size).toBe(1);
  });
});
