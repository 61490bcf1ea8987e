import { expect, it, onTestFinished } from "vitest";
import { findTestPort } from "../../../../test/support/test-ports.ts";
import { createTempFolder } from "../../../../test/support/store-factories.ts";
import { join } from "node:path";
import { connect } from "../../../client/index.ts";
import { createServer, type Server } from "../../../server/index.ts";
import { PLANNER, SOLVER } from "../../index.ts";
import { createController } from "../controller.ts";
import { createScriptedModel } from "../models/index.ts";
import { serveRoles } from "../serve-roles.ts";
import { createTestRoleFromFunction } from "./role-testbed.fixture.ts";
import { createRoleAgent } from "./role-agent.ts";

it("a role on a durable store continues after its server has closed, and its subtasks do not stop [E9, E18]", async () => {
  const { folder, remove } = await createTempFolder();
  onTestFinished(remove);
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const solver = createTestRoleFromFunction(SOLVER, async () => {
    begun.resolve();
    await released.promise;
    return { result: "4", status: "success" };
  });
  const served = await serveRoles({ roles: { solver } });
  onTestFinished(() => served.close({ graceMs: 0 }));

  let modelCalls = 0;
  const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
    const input = { kind: "solve", task: taskContext.task } as const;
    const { text } = await taskContext.callModel({ input, messages: [] });
    const { content } = await taskContext.delegate({ to: SOLVER, task: "2 + 2", turn: 1 });
    return { result: [text, content].join(" | "), status: "completed" };
  });
  const model = createScriptedModel(() => `thought ${++modelCalls}`);
  const port = await findTestPort();
  const startPlanner = async (): Promise<Server> => {
    const agent = createRoleAgent(planner, { model, roleTargets: served.urls });
    const server = createServer(agent, { store: `sqlite:${join(folder, "tasks.db")}` });
    await server.listen({ port });
    onTestFinished(() => server.close({ graceMs: 0 }));
    return server;
  };
  const first = await startPlanner();
  const reconnect = { maxRetries: 1000, initialDelayMs: 10, maxDelayMs: 50 };
  const controller = createController({
    roleTargets: { planner: `http://127.0.0.1:${port}` },
    connectOptions: { reconnect },
  });
  const solved = controller.solve({ task: "What is 2 + 2?" });
  await begun.promise;
  await first.close({ graceMs: 1000 });
  const { tasks } = await (await connect(served.urls["solver"] ?? "")).tasks.list();
  expect(tasks.map(({ status }) => status.state)).toEqual(["TASK_STATE_WORKING"]);

  await startPlanner();
  released.resolve();
  expect((await solved).reply).toMatchObject({
    content: "thought 1 | 4",
    metadata: { status: "completed" },
  });
  expect(modelCalls).toBe(1);
});

it("a problem that a program has prepared is solved once", async () => {
  let tasks = 0;
  const planner = createTestRoleFromFunction(PLANNER, async () => ({
    result: `answer ${++tasks}`,
    status: "completed",
  }));
  const served = await serveRoles({ roles: { planner } });
  onTestFinished(() => served.close());
  const problem = { task: "What is 2 + 2?", relay: "full" } as const;
  const prepared = createController({ roleTargets: served.urls }).prepare(problem);
  for (const process of ["first", "second"]) {
    const controller = createController({ roleTargets: served.urls });
    const { reply, cards } = await controller.solve({ ...problem, prepared: structuredClone(prepared) });
    expect.soft([reply.content, cards.length], process).toEqual(["answer 1", 2]);
  }
});
