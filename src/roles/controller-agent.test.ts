import { expect, it, onTestFinished, vi } from "vitest";
import { collect, connect, type Remote } from "../client/index.ts";
import { PLANNER, SOLVER } from "../cards/index.ts";
import { type Artifact, type Task, textOf } from "../protocol/index.ts";
import { createServer } from "../server/index.ts";
import { FLOW, JANET, plannerOf, solverOf } from "./a2a/dialogue.fixture.ts";
import { type House, house, role, sleeping } from "./a2a/house.fixture.ts";
import { controllerAgent } from "./controller-agent.ts";

async function asked({ controller }: House): Promise<Remote> {
  const server = createServer(controllerAgent({ controller, dataset: "gsm8k" }), { store: "memory" });
  const { url } = await server.listen();
  onTestFinished(() => server.close({ graceMs: 100 }));
  return await connect(url);
}

const taskOf = (answer: object): Task => (answer as { task: Task }).task;
const texts = (artifacts: readonly Artifact[] = []): Record<string, string> =>
  Object.fromEntries(artifacts.map(({ artifactId, parts }) => [artifactId, textOf(parts)]));

it("a question in words is answered in words, with the flow of cards beside it and each card on the way", async () => {
  const remote = await asked(await house({ planner: plannerOf(JANET), solver: solverOf(JANET) }));
  const task = taskOf(await collect(remote.stream(JANET.task)));
  expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  expect(texts(task.artifacts)).toEqual({ answer: "18", flow: FLOW });
  expect(task.history?.map(({ parts }) => textOf(parts)).slice(1, 4)).toEqual([
    `controller → planner [task] ${JANET.task}`,
    `planner → solver [task] ${JANET.steps[0]?.subtask}`,
    "solver → planner [result] 9",
  ]);
});

it("what the planner asks is asked on", async () => {
  const planner = role(PLANNER, async (desk) => {
    const { content } = await desk.query({ query: "Which unit?", options: ["eggs", "dollars"] });
    return { result: `18 ${content}`, status: "completed" };
  });
  const remote = await asked(await house({ planner }));
  const { id, status } = taskOf(await remote.send("How many?"));
  expect(textOf(status.message?.parts ?? [])).toBe("Which unit? (eggs | dollars)");
  const answer = taskOf(await remote.send("dollars", { taskId: id }));
  expect(texts(answer.artifacts)["answer"]).toBe("18 dollars");
});

it("what goes wrong is said in words", async () => {
  const remote = await asked(await house({ planner: plannerOf(JANET) }));
  const { status } = taskOf(await remote.send("How many?"));
  expect(status.state).toBe("TASK_STATE_FAILED");
  expect(textOf(status.message?.parts ?? [])).toContain("Nobody has said where solver is");
});

it("whoever cancels stops the roles, and keeps what they had", async () => {
  const solver = sleeping(SOLVER);
  const planner = role(PLANNER, async (desk) => {
    await desk.delegate({ to: SOLVER, task: "slow" }).catch(() => {});
    return { result: "about 18", status: "partial" };
  });
  const open = await house({ planner, solver: solver.role });
  const remote = await asked(open);
  const { id } = taskOf(await remote.send("How many?", { configuration: { returnImmediately: true } }));
  await solver.begun;
  const task = await remote.task.cancel(id);
  expect(task.status.state).toBe("TASK_STATE_CANCELED");
  expect(texts(task.artifacts)["answer"]).toBe("about 18");
  for (const name of [PLANNER, SOLVER]) {
    expect((await open.tasks(name))[0]?.status.state).toBe("TASK_STATE_CANCELED");
  }
});

it("a question that is cancelled while the planner waits for its answer stops the planner", async () => {
  const planner = role(PLANNER, async (desk) => {
    await desk.query({ query: "Which unit?" });
    return { result: "18", status: "completed" };
  });
  const open = await house({ planner });
  const remote = await asked(open);
  const { id } = taskOf(await remote.send("How many?"));
  await remote.task.cancel(id);
  const state = async (): Promise<unknown> => (await open.tasks(PLANNER))[0]?.status.state;
  await vi.waitFor(async () => expect(await state()).toBe("TASK_STATE_CANCELED"));
});

it("a question that is too long for a card is refused in words", async () => {
  const remote = await asked(await house({ planner: plannerOf(JANET) }));
  const { status } = taskOf(await remote.send("x".repeat(300_000)));
  expect(status.state).toBe("TASK_STATE_FAILED");
  expect(textOf(status.message?.parts ?? [])).toContain("content: is longer than 262144 bytes");
});
