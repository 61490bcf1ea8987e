import { expect, it } from "vitest";
import type { SendMessageResponse, Task } from "../protocol/index.ts";
import { findTestDatabase } from "../../test/support/find-test-postgres.ts";
import {
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  spawnColloquyForTest,
  startServeCommandForTest,
} from "./cli-test-process.fixture.ts";
import { isWindows } from "../../test/support/is-windows.ts";

const { url: database, reason } = await findTestDatabase();

/** An agent that names the role of its process. */
const AGENT = `
import { agent } from "colloquy";
export const rootAgent = agent({ name: "clerk", description: "Names its process" }, async function* () {
  yield process.argv.includes("worker") ? "worker" : "web";
});`;

async function readTask(agentUrl: string, id: string): Promise<Task> {
  return JSON.parse((await runCliInTestProcess(["task", "get", agentUrl, id, "-o", "json"])).out) as Task;
}

it.skipIf(reason)("worker --once runs the turns that a web server accepted, and exits [E21]", async () => {
  const cwd = await createTempTestDirectoryWithFiles({ "clerk.ts": AGENT });
  const web = await startServeCommandForTest(
    ["serve", "clerk.ts", "--store", database, "--role", "web"],
    cwd,
  );
  const agentUrl = web.agentUrls["clerk"] ?? "";
  const sent = await runCliInTestProcess(["send", agentUrl, "hi", "--async", "-o", "json"]);
  const { task } = JSON.parse(sent.out) as Extract<SendMessageResponse, { task: Task }>;
  // A configuration file must not change the role of the command. A worker that does not listen does not drain.
  const config = await createTempTestDirectoryWithFiles({
    "colloquy.config.mjs": `export default { role: "web", drain: "1h" };`,
  });
  const worker = ["worker", "clerk.ts", "--store", database, "--once", "-o", "json"];
  const args = [...worker, "--config", `${config}/colloquy.config.mjs`];
  const { code, out, err } = await spawnColloquyForTest(args, cwd).result;
  expect({ code, report: JSON.parse(out) as unknown }).toEqual({
    code: 0,
    report: { turns: 1, notifications: 0, isComplete: true },
  });
  expect(err).toContain("Started 1 agent run and sent 0 push notifications.");
  const { status, artifacts } = await readTask(agentUrl, task.id);
  expect(status.state).toBe("TASK_STATE_COMPLETED");
  expect(JSON.stringify(artifacts)).toContain("worker");
  const idle = await spawnColloquyForTest(worker, cwd).result;
  expect(JSON.parse(idle.out)).toEqual({ turns: 0, notifications: 0, isComplete: true });
  web.process.child.kill("SIGTERM");
  await web.process.result;
});

it.skipIf(reason)("worker prints no commands for URLs that accept no requests", async () => {
  const cwd = await createTempTestDirectoryWithFiles({ "clerk.ts": AGENT });
  const worker = await startServeCommandForTest(["worker", "clerk.ts", "--store", database], cwd);
  const text = worker.banner.slice(worker.banner.indexOf("\n}\n") + 3);
  expect(text).toContain("  clerk  Names its process\n");
  expect(text).toContain(`accepts no A2A requests, only ${worker.url}/healthz, /readyz, and /tick.`);
  expect(text).not.toMatch(/\/a2a\/|Try/);
  worker.process.child.kill("SIGTERM");
  await worker.process.result;
});

it("worker refuses --role, and names itself in its help and its hints", async () => {
  const refused = await runCliInTestProcess(["worker", "clerk.ts", "--role", "web"]);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("--role") as string });
  const { out: help } = await runCliInTestProcess(["worker", "--help"]);
  expect(help).toContain("colloquy worker agent.ts --store postgres://app@db/tasks");
  expect(help).not.toContain("colloquy serve");
  expect(help).not.toContain("--role");
  const cwd = await createTempTestDirectoryWithFiles({
    "clerk.ts": `export default async function* clerk() {\n  yield "";\n}`,
  });
  for (const args of [["worker"], ["worker", `${cwd}/clerk.ts`, "--store", "memory"]]) {
    const { code, err } = await runCliInTestProcess(args);
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining("colloquy worker --help") as string,
    });
  }
});

it.skipIf(isWindows)(
  "serve --drain accepts messages until the end of the drain time, and reports that it drains",
  async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "clerk.ts": AGENT });
    const args = ["serve", "clerk.ts", "--store", "memory", "--drain", "3s"];
    const { url, agentUrls, process: served } = await startServeCommandForTest(args, cwd);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    served.child.kill("SIGTERM");
    await served.waitForOutput("Stopping.");
    let ready = await fetch(`${url}/readyz`);
    while (ready.status === 200) ready = await fetch(`${url}/readyz`);
    expect({ status: ready.status, body: await ready.json() }).toMatchObject({
      status: 503,
      body: { status: "draining" },
    });
    const { code, out } = await runCliInTestProcess(["send", agentUrls["clerk"] ?? "", "hi"]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("web") as string });
    expect((await served.result).code).toBe(0);
  },
);
