import { CreateTaskResultV2Schema, GetTaskResultV2Schema } from "@modelcontextprotocol/ext-tasks/core/v2";
import { describe, expect, it } from "vitest";
import { TASK_STATES, type Task, type TaskState } from "../../../protocol/index.ts";
import { decodeMcpTask } from "./decode-mcp-task.ts";
import { toCreateMcpTaskResult, toMcpTask } from "./to-mcp-task.ts";

const REFERENCE = { agentId: "a", taskId: "t", createdAtMs: Date.parse("2026-01-01T00:00:00.000Z") };

const EXPECTED_STATUSES: Record<TaskState, [withElicitation: string, withoutElicitation: string]> = {
  TASK_STATE_UNSPECIFIED: ["working", "working"],
  TASK_STATE_SUBMITTED: ["working", "working"],
  TASK_STATE_WORKING: ["working", "working"],
  TASK_STATE_INPUT_REQUIRED: ["input_required", "completed"],
  TASK_STATE_AUTH_REQUIRED: ["input_required", "completed"],
  TASK_STATE_COMPLETED: ["completed", "completed"],
  TASK_STATE_FAILED: ["completed", "completed"],
  TASK_STATE_REJECTED: ["completed", "completed"],
  TASK_STATE_CANCELED: ["cancelled", "cancelled"],
};

function createTask(state: TaskState, parts: Task["artifacts"] = []): Task {
  const message = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "Which city?" }] } as const;
  const status = { state, message: { ...message, parts: [...message.parts] } };
  return {
    id: "t",
    contextId: "c",
    status: { ...status, timestamp: "2026-01-01T00:00:05.000Z" },
    artifacts: parts,
  };
}

describe.each(TASK_STATES.map((state) => [state] as const))("an A2A task in %s", (state) => {
  it.each([
    [true, 0],
    [false, 1],
  ] as const)("is valid for the official schema (elicitation: %s)", (canAskUser, index) => {
    const task = toMcpTask(createTask(state), REFERENCE, canAskUser);
    expect(task.status).toBe(EXPECTED_STATUSES[state][index]);
    expect(GetTaskResultV2Schema.parse({ resultType: "complete", ...task })).toMatchObject(task);
    expect(CreateTaskResultV2Schema.parse(toCreateMcpTaskResult(task)).status).toBe(task.status);
    expect(decodeMcpTask(JSON.parse(JSON.stringify(task)))).toEqual(task);
    expect(task).toMatchObject({
      taskId: `a:t:${REFERENCE.createdAtMs.toString(36)}`,
      createdAt: "2026-01-01T00:00:00.000Z",
      lastUpdatedAt: "2026-01-01T00:00:05.000Z",
      statusMessage: "Which city?",
    });
  });
});

it("marks the results of failed and rejected tasks as errors", () => {
  for (const [state, isError] of [
    ["TASK_STATE_FAILED", true],
    ["TASK_STATE_REJECTED", true],
    ["TASK_STATE_COMPLETED", undefined],
  ] as const) {
    const task = toMcpTask(createTask(state), REFERENCE, true);
    expect(task.status === "completed" && task.result).toMatchObject(
      isError ? { isError } : { content: [{ type: "text" }] },
    );
  }
});

it.each([
  null,
  {},
  { taskId: "t" },
  { taskId: "t", status: "done" },
  { taskId: "t", status: "completed" },
  { taskId: "t", status: "failed", error: "x" },
  { taskId: "t", status: "input_required", inputRequests: { key: {} } },
])("refuses the malformed MCP task %j", (json) => {
  expect(() => decodeMcpTask(json)).toThrow("report the error to the operator of the MCP server");
});
