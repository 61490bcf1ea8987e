import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { generateJobChunks, parseJobFromMessageText } from "../benchmark-job.ts";
import { SCRATCH_DIR } from "../builds.ts";
import type { StartedSystem } from "../system-process-main.ts";
import { listenOnFreePort, readRequestText } from "./baseline.ts";

/** Number of finished tasks that the server keeps in memory, as the memory store of Colloquy does. */
const MAX_TASKS = 10_000;

interface SentMessage {
  readonly messageId: string;
  readonly parts: readonly [{ readonly text: string }];
}

interface JsonRpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly message: SentMessage };
}

interface TaskRow {
  readonly taskId: string;
  readonly contextId: string;
  readonly messageId: string;
  readonly state: string;
  /** JSON texts of the events. */
  readonly events: readonly string[];
}

type CommitRows = (rows: readonly TaskRow[]) => void;

/**
 * Starts a server that shows what a task costs without any promise: `node:http` parses the request, creates ids, runs the
 * agent of the benchmark, keeps the events of the task as JSON, and answers with the task or its events. Tasks that are
 * ready in one turn of the event loop are committed together. The server checks no input, recognizes no repeated message,
 * has no limits, and its tasks have no readers, cannot be canceled, and cannot be read.
 */
export async function startTaskFloorServer(store: "memory" | "sqlite"): Promise<StartedSystem> {
  const commit = groupCommits(store === "memory" ? createMemoryCommit() : createSqliteCommit());
  const server = createServer((request, response) => {
    readRequestText(request, (body) => void answer(JSON.parse(body) as JsonRpcRequest, response, commit));
  });
  return { url: await listenOnFreePort(server) };
}

async function answer(
  { id, method, params }: JsonRpcRequest,
  response: ServerResponse,
  commit: (row: TaskRow) => Promise<void>,
): Promise<void> {
  const ids = { taskId: randomUUID(), contextId: randomUUID() };
  const message = { ...params.message, ...ids };
  const task = { id: ids.taskId, contextId: ids.contextId, history: [message] };
  const events = [JSON.stringify({ task: { ...task, status: createStatus("SUBMITTED") } })];
  const artifact = { artifactId: "answer", parts: [{ text: "" }] as [{ text: string }] };
  for await (const event of runAgent(message)) {
    if ("status" in event) events.push(JSON.stringify({ statusUpdate: { ...ids, status: event.status } }));
    else artifact.parts[0].text += event.text;
  }
  const status = createStatus("COMPLETED");
  events.push(
    JSON.stringify({ artifactUpdate: { ...ids, artifact } }),
    JSON.stringify({ statusUpdate: { ...ids, status } }),
  );
  await commit({ ...ids, messageId: message.messageId, state: status.state, events });
  const head = `{"jsonrpc":"2.0","id":${id},"result":`;
  if (method === "SendStreamingMessage")
    end(response, "text/event-stream", events.map((event) => `data: ${head}${event}}\n\n`).join(""));
  else
    end(
      response,
      "application/json",
      `${head}${JSON.stringify({ task: { ...task, status, artifacts: [artifact] } })}}`,
    );
}

/** The agent of the benchmark, as Colloquy runs it. */
async function* runAgent({
  parts: [{ text: job }],
}: SentMessage): AsyncGenerator<{ status: ReturnType<typeof createStatus> } | { text: string }> {
  yield { status: createStatus("WORKING") };
  for await (const { text } of generateJobChunks(parseJobFromMessageText(job))) yield { text };
}

function createStatus(name: string): { readonly state: string; readonly timestamp: string } {
  return { state: `TASK_STATE_${name}`, timestamp: new Date().toISOString() };
}

function end(response: ServerResponse, contentType: string, text: string): void {
  response.writeHead(200, { "Content-Type": contentType, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

/** Commits the rows of one turn of the event loop together. */
function groupCommits(commit: CommitRows): (row: TaskRow) => Promise<void> {
  let waiting: { readonly row: TaskRow; readonly resolve: () => void }[] = [];
  const flush = (): void => {
    const group = waiting;
    waiting = [];
    commit(group.map(({ row }) => row));
    for (const { resolve } of group) resolve();
  };
  return (row) =>
    new Promise((resolve) => {
      if (waiting.push({ row, resolve }) === 1) setImmediate(flush);
    });
}

function createMemoryCommit(): CommitRows {
  const tasks = new Map<string, TaskRow>();
  return (rows) => {
    for (const row of rows) tasks.set(row.taskId, row);
    for (const taskId of tasks.keys()) {
      if (tasks.size <= MAX_TASKS) break;
      tasks.delete(taskId);
    }
  };
}

/** One row for each task, and one synced transaction for each group: fewer statements than any log of events needs. */
function createSqliteCommit(): CommitRows {
  mkdirSync(SCRATCH_DIR, { recursive: true });
  const folder = mkdtempSync(join(SCRATCH_DIR, "bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const db = new DatabaseSync(join(folder, "tasks.db"));
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE task (
      task_id TEXT NOT NULL UNIQUE, context_id TEXT NOT NULL, message_id TEXT NOT NULL UNIQUE,
      state TEXT NOT NULL, events TEXT NOT NULL
    ) STRICT;
    CREATE INDEX task_by_state ON task (state);
  `);
  const insert = db.prepare("INSERT INTO task VALUES (?, ?, ?, ?, ?)");
  const begin = db.prepare("BEGIN IMMEDIATE");
  const end = db.prepare("COMMIT");
  return (rows) => {
    begin.run();
    for (const { taskId, contextId, messageId, state, events } of rows)
      insert.run(taskId, contextId, messageId, state, events.join("\n"));
    end.run();
  };
}
