import { expect, it } from "vitest";
import { formatExpectedReport, runMcpTaskSurvival } from "./mcp-task-survival.ts";

it("a task begun by an MCP host survives the kill of the host and of the server, twice", async () => {
  const stepCount = 30;
  const report = await runMcpTaskSurvival({ stepCount, stepMs: 100, killAfterSteps: [12, 20] });
  expect(report.hostKinds).toEqual(["task", "task", "task"]);
  expect(report.outcome).toMatchObject({
    status: "completed",
    result: {
      structuredContent: { state: "TASK_STATE_COMPLETED", text: formatExpectedReport(stepCount) },
    },
  });
});
