import { describe, expect, it, onTestFinished } from "vitest";
import {
  createTestDatabase,
  runTestSql,
  startTestPostgres,
} from "../../src/stores/postgres/postgres-server.fixture.ts";
import { findTestDatabase } from "../support/find-test-postgres.ts";
import { fetchTask, STREAM_REQUESTS, createUserMessage } from "../support/http-bindings.ts";
import { readSseStream, type SseFrame, type StreamRequest } from "../support/raw-stream.ts";
import { killChild, startChild } from "./child-process.ts";

const { url: database, reason } = await findTestDatabase();
const CHILD_SCRIPT = "postgres-child.ts";
const LEASE_MS = 1000;
/** Time after the end of a lease until another server has recovered its tasks. */
const RECOVERY_MS = 3000;
const STREAMS = 10;
const { send, subscribe, event } = STREAM_REQUESTS.JSONRPC;

/** Reads a stream into `frames` until it ends or breaks. */
async function readWholeStream(
  request: StreamRequest,
  frames: SseFrame[],
  onFrame: () => void = () => {},
): Promise<void> {
  try {
    for await (const frame of readSseStream(request)) {
      frames.push(frame);
      onFrame();
    }
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ECONNRESET");
  }
}

function getTaskId(frames: readonly SseFrame[]): string {
  const first = event(frames[0]?.data ?? "");
  return "task" in first ? first.task.id : "";
}

async function readLog(url: string, taskId: string): Promise<SseFrame[]> {
  const frames: SseFrame[] = [];
  await readWholeStream({ ...subscribe(url, taskId), headers: { "last-event-id": "0" } }, frames);
  return frames;
}

describe.skipIf(reason)("servers on one PostgreSQL database", () => {
  it("lose no event of a server that is killed under load, and another server ends its tasks [E9, E1, E4]", async () => {
    const args = [database, String(LEASE_MS)];
    const killed = await startChild(CHILD_SCRIPT, ...args);
    const survivor = await startChild(CHILD_SCRIPT, ...args);
    const received = Array.from({ length: STREAMS }, (): SseFrame[] => []);
    const killInTime = (): void => {
      if (received.every((frames) => frames.length >= 30)) killed.child.kill("SIGKILL");
    };
    await Promise.all(
      received.map((frames, number) =>
        readWholeStream(send(killed.url, createUserMessage(`k-${number}`, "1000000")), frames, killInTime),
      ),
    );
    for (const frames of received) {
      const taskId = getTaskId(frames);
      await expect
        .poll(async () => (await fetchTask(survivor.url, taskId)).status.state, {
          timeout: LEASE_MS + RECOVERY_MS,
        })
        .toBe("TASK_STATE_FAILED");
      const all = await readLog(survivor.url, taskId);
      expect(all.slice(0, frames.length)).toEqual(frames);
      expect(all.map(({ id }) => id)).toEqual(all.map((_, at) => at + 1));
    }
    expect(await runTestSql(database, "SELECT 1 FROM colloquy.task WHERE running")).toEqual([]);
    await killChild(survivor);
  });

  it("refuse a message to a task that another server runs, which continues [E17]", async () => {
    const [owner, other] = [
      await startChild(CHILD_SCRIPT, database),
      await startChild(CHILD_SCRIPT, database),
    ];
    const frames: SseFrame[] = [];
    let refusal: Promise<unknown> | undefined;
    await readWholeStream(send(owner.url, createUserMessage("o-1", "300")), frames, () => {
      if (refusal || frames.length < 20) return;
      const message = { ...createUserMessage("o-2", "5"), taskId: getTaskId(frames) };
      const { url, headers = {}, body } = send(other.url, message);
      refusal = fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }).then((response) => response.text());
    });
    expect(await refusal).toContain("error");
    const task = await fetchTask(other.url, getTaskId(frames));
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    const numbers = Array.from({ length: 300 }, (_, at) => `${at + 1} `);
    expect(task.artifacts?.[0]?.parts).toEqual([{ text: numbers.join("") }]);
  });

  it("continue their streams after a crash of the database, without lost or repeated events [E1, E4]", async () => {
    const postgres = await startTestPostgres({ fsync: "on", full_page_writes: "on" });
    onTestFinished(() => postgres.remove());
    const url = await createTestDatabase(postgres.url, "crash");
    const server = await startChild(CHILD_SCRIPT, url, "15000");
    const received = Array.from({ length: STREAMS }, (): SseFrame[] => []);
    let restart: Promise<void> | undefined;
    const crashInTime = (): void => {
      if (restart || !received.every((frames) => frames.length >= 50)) return;
      restart = postgres.stop("immediate").then(() => postgres.start());
    };
    await Promise.all(
      received.map((frames, number) =>
        readWholeStream(send(server.url, createUserMessage(`c-${number}`, "400")), frames, crashInTime),
      ),
    );
    expect(restart).toBeDefined();
    await restart;
    const numbers = Array.from({ length: 400 }, (_, at) => `${at + 1} `);
    for (const frames of received) {
      const task = await fetchTask(server.url, getTaskId(frames));
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(task.artifacts?.[0]?.parts).toEqual([{ text: numbers.join("") }]);
      expect(await readLog(server.url, getTaskId(frames))).toEqual(frames);
    }
  });
});
