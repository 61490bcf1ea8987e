import { describe, expect, it } from "vitest";
import type { Part, StreamResponse, TaskState } from "../protocol/index.ts";
import { readText } from "./read-text.ts";

const ids = { taskId: "t", contextId: "c" };
const createChunk = (text: string, append = false, artifactId = "a"): StreamResponse => ({
  artifactUpdate: { ...ids, artifact: { artifactId, parts: [{ text }] }, append },
});
const createTask = (state: TaskState, ...texts: string[]): StreamResponse => ({
  task: {
    id: "t",
    contextId: "c",
    status: { state },
    artifacts: texts.map((text, at) => ({ artifactId: `a${at || ""}`, parts: [{ text }] })),
  },
});
const createStatus = (state: TaskState, text: string): StreamResponse => ({
  statusUpdate: {
    ...ids,
    status: { state, message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text }] } },
  },
});

async function* streamEvents(events: readonly StreamResponse[]): AsyncGenerator<StreamResponse, void> {
  yield* events;
}

async function readAll(...events: StreamResponse[]): Promise<string[]> {
  const texts: string[] = [];
  for await (const text of readText(streamEvents(events))) texts.push(text);
  return texts;
}

describe("the text of a stream", () => {
  it("is read once if the last chunk repeats the artifact", async () => {
    const chunks = [createChunk("Hel"), createChunk("lo", true), createChunk("Hello!")];
    const status = createStatus("TASK_STATE_WORKING", "Thinking");
    expect(await readAll(createTask("TASK_STATE_SUBMITTED"), status, ...chunks)).toEqual(["Hel", "lo", "!"]);
  });

  it("excludes the reasoning of a model, also if the last chunk no longer contains it", async () => {
    const thought = { text: "Hm.", metadata: { adk_thought: true } };
    const update = (parts: Part[], append: boolean): StreamResponse => ({
      artifactUpdate: { ...ids, artifact: { artifactId: "a", parts }, append },
    });
    const reasoning: StreamResponse = {
      artifactUpdate: {
        ...ids,
        artifact: { artifactId: "r", parts: [{ text: "Hm." }], metadata: { thought: true } },
      },
    };
    const chunks = [
      update([thought], false),
      update([{ text: "18" }], true),
      update([{ text: "18." }], false),
    ];
    expect(await readAll(reasoning, ...chunks)).toEqual(["18", "."]);
  });

  it("begins a new line for a replacement and for a further artifact", async () => {
    expect(
      await readAll(createChunk("Helo"), createChunk("Hello"), createChunk("Notes", false, "b")),
    ).toEqual(["Helo", "\nHello", "\nNotes"]);
  });

  it("excludes what a continued task already contains", async () => {
    const snapshot = createTask("TASK_STATE_WORKING", "Old. New");
    expect(await readAll(snapshot, createChunk("er", true), createChunk("Old. Newer."))).toEqual(["er", "."]);
  });

  it("includes a task that has ended, and a message", async () => {
    expect(await readAll(createTask("TASK_STATE_COMPLETED", "One", "Two"))).toEqual(["One", "\nTwo"]);
    expect(
      await readAll({ message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "Hi" }] } }),
    ).toEqual(["Hi"]);
  });

  it("continues with the task that a server sends after a reconnection", async () => {
    expect(await readAll(createChunk("Hel"), createTask("TASK_STATE_COMPLETED", "Hello"))).toEqual([
      "Hel",
      "lo",
    ]);
  });
});
