import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  spawnShellCommandForTest,
  startServeCommandForTest,
  type ServingCliTestProcess,
} from "./cli-test-process.fixture.ts";
import { isWindows } from "../../test/support/is-windows.ts";

let cwd: string;
let demo: ServingCliTestProcess;
let assistant: string;
let writer: string;

async function startDemo(): Promise<void> {
  demo = await startServeCommandForTest(["demo"], cwd);
  assistant = demo.agentUrls["assistant"] as string;
  writer = demo.agentUrls["writer"] as string;
}

async function killDemo(): Promise<void> {
  demo.process.child.kill("SIGKILL");
  await demo.process.result;
}

beforeAll(async () => {
  cwd = await createTempTestDirectoryWithFiles({});
  await startDemo();
});

afterAll(killDemo);

describe("the demo", () => {
  it("runs without an API key, and its assistant uses its tools", async () => {
    expect(demo.banner).toContain("Model: scripted, because no key is set.");
    const { out } = await runCliInTestProcess([
      "send",
      assistant,
      "What is 12.5% of 80, and 10 km in miles?",
      "--stream",
    ]);
    expect(out).toContain("12.5/100*80 = 10. 10 km = 6.213712 miles.");
    expect(out).toContain(`"name": "calculate"`);
  });

  it("prints the URL of a console, and opens nothing by itself", async () => {
    const page = new URL(/console: (\S+)/.exec(demo.banner)?.[1] ?? "");
    expect(page.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/#token=[\w-]{32}$/);
    const response = await fetch(page);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
  });

  it.skipIf(isWindows)("has a planner and a solver that solve a problem, and shows their flow", async () => {
    expect(demo.banner).toContain(`card by card:
1. CONTROLLER    → [TASK]    PLANNER
2. PLANNER       → [TASK]    SOLVER
3. SOLVER        ← [RESULT]  PLANNER
4. PLANNER       → [TASK]    SOLVER
5. SOLVER        ← [RESULT]  PLANNER
6. PLANNER       ← [RESULT]  CONTROLLER
`);
    const line = /# a planner and a solver.*\n(.+)/.exec(demo.banner)?.[1] ?? "false";
    const { out } = await spawnShellCommandForTest(line, cwd).result;
    expect(out).toContain("planner → solver [task] ");
    expect(out).toMatch(/Artifact: answer\n(?:.*\n)*?18\n/);
  });

  it("prints a command for a run of cards, which works", async () => {
    const [, command = ""] = /(cards run --.*)/.exec(demo.banner) ?? [];
    const options = ["-n", "1", "--out", `${cwd}/results`];
    const { code, err } = await runCliInTestProcess([...command.split(" "), ...options]);
    expect([code, err]).toEqual([0, expect.not.stringContaining("error:")]);
  });

  it("makes no payment without approval", async () => {
    const { out } = await runCliInTestProcess([
      "send",
      assistant,
      "reimburse 500 for a dinner",
      "-o",
      "json",
    ]);
    const { task } = JSON.parse(out) as { task: { id: string } };
    const answer = ["--answer", '{"approved":false}'];
    const denied = await runCliInTestProcess(["send", assistant, "--task-id", task.id, ...answer]);
    expect(denied.out).toContain("That was not approved, so nothing is paid.");
    expect(denied.out).not.toContain("Paid");
  });

  it("has a writer that asks for the length, and then writes", async () => {
    const { out } = await runCliInTestProcess(["send", writer, "write", "-o", "json"]);
    const { task } = JSON.parse(out) as { task: { id: string } };
    const written = await runCliInTestProcess(["send", writer, "3", "--task-id", task.id]);
    expect(written.out).toContain("Artifact: answer\nthe agents talk\n\n");
    expect(written.out).toContain(`"words": 3`);
  });

  it.skipIf(isWindows)("receives an approval even after it was killed and restarted", async () => {
    const request = await spawnColloquyForTest(["send", assistant, "Reimburse 150 euros for a taxi"], cwd)
      .result;
    expect(request.out).toContain("State: TASK_STATE_INPUT_REQUIRED\n");
    expect(request.err).toContain(`request_approval({"amount":150,"purpose":"a taxi"})`);
    const { url } = demo;
    await killDemo();
    await startDemo();
    const approve = /hint: (.+ --answer .+)/.exec(request.err)?.[1] ?? "false";
    const approved = await spawnShellCommandForTest(approve.replace(url, demo.url), cwd).result;
    expect(approved.out).toContain("State: TASK_STATE_COMPLETED\n");
    expect(approved.out).toContain("Paid: 150 euros for a taxi.");
  });
});
