import { expect, it } from "vitest";
import { TaskView } from "./task-view.ts";
import type { Part, StreamResponse } from "../protocol/index.ts";
it("an artifact that replaces its content replaces its tool calls, too", () => {
  const view = new TaskView();
  const call: Part = { data: { id: "c", name: "add", args: {} }, metadata: { adk_type: "function_call" } };
  const result: Part = {
    data: { id: "c", name: "add", response: { sum: 3 } },
    metadata: { adk_type: "function_response" },
  };
  const update = (append: boolean, ...parts: Part[]): StreamResponse => ({
    artifactUpdate: { taskId: "t", contextId: "c", artifact: { artifactId: "a", parts }, append },
  });
  for (const e of [
    update(false, call),
    update(true, result),
    update(true, { text: "Thr" }),
    update(false, call, result, { text: "3" }),
  ])
    view.apply(e);
  expect(view.messages[0]?.parts).toMatchObject([
    { type: "tool", state: "succeeded" },
    { type: "text", text: "3" },
  ]);
});
