import { expect, it } from "vitest";
import type { StreamResponse } from "../../protocol/index.ts";
import { StreamedTaskSize } from "./streamed-task-size.ts";

const ids = { taskId: "t", contextId: "c" };
const task: StreamResponse = { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } };
const createStatus = (text?: string): StreamResponse => {
  const message = { messageId: "m", role: "ROLE_AGENT" as const, parts: [{ text: text ?? "" }] };
  return {
    statusUpdate: {
      ...ids,
      status: { state: "TASK_STATE_WORKING", ...(text === undefined ? {} : { message }) },
    },
  };
};
const createArtifactUpdate = (artifactId: string, append: boolean): StreamResponse => ({
  artifactUpdate: { ...ids, artifact: { artifactId, parts: [{ text: "x" }] }, append },
});

/** Adds an event of 900 bytes a hundred times. Together with the overhead, each event counts 1,000 bytes. */
function addHundredEvents(event: (index: number) => StreamResponse): void {
  const size = new StreamedTaskSize(10_000);
  for (let index = 0; index < 100; index++) size.add({ event: event(index), size: 900 });
}

it.each<[string, (index: number) => StreamResponse]>([
  ["an artifact that grows", () => createArtifactUpdate("a", true)],
  ["many artifacts", (index) => createArtifactUpdate(String(index), false)],
  ["many status messages, which the history keeps", () => createStatus("progress")],
])("the size of a streamed task is limited, with %s", (_, event) => {
  expect(() => addHundredEvents(event)).toThrow("The agent streamed a task of more than 10000 bytes");
});

it.each<[string, (index: number) => StreamResponse]>([
  ["an artifact that is replaced", () => createArtifactUpdate("a", false)],
  ["complete tasks", () => task],
  ["statuses without messages", () => createStatus()],
  [
    "a complete task after some growth",
    (index) => (index % 9 === 0 ? task : createArtifactUpdate("a", true)),
  ],
])("the size of a streamed task does not count replaced content, with %s", (_, event) => {
  expect(() => addHundredEvents(event)).not.toThrow();
});
