import { expect, it } from "vitest";
import { SOLVER } from "../../index.ts";
import { createScriptedModel, createSolver } from "../index.ts";
import { forwardingTestPlanner, startRoleTestbed } from "./role-testbed.fixture.ts";

it.each([
  ["sends the span of its own call", undefined],
  ["sends the trace of the message card", false],
] as const)("a role %s, with the server option telemetry %s [E22]", async (_, telemetry) => {
  const headers: (string | undefined)[] = [];
  const spansOfRuns: (string | undefined)[] = [];
  const { controller, listTasks } = await startRoleTestbed(
    {
      planner: forwardingTestPlanner,
      solver: { role: createSolver(), model: createScriptedModel(["18"]) },
    },
    {
      serverOptions: {
        ...(telemetry === false && { telemetry }),
        observer: {
          onRequest: ({ method, traceparent }) => method === "POST" && headers.push(traceparent),
          onRun: ({ phase, traceparent }) => phase === "begin" && spansOfRuns.push(traceparent),
        },
      },
    },
  );
  await controller.solve({ task: "9 * 2", sampleId: "s" });
  const [task] = await listTasks(SOLVER);
  const metadata = JSON.stringify(task?.history?.[0]?.metadata);
  const [, headerOfSolver = ""] = headers;
  const traceId = headerOfSolver.split("-")[1] ?? "";
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(metadata).toContain(traceId);
  // The header of a traced role names a span that its client has started, and not the span of the message card.
  expect(metadata.includes(headerOfSolver)).toBe(telemetry === false);
  expect(new Set(spansOfRuns.map((span) => span?.split("-")[1])).size).toBe(1);
});
