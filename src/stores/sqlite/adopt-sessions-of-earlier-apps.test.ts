import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { adoptSessionsOfEarlierApps } from "./adopt-sessions-of-earlier-apps.ts";
import { openSessionFile } from "./sqlite-session-file.ts";

function openTemporaryDatabase(): ReturnType<typeof openSessionFile> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-sessions-"));
  const db = openSessionFile(join(folder, "sessions.db"));
  onTestFinished(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  return db;
}

it("sessions and state of an older version move to the current app names once, and two apps can exchange names", () => {
  const db = openTemporaryDatabase();
  const addSession = (app: string, id: string): void => {
    db.prepare("INSERT INTO adk_session (app, user, id, updated) VALUES (?, 'u', ?, 0)").run(app, id);
    db.prepare("INSERT INTO adk_state VALUES (?, 'app', '', 0, ?, '1')").run(app, id);
  };
  const listApps = (): string[] =>
    ["adk_session AS s ORDER BY s.id", "adk_state AS s ORDER BY s.name"].map((table) =>
      db
        .prepare(`SELECT s.app FROM ${table}`)
        .all()
        .map(({ app }) => app)
        .join(),
    );
  addSession("a", "1");
  addSession("b", "2");
  addSession("other", "3");
  const currentNames = new Map([
    ["a", "b"],
    ["b", "a"],
    ["unknown", "c"],
  ]);
  adoptSessionsOfEarlierApps(db, currentNames);
  expect(listApps()).toEqual(["b,a,other", "b,a,other"]);
  addSession("a", "4");
  adoptSessionsOfEarlierApps(db, currentNames);
  expect(listApps()).toEqual(["b,a,other,a", "b,a,other,a"]);
  adoptSessionsOfEarlierApps(db, new Map([["other", "a"]]));
  expect(listApps()).toEqual(["b,a,a,a", "b,a,a,a"]);
});
