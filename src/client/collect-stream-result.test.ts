import { describe, expect, it } from "vitest";
import { getText, type Artifact, type StreamResponse, type Task } from "../protocol/index.ts";
import { collect } from "./collect-stream-result.ts";

const createArtifact = (artifactId: string, text: string): Artifact => ({ artifactId, parts: [{ text }] });
const working: Task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };
const previousTask: Task = {
  ...working,
  status: { state: "TASK_STATE_INPUT_REQUIRED" },
  artifacts: [createArtifact("a", "Asking.")],
};
const createUpdate = (artifact: Artifact, append = false): StreamResponse => ({
  artifactUpdate: { taskId: "t", contextId: "c", artifact, append },
});

async function collectTexts(events: StreamResponse[], previous?: Task): Promise<string[] | undefined> {
  const stream = (async function* () {
    yield* events;
  })();
  const result = await collect(stream, previous);
  return "task" in result ? result.task.artifacts?.map(({ parts }) => getText(parts)) : undefined;
}

describe("the result of a stream to an existing task", () => {
  const booked = createUpdate(createArtifact("b", "Booked."));

  it("contains the artifacts of the turn", async () => {
    expect(await collectTexts([{ task: working }, booked])).toEqual(["Booked."]);
  });

  it.each<[string, StreamResponse[]]>([
    ["the task without artifacts", [{ task: working }]],
    ["no task", []],
  ])("keeps the artifacts of the earlier task, if the stream starts with %s", async (_, opening) => {
    expect(await collectTexts([...opening, booked], previousTask)).toEqual(["Asking.", "Booked."]);
    const appended = createUpdate(createArtifact("a", " Thanks."), true);
    expect(await collectTexts([...opening, appended], previousTask)).toEqual(["Asking. Thanks."]);
    expect(previousTask.artifacts).toEqual([createArtifact("a", "Asking.")]);
  });

  it("equals the snapshot, if the stream contains the complete task", async () => {
    const whole = { task: { ...working, artifacts: [createArtifact("a", "New.")] } };
    expect(await collectTexts([whole], previousTask)).toEqual(["New."]);
    expect(await collectTexts([{ task: working }, booked, whole], previousTask)).toEqual(["New."]);
    expect(await collectTexts([{ task: { ...working, id: "other" } }], previousTask)).toBeUndefined();
  });
});
