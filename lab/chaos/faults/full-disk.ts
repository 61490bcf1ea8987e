import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { NOBODY_UID, runTestSql } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { countTakeovers, type ChaosNode } from "../systems/chaos-system.ts";

const FULL_MS = 8000;

export const fault: ChaosFault = {
  title: "the disk of the tables is full for 8 s (a tablespace on a tmpfs of 64 MB)",
  promise:
    "New messages are refused, agents wait, and the state does not flap. Afterwards, each task continues.",
  maxSeconds: 120,
  bars: { stateChangesOfNodeMax: 2, failed: 0, takenOver: 0 },
  async inject({ postgres, startNode, addFigure, addProblem, onEnd }) {
    const folder = mkdtempSync(join(tmpdir(), "colloquy-full-disk-"));
    onEnd(() => rmSync(folder, { recursive: true }));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", folder]);
    // The server stops before the tmpfs disappears.
    onEnd(async () => {
      await postgres.stop("immediate");
      execFileSync("umount", [folder]);
    });
    chownSync(folder, NOBODY_UID, NOBODY_UID);
    await runTestSql(postgres.url, `CREATE TABLESPACE small LOCATION '${folder}'`);
    await runTestSql(postgres.url, "ALTER DATABASE chaos SET TABLESPACE small");
    const nodes = [await startNode({ leaseMs: 30_000 }), await startNode({ leaseMs: 30_000 })];
    const load = new ChaosLoad({
      clients: 12,
      script: { chunks: 300, intervalMs: 30, padding: 500 },
      getNodes: () => nodes,
      silenceMs: 20_000,
    });
    await pause(2000);
    const filler = join(folder, "filler");
    const { bavail, bsize } = statfsSync(folder);
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
    } catch (error) {
      // The database uses a part of the space at the same time.
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
    await pause(FULL_MS);
    rmSync(filler);
    await load.end(60_000);
    for (const problem of await load.findProblems()) addProblem(problem);
    const states = nodes.map((node) => node.countReports("store"));
    if (Math.max(...states) === 0) addProblem("no node has noticed the full disk");
    addFigure("tasks", load.tasks.length);
    addFigure("stateChangesOfNodeMax", Math.max(...states));
    addFigure("errorsOfNodeMax", Math.max(...nodes.map((node: ChaosNode) => node.countReports("error"))));
    addFigure("failed", load.countTasks("TASK_STATE_FAILED"));
    addFigure("takenOver", countTakeovers(nodes));
    addFigure("longestPauseMs", load.findLongestPauseMs());
  },
};
