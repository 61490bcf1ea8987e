import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ListTasksResponse, SendMessageResponse, StreamResponse, Task } from "../protocol/index.ts";
import {
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  spawnShellCommandForTest,
  startServeCommandForTest,
  type CliTestProcessResult,
  type ServingCliTestProcess,
} from "./cli-test-process.fixture.ts";
import { isWindows } from "../../test/support/is-windows.ts";

const AGENTS = `
import { agent, artifact, data, failed, inputRequired, reply, status } from "colloquy";
export const rootAgent = agent(
  { name: "parrot", description: "Does what it is told" },
  async function* ({ text, signal }) {
    if (text === "fail") yield failed("No luck.");
    if (text === "ask") yield inputRequired("Which city?");
    if (text === "wait") {
      yield status("Working…");
      yield "waiting";
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }
    if (text === "reply") yield reply("Just a message.");
    else {
      yield status("Working…");
      yield "You said: ";
      yield text;
      yield artifact({ name: "facts" }, data({ length: text.length }));
    }
  },
  { respondsWith: "either" },
);`;

let cwd: string;
let server: ServingCliTestProcess;
let parrot: string;

beforeAll(async () => {
  cwd = await createTempTestDirectoryWithFiles({ "parrot.ts": AGENTS, "tools.ts": "export const x = 1;" });
  server = await startServeCommandForTest(["serve", ".", "--store", "memory"], cwd);
  parrot = server.agentUrls["parrot"] as string;
});

afterAll(async () => {
  server.process.child.kill("SIGKILL");
  await server.process.result;
});

function runInDirectory(...args: string[]): Promise<CliTestProcessResult> {
  return runCliInTestProcess(args);
}

async function runJson<T>(...args: string[]): Promise<T> {
  const { out } = await runInDirectory(...args, "-o", "json");
  return JSON.parse(out) as T;
}

async function runForTask(...args: string[]): Promise<Task> {
  const response = await runJson<SendMessageResponse>("send", parrot, ...args);
  if (!("task" in response)) throw new Error("There is no task.");
  return response.task;
}

describe("serve", () => {
  it.skipIf(isWindows)("lists served agents, skipped files with reasons, and commands to paste", async () => {
    expect(server.banner).toContain("Does what it is told");
    expect(server.banner).toContain("tools.ts: exports no agent (only x)");
    const lines = server.banner.split("\n");
    const send = await spawnShellCommandForTest(lines.find((line) => line.includes(" send ")) ?? "false", cwd)
      .result;
    expect(send).toMatchObject({ code: 0, err: "" });
    expect(send.out).toContain("You said: Hello!");
    const curl = await spawnShellCommandForTest(lines.find((line) => line.includes("curl")) ?? "false", cwd)
      .result;
    expect(curl.out).toContain('"TASK_STATE_COMPLETED"');
  });

  it.skipIf(isWindows)(
    "uses the next port if the configured port is in use, but not if --port names it",
    async () => {
      const port = new URL(server.url).port;
      // The server has accepted no requests, so that it fails without the drain time.
      const words = ["serve", "--exec", "cat", "--store", "memory", "--port", port, "--drain", "1h"];
      const strict = await runInDirectory(...words);
      expect(strict).toMatchObject({ code: 1, out: "" });
      expect(strict.err).toContain(`Port ${port} is in use. Stop the process that uses it, or choose`);
      expect(strict.err).toContain("(A2ACLI_ERR_PORT_IN_USE)");
      const config = await createTempTestDirectoryWithFiles({
        "colloquy.config.mjs": `export default { port: ${port} };`,
      });
      const other = spawnColloquyForTest(["serve", "--exec", "cat", "--store", "memory"], config);
      await other.waitForOutput(`Port ${port} is in use; using `);
      await other.waitForOutput("Ctrl-C stops it.");
      other.child.kill("SIGTERM");
      expect((await other.result).code).toBe(0);
    },
  );

  it("reports invalid server options as usage errors", async () => {
    for (const [flag, value, text] of [
      ["--store", "mysql://x", "Unknown store"],
      ["--public-url", "example.com", `"publicUrl" is "example.com"; use an absolute URL`],
    ] as const) {
      const refused = await runInDirectory("serve", "--exec", "cat", flag, value);
      expect(refused).toMatchObject({ code: 2, out: "" });
      expect(refused.err).toContain(text);
    }
  });

  it.skipIf(isWindows)("serves a command", async () => {
    const shout = await startServeCommandForTest(
      ["serve", "--exec", "tr a-z A-Z", "--name", "shout", "--store", "memory"],
      cwd,
    );
    const { out } = await runInDirectory("send", shout.agentUrls["shout"] as string, "quiet $(whoami)");
    expect(out).toContain("Artifact: answer\nQUIET $(WHOAMI)\n\n");
    shout.process.child.kill("SIGINT");
    expect((await shout.process.result).code).toBe(0);
  });

  it.skipIf(isWindows)("exits on request, even if agents left timers open", async () => {
    const open = await createTempTestDirectoryWithFiles({
      "agent.mjs": `setInterval(() => {}, 1000);
        export default async function* idle() { yield "Hello"; }`,
    });
    const idle = await startServeCommandForTest(["serve", "agent.mjs", "--store", "memory"], open);
    idle.process.child.kill("SIGTERM");
    expect((await idle.process.result).code).toBe(0);
  });

  it.skipIf(isWindows)("serves and calls agents over gRPC on request", async () => {
    const args = [
      "serve",
      "--exec",
      "tr a-z A-Z",
      "--name",
      "shout",
      "--store",
      "memory",
      "--grpc-port",
      "0",
    ];
    const both = await startServeCommandForTest(args, cwd);
    expect(both.banner).toMatch(/over gRPC, too: 127\.0\.0\.1:\d+\n/);
    const { out } = await runInDirectory(
      "send",
      both.agentUrls["shout"] as string,
      "quiet",
      "--transport",
      "grpc",
    );
    expect(out).toContain("QUIET");
    const taken = /gRPC, too: 127\.0\.0\.1:(\d+)/.exec(both.banner)?.[1] ?? "";
    const second = await runInDirectory(
      "serve",
      "--exec",
      "cat",
      "--store",
      "memory",
      "--port",
      "0",
      "--grpc-port",
      taken,
    );
    expect(second.code).toBe(1);
    expect(second.err).toContain(`The gRPC listener failed to start on 127.0.0.1:${taken}`);
    both.process.child.kill("SIGINT");
    expect((await both.process.result).code).toBe(0);
  });

  it.skipIf(isWindows)("serves agents as models of OpenAI's API only on request", async () => {
    const shout = ["serve", "--exec", "tr a-z A-Z", "--name", "shout", "--store", "memory"];
    for (const [flags, status] of [
      [["--openai"], 200],
      [[], 404],
    ] as const) {
      const { process, url, banner } = await startServeCommandForTest([...shout, ...flags], cwd);
      expect(banner.includes(`as models of OpenAI's API, too: ${url}/v1\n`)).toBe(status === 200);
      expect(banner.includes(`"openai": "${url}/v1"`)).toBe(status === 200);
      expect((await fetch(`${url}/v1/models`)).status).toBe(status);
      process.child.kill("SIGINT");
      expect((await process.result).code).toBe(0);
    }
  });

  it("listens on public addresses only with authentication or an explicit option", async () => {
    const { code, err } = await runInDirectory(
      "serve",
      "--exec",
      "cat",
      "--store",
      "memory",
      "--host",
      "0.0.0.0",
      "--port",
      "0",
    );
    expect(code).toBe(1);
    expect(err).toContain("hint: Configure authentication");
  });

  it("keeps stdout for its single document, even if agents print", async () => {
    const chatty = `console.log("loaded"); export default async function* () { yield "hi"; }`;
    const directory = await createTempTestDirectoryWithFiles({ "chatty.mjs": chatty });
    const args = ["serve", "chatty.mjs", "--store", "memory", "--port", "0", "-o", "json"];
    const cli = spawnColloquyForTest(args, directory);
    await cli.waitForOutput("Ctrl-C stops it.");
    cli.child.kill("SIGINT");
    const { out, err } = await cli.result;
    expect(JSON.parse(out)).toMatchObject({ agents: [{ id: "chatty" }] });
    expect(err).toContain("loaded\n");
  });

  it("names the process that holds the lock on its store file", async () => {
    const directory = await createTempTestDirectoryWithFiles({});
    const args = ["serve", "--exec", "cat", "--store", `sqlite:${directory}/tasks.db`];
    const first = await startServeCommandForTest(args, directory);
    const { code, err } = await runInDirectory(...args, "--port", "0");
    expect(code).toBe(3);
    expect(err).toContain(`is in use by process ${first.process.child.pid}; stop that process`);
    expect(err).not.toContain("hint:");
    first.process.child.kill("SIGKILL");
    await first.process.result;
  });
});

describe("send", () => {
  it("waits, and prints ids, state and artifacts [SEND_001, SEND_002]", async () => {
    const { code, out, err } = await runInDirectory("send", parrot, "hello", "there");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Task: \S+\nContext: \S+\nState: TASK_STATE_COMPLETED\nArtifact: answer\nYou said: hello there\n\nData: facts\n{\n {2}"length": 11\n}\n\n$/,
    );
    expect(err).toBe("");
  });

  it("prints the final task as one JSON document [OUT_002]", async () => {
    const { status, artifacts } = await runForTask("hi");
    expect(status.state).toBe("TASK_STATE_COMPLETED");
    expect(artifacts?.map((artifact) => artifact.artifactId)).toEqual(["answer", "facts"]);
  });

  it("with --stream prints one JSON line per event, and the final event last [OUT_003]", async () => {
    const { out } = await runInDirectory("send", parrot, "hi", "--stream", "-o", "json");
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as StreamResponse);
    expect(events[0]).toMatchObject({ task: { status: { state: "TASK_STATE_SUBMITTED" } } });
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("prints the message of an agent that answers without a task [SEND_003]", async () => {
    const { code, out } = await runInDirectory("send", parrot, "reply", "--stream");
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining("Message: ROLE_AGENT\nJust a message.\n\n") as string,
    });
    expect(await runJson("send", parrot, "reply")).toMatchObject({
      message: { parts: [{ text: "Just a message." }] },
    });
  });

  it("exits with 0 and a warning if the task fails", async () => {
    const { code, out, err } = await runInDirectory("send", parrot, "fail");
    expect(code).toBe(0);
    expect(out).toContain("State: TASK_STATE_FAILED\nMessage: ROLE_AGENT\nNo luck.\n");
    expect(err).toBe("warning: the task ended as TASK_STATE_FAILED\n");
  });

  it.skipIf(isWindows)("stops at a question, and prints the command that answers it", async () => {
    const question = await spawnColloquyForTest(["send", parrot, "ask"], cwd).result;
    expect(question.code).toBe(0);
    expect(question.out).toContain("State: TASK_STATE_INPUT_REQUIRED\nMessage: ROLE_AGENT\nWhich city?\n");
    const resume = /hint: (.+ send .+ --task-id .+) "<your answer>"/.exec(question.err)?.[1] ?? "";
    const answered = await spawnShellCommandForTest(`${resume} Seoul`, cwd).result;
    expect(answered.out).toContain("State: TASK_STATE_COMPLETED\nArtifact: answer\nYou said: Seoul\n");
  });

  it("never starts a new task instead of one that it cannot continue", async () => {
    const before = await runJson<ListTasksResponse>("task", "list", parrot);
    const { code, out } = await runInDirectory("send", parrot, "hi", "--task-id", "nowhere", "-o", "json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "TaskNotFoundError", a2aCode: -32001 } });
    const after = await runJson<ListTasksResponse>("task", "list", parrot);
    expect(after.totalSize).toBe(before.totalSize);
  });

  it("stops after --timeout, prints the command that polls again, and survives garbage collection", async () => {
    setFlagsFromString("--expose-gc");
    const collecting = setInterval(runInNewContext("gc") as () => void, 50);
    onTestFinished(() => clearInterval(collecting));
    let hint: string | undefined;
    // On a busy machine, a short timeout can end before the server has created the task.
    for (let seconds = 1; !hint?.includes("task get"); seconds *= 4) {
      expect(seconds).toBeLessThan(100);
      const timeout = `${seconds}s`;
      const { code, out } = await runInDirectory("send", parrot, "wait", "--timeout", timeout, "-o", "json");
      expect(code).toBe(5);
      const { error } = JSON.parse(out) as { error: { code: string; hint?: string } };
      expect(error.code).toBe("A2ACLI_ERR_TIMEOUT");
      ({ hint } = error);
    }
  });

  it.skipIf(isWindows)("does not cancel the task on Ctrl-C, and prints how to continue", async () => {
    const cli = spawnColloquyForTest(["send", parrot, "wait", "--stream"], cwd);
    await cli.waitForOutput("waiting");
    cli.child.kill("SIGINT");
    const { code, err } = await cli.result;
    expect(code).toBe(130);
    const resume = spawnShellCommandForTest(/the task continues: (.+)/.exec(err)?.[1] ?? "false", cwd);
    await resume.waitForOutput("State: TASK_STATE_WORKING");
    resume.child.kill("SIGKILL");
  });
});

describe("task", () => {
  it("get waits, list lists, cancel cancels, subscribe follows", async () => {
    const { id } = await runForTask("wait", "--async");
    const listed = await runJson<ListTasksResponse>("task", "list", parrot, "--state", "working");
    expect(listed.tasks.map((task) => task.id)).toContain(id);
    const follower = spawnColloquyForTest(["task", "subscribe", parrot, id], cwd);
    const waiter = spawnColloquyForTest(
      ["task", "get", parrot, id, "--wait", "--poll-interval", "100ms"],
      cwd,
    );
    await follower.waitForOutput("waiting");
    const canceled = await runInDirectory("task", "cancel", parrot, id);
    expect(canceled).toMatchObject({
      code: 0,
      out: expect.stringContaining("State: TASK_STATE_CANCELED\n") as string,
    });
    for (const cli of [follower, waiter]) {
      const { code, out, err } = await cli.result;
      expect({ code, err }).toEqual({ code: 0, err: "warning: the task ended as TASK_STATE_CANCELED\n" });
      expect(out).toContain("State: TASK_STATE_CANCELED\n");
    }
  });

  it("cancel of a finished task fails with the protocol's error", async () => {
    const { id } = await runForTask("hi");
    const { code, err } = await runInDirectory("task", "cancel", parrot, id);
    expect(code).toBe(1);
    expect(err).toContain("(TaskNotCancelableError)");
  });

  it("get of an unknown task prints the command that lists the tasks", async () => {
    const { code, err } = await runInDirectory("task", "get", parrot, "unknown");
    expect(code).toBe(1);
    expect(err).toContain("(TaskNotFoundError)\nhint: ");
    expect(err).toContain(`task list ${parrot}\n`);
  });

  it("get shows the history on request", async () => {
    const { id } = await runForTask("hi");
    expect((await runInDirectory("task", "get", "-a", parrot, id)).out).not.toContain("History");
    expect((await runInDirectory("task", "get", "-a", parrot, id, "--history", "5")).out).toContain(
      "History: ROLE_USER\nhi\n",
    );
  });
});

describe("card get", () => {
  it("shows the card, also of an agent set in the environment", async () => {
    const { code, out } = await spawnColloquyForTest(["card", "get"], cwd, { A2ACLI_AGENT_CARD: parrot })
      .result;
    expect(code).toBe(0);
    expect(out).toContain("Name: parrot\n");
    expect(out).toContain(`Interface: JSONRPC 1.0 ${parrot}\n`);
    expect(await runJson("card", "get", parrot)).toMatchObject({
      name: "parrot",
      capabilities: { streaming: true },
    });
  });
});

describe("an agent given as a card file", () => {
  it("works like an agent given as a URL", async () => {
    const { out } = await runInDirectory("card", "get", parrot, "-o", "json");
    const directory = await createTempTestDirectoryWithFiles({ "card.json": out, "broken.json": "{}" });
    const file = `${directory}/card.json`;
    expect((await runInDirectory("send", "-a", file, "hi")).out).toContain("You said: hi\n");
    expect((await runInDirectory("send", `file://${file}`, "hi")).out).toContain("You said: hi\n");
    const broken = await runJson("card", "get", "-a", `${directory}/broken.json`);
    expect(broken).toMatchObject({ error: { code: "A2ACLI_ERR_CARD_INVALID" } });
    const none = await runJson("card", "get", "-a", `file://${directory}/none.json`);
    expect(none).toMatchObject({ error: { code: "A2ACLI_ERR_CARD_NOT_FOUND" } });
  });
});

const MISSING_DATABASE = "postgres://app@127.0.0.1:9/tasks";

describe("errors", () => {
  it.each([
    [["card", "get", "http://127.0.0.1:9"], 3, "A2ACLI_ERR_UNREACHABLE"],
    [["snd"], 2, "A2ACLI_ERR_USAGE"],
    [["send", "http://127.0.0.1:9", "hi", "--tsak-id", "1"], 2, "A2ACLI_ERR_USAGE"],
    [["send", "http://127.0.0.1:9", "--media-type", "text/plain"], 2, "A2ACLI_ERR_USAGE"],
    [["serve", "no-such-file.ts"], 2, "A2ACLI_ERR_USAGE"],
    [["serve", "--exec", "cat", "--port", "0", "--store", MISSING_DATABASE], 3, "A2ACLI_ERR_UNREACHABLE"],
    [["store", "migrate", "--store", MISSING_DATABASE], 3, "A2ACLI_ERR_UNREACHABLE"],
  ])("%j ends with exit code %d and is reported in JSON too", async (args, code, name) => {
    const ended = await runInDirectory(...args, "-o", "json");
    expect(ended.code).toBe(code);
    expect(JSON.parse(ended.out)).toMatchObject({ error: { code: name, a2aCode: null } });
  });

  it("list every URL that was tried for a missing agent", async () => {
    const { code, err } = await runInDirectory("card", "get", `${server.url}/a2a/unknown`);
    expect(code).toBe(3);
    expect(err).toContain("/a2a/unknown/.well-known/agent-card.json: HTTP 404");
    expect(err).toContain("(A2ACLI_ERR_CARD_NOT_FOUND)");
  });

  it("never contain credentials, not even with --debug", async () => {
    const { err } = await runInDirectory(
      "send",
      parrot,
      "hi",
      "--debug",
      "--bearer",
      "s3cret",
      "--api-key",
      "k3y",
    );
    expect(err).toMatch(/debug: POST \S+: 200 in \d+ ms/);
    expect(err).not.toMatch(/s3cret|k3y/);
  });
});
