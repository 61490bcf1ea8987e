import { runTestSql } from "../../src/stores/postgres/postgres-server.fixture.ts";

/** Returns the ids of the tasks with a running turn that no living node holds. */
export async function findTasksOfDeadNodes(database: string): Promise<string[]> {
  const rows = await runTestSql(
    database,
    `SELECT task_id FROM colloquy.task WHERE running AND NOT EXISTS (
       SELECT 1 FROM colloquy.node WHERE id = lease_node)`,
  );
  return rows.map(({ task_id }) => String(task_id));
}
