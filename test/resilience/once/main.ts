/**
 * Kills a server with an agent of ten steps, and measures the cost of a step. Prints the figures as JSON:
 *
 *     node test/resilience/once/main.ts --kills 200 --postgres-kills 30
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PostgresStore, SqliteStore } from "../../../src/stores/index.ts";
import {
  createTestDatabase,
  startTestPostgres,
} from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { killTenSteps } from "./kill-ten-steps.ts";
import { measureStepCost } from "./measure-step-cost.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    "postgres-kills": { type: "string", default: "30" },
    steps: { type: "string", default: "1000" },
  },
});
const folder = mkdtempSync(join(tmpdir(), "colloquy-once-"));
const steps = Number(values.steps);
const postgres = await startTestPostgres({ fsync: "on", full_page_writes: "on" });
try {
  const sqliteCost = await measureStepCost(new SqliteStore(join(folder, "cost.db")), steps);
  console.log(JSON.stringify({ store: "sqlite", ...sqliteCost }));
  const costStore = new PostgresStore(await createTestDatabase(postgres.url, "cost"));
  console.log(JSON.stringify({ store: "postgres", ...(await measureStepCost(costStore, steps)) }));
  const kills = await killTenSteps(
    join(folder, "kills.db"),
    join(folder, "sqlite.csv"),
    Number(values.kills),
  );
  console.log(JSON.stringify({ store: "sqlite", ...kills }));
  const database = await createTestDatabase(postgres.url, "kills");
  const postgresKills = Number(values["postgres-kills"]);
  const killed = await killTenSteps(database, join(folder, "postgres.csv"), postgresKills);
  console.log(JSON.stringify({ store: "postgres", ...killed }));
} finally {
  await postgres.remove();
  rmSync(folder, { recursive: true });
}
