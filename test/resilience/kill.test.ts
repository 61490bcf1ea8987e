import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { BINDINGS, getTask, STREAMS, userMessage } from "../binding.ts";
import { readStream, type Frame, type StreamRequest } from "../raw-stream.ts";
import { freshFolder } from "../stores.ts";

const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

async function start(file: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(CHILD, [file]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(child, "message")) as [string];
  return { child, url };
}

/** Reads a stream into `frames`; answers the code of what broke it, if anything did. */
async function readAll(
  asked: StreamRequest,
  frames: Frame[],
  onFrame: () => void = () => {},
): Promise<string | undefined> {
  try {
    for await (const frame of readStream(asked)) {
      frames.push(frame);
      onFrame();
    }
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

describe.each(BINDINGS)("a server that is killed in mid-stream, over %s", (binding) => {
  it("has everything that a client saw when it is back, and fails the orphaned task with a reason [E9, E1]", async () => {
    const { folder, remove } = await freshFolder();
    onTestFinished(remove);
    const file = join(folder, "tasks.db");
    const { send, subscribe, event } = STREAMS[binding];

    const before = await start(file);
    const seen: Frame[] = [];
    const broken = await readAll(send(before.url, userMessage("m-1", "count")), seen, () => {
      if (seen.length === 50) before.child.kill("SIGKILL");
    });
    expect(broken).toBe("ECONNRESET");
    expect(seen.length).toBeGreaterThanOrEqual(50);

    const first = event(seen[0]?.data ?? "");
    const taskId = "task" in first ? first.task.id : "";
    const { url } = await start(file);
    const task = await getTask(url, taskId);
    expect(task.status).toMatchObject({
      state: "TASK_STATE_FAILED",
      message: { parts: [{ text: expect.stringContaining("stopped") as string }] },
    });

    const kept: Frame[] = [];
    await readAll({ ...subscribe(url, taskId), headers: { "last-event-id": "0" } }, kept);
    expect(kept.slice(0, seen.length)).toEqual(seen);
    expect(kept.map(({ id }) => id)).toEqual(kept.map((_, at) => at + 1));
    expect(event(kept.at(-1)?.data ?? "")).toMatchObject({ statusUpdate: { status: task.status } });
  });
});
