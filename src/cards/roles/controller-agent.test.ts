import { expect, it, onTestFinished } from "vitest";
import { collect, connect, type A2AClient } from "../../client/index.ts";
import { PLANNER, SOLVER } from "../index.ts";
import { type Artifact, type Task, getText } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import {
  EXPECTED_FLOW_DIAGRAM,
  JANET_DIALOGUE,
  createScriptedPlanner,
  createScriptedSolver,
} from "./a2a/planner-solver-dialogue.fixture.ts";
import {
  type RoleTestbed,
  startRoleTestbed,
  createTestRoleFromFunction,
  createTestRoleBlockedUntilStopped,
} from "./a2a/role-testbed.fixture.ts";
import { createControllerAgent } from "./controller.ts";

async function connectToControllerAgent({ controller }: RoleTestbed): Promise<A2AClient> {
  const server = createServer(createControllerAgent({ controller, dataset: "gsm8k" }), { store: "memory" });
  const { url } = await server.listen();
  onTestFinished(() => server.close({ graceMs: 100 }));
  return await connect(url);
}

const getTask = (answer: object): Task => (answer as { task: Task }).task;
const getArtifactTexts = (artifacts: readonly Artifact[] = []): Record<string, string> =>
  Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, getText(parts)]));

it("a plain text problem gets an answer, the flow diagram, and one progress line per card", async () => {
  const remote = await connectToControllerAgent(
    await startRoleTestbed({
      planner: createScriptedPlanner(JANET_DIALOGUE),
      solver: createScriptedSolver(JANET_DIALOGUE),
    }),
  );
  const task = getTask(await collect(remote.stream(JANET_DIALOGUE.task)));
  expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  expect(getArtifactTexts(task.artifacts)).toEqual({ answer: "18", flow: EXPECTED_FLOW_DIAGRAM });
  expect(task.history?.map(({ parts }) => getText(parts)).slice(1, 4)).toEqual([
    `controller → planner [task] ${JANET_DIALOGUE.task}`,
    `planner → solver [task] ${JANET_DIALOGUE.steps[0]?.subtask}`,
    "solver → planner [result] 9",
  ]);
});

it("a query of the planner is forwarded to the user", async () => {
  const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
    const { content } = await taskContext.sendQuery({ query: "Which unit?", options: ["eggs", "dollars"] });
    return { result: `18 ${content}`, status: "completed" };
  });
  const remote = await connectToControllerAgent(await startRoleTestbed({ planner }));
  const { id, status } = getTask(await remote.send("How many?"));
  expect(getText(status.message?.parts ?? [])).toBe("Which unit? (eggs | dollars)");
  const answer = getTask(await remote.send("dollars", { taskId: id }));
  expect(getArtifactTexts(answer.artifacts)["answer"]).toBe("18 dollars");
});

it("an error is reported as plain text", async () => {
  const remote = await connectToControllerAgent(
    await startRoleTestbed({ planner: createScriptedPlanner(JANET_DIALOGUE) }),
  );
  const { status } = getTask(await remote.send("How many?"));
  expect(status.state).toBe("TASK_STATE_FAILED");
  expect(getText(status.message?.parts ?? [])).toContain("The role solver has no location");
});

it("a cancellation stops the roles and keeps their partial result", async () => {
  const solver = createTestRoleBlockedUntilStopped(SOLVER);
  const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
    await taskContext.delegate({ to: SOLVER, task: "slow" }).catch(() => {});
    return { result: "about 18", status: "partial" };
  });
  const open = await startRoleTestbed({ planner, solver: solver.role });
  const remote = await connectToControllerAgent(open);
  const { id } = getTask(await remote.send("How many?", { configuration: { returnImmediately: true } }));
  await solver.begun;
  const task = await remote.tasks.cancel(id);
  expect(task.status.state).toBe("TASK_STATE_CANCELED");
  expect(getArtifactTexts(task.artifacts)["answer"]).toBe("about 18");
  for (const name of [PLANNER, SOLVER]) {
    expect((await open.listTasks(name))[0]?.status.state).toBe("TASK_STATE_CANCELED");
  }
});

it("a cancellation during a query stops the planner", async () => {
  const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
    await taskContext.sendQuery({ query: "Which unit?" });
    return { result: "18", status: "completed" };
  });
  const open = await startRoleTestbed({ planner });
  const remote = await connectToControllerAgent(open);
  const { id } = getTask(await remote.send("How many?"));
  await remote.tasks.cancel(id);
  const state = async (): Promise<unknown> => (await open.listTasks(PLANNER))[0]?.status.state;
  await expect.poll(state).toBe("TASK_STATE_CANCELED");
});

it("a problem that is too long for a card is rejected as plain text", async () => {
  const remote = await connectToControllerAgent(
    await startRoleTestbed({ planner: createScriptedPlanner(JANET_DIALOGUE) }),
  );
  const { status } = getTask(await remote.send("x".repeat(300_000)));
  expect(status.state).toBe("TASK_STATE_FAILED");
  expect(getText(status.message?.parts ?? [])).toContain("content: is longer than 262144 bytes");
});
