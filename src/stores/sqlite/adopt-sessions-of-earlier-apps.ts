import type { DatabaseSync } from "node:sqlite";
import { runTransaction } from "./sqlite-session-file.ts";

const CREATE_EARLIER_APP_TABLE_SQL = `
  CREATE TABLE adk_earlier_app (name TEXT PRIMARY KEY);
  INSERT INTO adk_earlier_app SELECT DISTINCT app FROM adk_session;
`;

/**
 * Assigns the sessions that an older version of Colloquy stored under an earlier app name to the current app
 * name. The table `adk_earlier_app` contains the app names of the older version that no app has adopted, so
 * that sessions of the current version never change their app.
 */
export function adoptSessionsOfEarlierApps(
  db: DatabaseSync,
  currentNamesByEarlierName: ReadonlyMap<string, string>,
): void {
  runTransaction(db, () => {
    const findTable = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'adk_earlier_app'");
    if (findTable.get() === undefined) db.exec(CREATE_EARLIER_APP_TABLE_SQL);
    const removeEarlierApp = db.prepare("DELETE FROM adk_earlier_app WHERE name = ?");
    const renameStatements = ["adk_session", "adk_state"].map((table) =>
      db.prepare(`UPDATE OR IGNORE ${table} SET app = ? WHERE app = ?`),
    );
    const adopted = [...currentNamesByEarlierName].filter(
      ([earlierName]) => removeEarlierApp.run(earlierName).changes > 0,
    );
    // With temporary names, two apps can exchange their names.
    for (const [earlierName] of adopted)
      for (const rename of renameStatements) rename.run(`/${earlierName}`, earlierName);
    for (const [earlierName, currentName] of adopted)
      for (const rename of renameStatements) rename.run(currentName, `/${earlierName}`);
  });
}
