import { setTimeout as pause } from "node:timers/promises";
import { runTestSql, startTestPostgres } from "../../../src/stores/postgres/postgres-server.fixture.ts";
import { readSseStream } from "../../../test/support/raw-stream.ts";
import { getText } from "../../../src/protocol/index.ts";
import {
  createSubscribeRequest,
  decodeStreamData,
  fetchTaskByRpc,
  isFinalState,
  readEventState,
  startTask,
  waitForFinalState,
} from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { TcpProxy } from "../tcp-proxy.ts";

const TASKS = 14;
const LAG_MS = 2000;
const WAIT_MS = 60_000;

/** What a client of one task has received. */
interface Reading {
  text: string;
  state: string | undefined;
  /** Number of streams that ended with the error that the log went back. */
  wentBack: number;
  /** Number of streams that ended without the end of the task and without an error. */
  silentEnds: number;
}

export const fault: ChaosFault = {
  title: `the database fails, and a replica that lags by ${LAG_MS / 1000} s is promoted; clients read on the other node`,
  promise:
    "Commits are lost, and each client learns of it by an error. No client keeps a text that differs from the task.",
  maxSeconds: 180,
  bars: { wrongTexts: 0, unsettled: 0, silentEnds: 0 },
  async inject({ database, postgres, startNode, addFigure, addProblem, onEnd }) {
    await postgres.stop("fast");
    const replication = await TcpProxy.listen(getPort(postgres.url));
    onEnd(() => replication.close());
    const settings = { fsync: "on", primary_conninfo: replication.toProxyUrl(postgres.url) };
    const replica = await startTestPostgres(settings, { primary: postgres });
    onEnd(() => replica.remove());
    await postgres.start();
    const proxy = await TcpProxy.listen(getPort(postgres.url));
    onEnd(() => proxy.close());
    const options = { leaseMs: 5000, database: proxy.toProxyUrl(database) };
    const [owner, other] = [await startNode(options), await startNode(options)];
    const [ownerUrl, otherUrl] = [owner.getAgentUrl("restart"), other.getAgentUrl("restart")];
    const taskIds = await Promise.all(
      Array.from({ length: TASKS }, (_, at) =>
        startTask(ownerUrl, `lagging-${at}`, { chunks: 200, intervalMs: 40 }),
      ),
    );
    const signal = AbortSignal.timeout(WAIT_MS + LAG_MS);
    const reading = Promise.all(taskIds.map((taskId) => readUntilEnd(otherUrl, taskId, signal)));
    await waitForReplay(postgres.url, replica.url);
    await pause(1000);
    replication.beginPartition();
    await pause(LAG_MS);
    await postgres.stop("immediate");
    replication.close();
    await runTestSql(replica.url, "SELECT pg_promote()");
    proxy.redirect(getPort(replica.url));
    const readings = await reading;
    const states = await Promise.all(taskIds.map((taskId) => waitForFinalState(otherUrl, taskId, 10_000)));
    const texts = await Promise.all(taskIds.map((taskId) => readText(otherUrl, taskId)));
    for (const [at, { text, state }] of readings.entries())
      if (state !== states[at])
        addProblem(`a client knows the state ${state}, and the task is ${states[at]}`);
      else if (text !== texts[at])
        addProblem(`a client has ${text.length} of ${texts[at]?.length} characters`);
    const sum = (count: (one: Reading) => number): number =>
      readings.reduce((all, one) => all + count(one), 0);
    const wentBack = sum((one) => one.wentBack);
    if (wentBack === 0) addProblem("no stream has seen the log go back");
    addFigure("tasks", TASKS);
    addFigure("wentBack", wentBack);
    addFigure(
      "silentEnds",
      sum(({ silentEnds }) => silentEnds),
    );
    addFigure("wrongTexts", readings.filter(({ text }, at) => text !== texts[at]).length);
    addFigure("unsettled", states.filter((state) => !isFinalState(state)).length);
  },
};

/** Reads a task until its end. After an error, the client reads the task again from its current state. */
async function readUntilEnd(agentUrl: string, taskId: string, signal: AbortSignal): Promise<Reading> {
  const reading: Reading = { text: "", state: undefined, wentBack: 0, silentEnds: 0 };
  while (!isFinalState(reading.state) && !signal.aborted) {
    try {
      for await (const { data } of readSseStream({ ...createSubscribeRequest(agentUrl, taskId), signal }))
        applyData(reading, data);
      if (!isFinalState(reading.state)) reading.silentEnds++;
    } catch (error) {
      if (String(error).includes("went back from event")) reading.wentBack++;
      else if (String(error).includes("has ended")) {
        const { status, artifacts = [] } = await fetchTaskByRpc(agentUrl, taskId);
        reading.state = status.state;
        reading.text = artifacts.map(({ parts }) => getText(parts)).join("");
      }
    }
    await pause(100);
  }
  return reading;
}

function applyData(reading: Reading, data: string): void {
  const event = decodeStreamData(data);
  reading.state = readEventState(event) ?? reading.state;
  if ("task" in event)
    reading.text = (event.task.artifacts ?? []).map(({ parts }) => getText(parts)).join("");
  if (!("artifactUpdate" in event)) return;
  const { artifact, append } = event.artifactUpdate;
  reading.text = (append ? reading.text : "") + getText(artifact.parts);
}

async function readText(agentUrl: string, taskId: string): Promise<string> {
  const { artifacts = [] } = await fetchTaskByRpc(agentUrl, taskId);
  return artifacts.map(({ parts }) => getText(parts)).join("");
}

function getPort(url: string): number {
  return Number(new URL(url).port);
}

/** Waits until the replica has replayed the current position of the primary. */
async function waitForReplay(primaryUrl: string, replicaUrl: string): Promise<void> {
  const [position] = await runTestSql(primaryUrl, "SELECT pg_current_wal_lsn()::text AS lsn");
  const sql = `SELECT pg_last_wal_replay_lsn() >= '${String(position?.["lsn"])}' AS is_current`;
  for (;;) {
    const [row] = await runTestSql(replicaUrl, sql);
    if (row?.["is_current"] === true) return;
    await pause(50);
  }
}
