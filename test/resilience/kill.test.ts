import { describe, expect, it } from "vitest";
import { HTTP_BINDINGS, fetchTask, STREAM_REQUESTS, createUserMessage } from "../support/http-bindings.ts";
import { readSseStream, type SseFrame, type StreamRequest } from "../support/raw-stream.ts";
import { createTempFile, startChild } from "./child-process.ts";

const CHILD_SCRIPT = "kill-child.ts";

/** Reads a stream into `frames`. Resolves with the code of the error that broke it, if any. */
async function readWholeStream(
  request: StreamRequest,
  frames: SseFrame[],
  onFrame: () => void = () => {},
): Promise<string | undefined> {
  try {
    for await (const frame of readSseStream(request)) {
      frames.push(frame);
      onFrame();
    }
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

const CLIENTS = 10;

describe.each(HTTP_BINDINGS)("a server that is killed while it streams, over %s", (binding) => {
  it("restarts with all events that its clients received, and fails the interrupted tasks with a reason [E9, E1, E4]", async () => {
    const file = await createTempFile();
    const { send, subscribe, event } = STREAM_REQUESTS[binding];

    const before = await startChild(CHILD_SCRIPT, file);
    const received = Array.from({ length: CLIENTS }, (): SseFrame[] => []);
    const killInTime = (): void => {
      if (received.every((frames) => frames.length >= 30)) before.child.kill("SIGKILL");
    };
    const broken = await Promise.all(
      received.map((frames, number) =>
        readWholeStream(send(before.url, createUserMessage(`m-${number}`, "count")), frames, killInTime),
      ),
    );
    expect(broken).toEqual(received.map(() => "ECONNRESET"));

    const { url } = await startChild(CHILD_SCRIPT, file);
    for (const frames of received) {
      const first = event(frames[0]?.data ?? "");
      const taskId = "task" in first ? first.task.id : "";
      const { status } = await fetchTask(url, taskId);
      expect(status).toMatchObject({
        state: "TASK_STATE_FAILED",
        message: { parts: [{ text: expect.stringContaining("stopped") as string }] },
      });

      const read = async (after: number): Promise<SseFrame[]> => {
        const kept: SseFrame[] = [];
        await readWholeStream(
          { ...subscribe(url, taskId), headers: { "last-event-id": String(after) } },
          kept,
        );
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
