import { setTimeout as pause } from "node:timers/promises";
import { runTestSql, startTestPostgres } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";
import { countTakeovers } from "../systems/chaos-system.ts";
import { TcpProxy } from "../tcp-proxy.ts";

const LEASE_MS = 15_000;

export const fault: ChaosFault = {
  title: "the database fails under load, and its synchronous replica is promoted",
  promise:
    "Nodes continue on the replica. Each event that a client has received is in the log of the replica.",
  maxSeconds: 120,
  bars: { tasksOfDeadNodes: 0, failed: 0 },
  async inject({ database, postgres, startNode, addFigure, addProblem, onEnd }) {
    await postgres.stop("fast");
    const replica = await startTestPostgres({ fsync: "on", full_page_writes: "on" }, { primary: postgres });
    onEnd(() => replica.remove());
    await postgres.start();
    await runTestSql(postgres.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await runTestSql(postgres.url, "SELECT pg_reload_conf()");
    await waitForSynchronousReplica(postgres.url);
    const proxy = await TcpProxy.listen(getPort(postgres.url));
    onEnd(() => proxy.close());
    const options = { leaseMs: LEASE_MS, database: proxy.toProxyUrl(database) };
    const nodes = [await startNode(options), await startNode(options)];
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 100, intervalMs: 30 },
      cancelEach: 7,
      getNodes: () => nodes,
      silenceMs: 10_000,
    });
    await pause(2500);
    const failedAt = performance.now();
    await postgres.stop("immediate");
    await runTestSql(replica.url, "SELECT pg_promote()");
    proxy.redirect(getPort(replica.url));
    addFigure("failoverMs", performance.now() - failedAt);
    await pause(3000);
    await load.end(40_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    const replicaDatabase = Object.assign(new URL(database), { port: String(getPort(replica.url)) }).href;
    addFigure("tasks", load.tasks.length);
    addFigure("failed", load.countTasks("TASK_STATE_FAILED"));
    addFigure("takenOver", countTakeovers(nodes));
    addFigure("longestPauseMs", load.findLongestPauseMs());
    addFigure("silences", load.countSilences());
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(replicaDatabase)).length);
  },
};

function getPort(url: string): number {
  return Number(new URL(url).port);
}

async function waitForSynchronousReplica(url: string): Promise<void> {
  for (;;) {
    const rows = await runTestSql(url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
    if (rows.length > 0) return;
    await pause(50);
  }
}
