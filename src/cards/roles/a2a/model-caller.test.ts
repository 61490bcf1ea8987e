import { describe, expect, it } from "vitest";
import { SOLVER } from "../../index.ts";
import type { AgentCallReport } from "../../../engine/index.ts";
import { createScriptedModel, createSolver, type RoleModel } from "../index.ts";
import { forwardingTestPlanner, startRoleTestbed, type RoleTestbed } from "./role-testbed.fixture.ts";

interface ReportingTestbed extends RoleTestbed {
  /** The calls of all agents, with the ids of their agents. */
  readonly reports: { readonly agent: string; readonly taskId: string; readonly call: AgentCallReport }[];
}

async function startTestbed(model: RoleModel): Promise<ReportingTestbed> {
  const reports: ReportingTestbed["reports"] = [];
  const testbed = await startRoleTestbed(
    { planner: forwardingTestPlanner, solver: { role: createSolver(), model } },
    {
      serverOptions: {
        observer: {
          onAgentCall: ({ scope, taskId, call }) => reports.push({ agent: scope.agent, taskId, call }),
        },
      },
    },
  );
  return { ...testbed, reports };
}

const busyError = Object.assign(new Error("busy"), { httpStatus: 503 });

describe("a model call of a role", () => {
  it("is reported with its prompt, reply, failed attempts, waits, and tokens", async () => {
    const usage = {
      input_tokens: 40,
      output_tokens: 2,
      cached_input_tokens: 32,
      source: "reported",
    } as const;
    const model = createScriptedModel([busyError, { text: " 18\n", finish: "stop", model: "m-2026", usage }]);
    const { controller, clock, reports, listTasks } = await startTestbed(model);
    const solved = controller.solve({ task: "9 * 2", sampleId: "s" });
    await expect.poll(() => clock.pendingTimerCount).toBe(1);
    clock.advance(2_000);
    await solved;
    const [task] = await listTasks(SOLVER);
    expect(reports).toMatchObject([
      {
        agent: SOLVER,
        taskId: task?.id,
        call: {
          kind: "model",
          model: "m-2026",
          reply: " 18\n",
          attempts: [{ error: "busy", wait_ms: 2_000 }],
          finishReason: "stop",
          inputTokens: 40,
          cachedInputTokens: 32,
          outputTokens: 2,
        },
      },
    ]);
    expect(reports[0]?.call.durationMs).toBeGreaterThanOrEqual(2_000);
    expect(JSON.stringify(reports[0]?.call)).toContain("9 * 2");
  });

  it("is reported once with its error, if no attempt succeeds or the task is stopped", async () => {
    const failing = await startTestbed(
      createScriptedModel([busyError, Object.assign(new Error("no key"), { httpStatus: 401 })]),
    );
    const solved = failing.controller.solve({ task: "9 * 2", sampleId: "s" });
    await expect.poll(() => failing.clock.pendingTimerCount).toBe(1);
    failing.clock.advance(2_000);
    await solved;
    expect(failing.reports.map(({ call }) => call)).toMatchObject([
      { kind: "model", attempts: [{ error: "busy" }], error: expect.stringContaining("no key") as string },
    ]);

    const stopped = await startTestbed(createScriptedModel([busyError]));
    const abort = new AbortController();
    const ended = stopped.controller.solve({ task: "9 * 2", sampleId: "s", signal: abort.signal });
    await expect.poll(() => stopped.clock.pendingTimerCount).toBe(1);
    abort.abort();
    await ended;
    expect(stopped.reports.map(({ call }) => call)).toMatchObject([
      { kind: "model", attempts: [{ error: "busy" }], error: expect.stringContaining("stopped") as string },
    ]);
  });
});
