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

const CLIENTS = 10;

describe.each(BINDINGS)("a server that is killed while it streams, over %s", (binding) => {
  it("comes back with all that its clients saw, and fails the orphans with a reason [E9, E1, E4]", async () => {
    const { folder, remove } = await freshFolder();
    onTestFinished(remove);
    const file = join(folder, "tasks.db");
    const { send, subscribe, event } = STREAMS[binding];

    const before = await start(file);
    const seen = Array.from({ length: CLIENTS }, (): Frame[] => []);
    const killInTime = (): void => {
      if (seen.every((frames) => frames.length >= 30)) before.child.kill("SIGKILL");
    };
    const broken = await Promise.all(
      seen.map((frames, number) =>
        readAll(send(before.url, userMessage(`m-${number}`, "count")), frames, killInTime),
      ),
    );
    expect(broken).toEqual(seen.map(() => "ECONNRESET"));

    const { url } = await start(file);
    for (const frames of seen) {
      const first = event(frames[0]?.data ?? "");
      const taskId = "task" in first ? first.task.id : "";
      const { status } = await getTask(url, taskId);
      expect(status).toMatchObject({
        state: "TASK_STATE_FAILED",
        message: { parts: [{ text: expect.stringContaining("stopped") as string }] },
      });

      const read = async (after: number): Promise<Frame[]> => {
        const kept: Frame[] = [];
        await readAll({ ...subscribe(url, taskId), headers: { "last-event-id": String(after) } }, kept);
        return kept;
      };
      const all = await read(0);
      expect(all.slice(0, frames.length)).toEqual(frames);
      expect(all.map(({ id }) => id)).toEqual(all.map((_, at) => at + 1));
      expect(event(all.at(-1)?.data ?? "")).toMatchObject({ statusUpdate: { status } });
      expect(await read(frames.length)).toEqual(all.slice(frames.length));
    }
  });
});
