import { spawnSync } from "node:child_process";
import { PassThrough, Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent, artifact } from "../../agents/adapters/index.ts";
import type { StreamResponse, Task } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { CliTestProcess, spawnColloquyForTest, runCliInTestProcess } from "../cli-test-process.fixture.ts";
import {
  TEST_SERVERS,
  startInstructionFollowingTestServer,
  type RunningTestServer,
} from "./test-servers.fixture.ts";
import {
  runCliExpectingError,
  parseLabeledCliOutputFields,
  runCliForJson,
  parseJsonLines,
  runCliExpectingSuccess,
} from "./run-command.fixture.ts";
import { isWindows } from "../../../test/support/is-windows.ts";

const createPipedInput = (...lines: string[]): { stdin: Readable } => ({
  stdin: Readable.from(lines.map((line) => `${line}\n`)),
});

describe.each(TEST_SERVERS)("a chat with %s", (_, serve) => {
  let served: RunningTestServer;
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.close());

  it("keeps the context for each line, and the task while it waits [CHAT_001]", async () => {
    const { out } = await runCliExpectingSuccess(
      ["chat", served.url],
      createPipedInput("hello", "ask", "Seoul", "again"),
    );
    const contexts = [...out.matchAll(/^Context: (\S+)$/gm)].map(([, context]) => context);
    expect(new Set(contexts).size).toBe(1);
    const output = [
      ...out.matchAll(/^Task: (\S+)\nContext: \S+\nState: TASK_STATE_(COMPLETED|INPUT_REQUIRED)$/gm),
    ];
    const turns = output
      .map(([, task, state]) => ({ task, state }))
      .filter((turn, at, lines) => turn.task !== lines[at - 1]?.task || turn.state !== lines[at - 1]?.state);
    expect(turns.map(({ state }) => state)).toEqual([
      "COMPLETED",
      "INPUT_REQUIRED",
      "COMPLETED",
      "COMPLETED",
    ]);
    expect(turns[1]?.task).toBe(turns[2]?.task);
    expect(new Set(turns.map(({ task }) => task)).size).toBe(3);
  });

  it("ends with a working command that continues the conversation [CHAT_001]", async () => {
    const { err } = await runCliExpectingSuccess(["chat", served.url], createPipedInput("ask"));
    const words = /goes on with: \S.*? (chat .+)\n/.exec(err)?.[1]?.split(" ") ?? [];
    expect(words.slice(0, 2)).toEqual(["chat", served.url]);
    const { out } = await runCliExpectingSuccess(words, createPipedInput("Seoul"));
    expect(out).toContain("State: TASK_STATE_COMPLETED");
    expect(parseLabeledCliOutputFields(out)["Context"]).toBe(words[words.indexOf("--context-id") + 1]);
    expect(parseLabeledCliOutputFields(out)["Task"]).toBe(words[words.indexOf("--task-id") + 1]);
  });

  it("starts with the text of the command line, and continues with stdin [CHAT_001]", async () => {
    const { out } = await runCliExpectingSuccess(["chat", served.url, "ask"], createPipedInput("Seoul"));
    expect(out.indexOf("INPUT_REQUIRED")).toBeGreaterThan(-1);
    expect(out.lastIndexOf("COMPLETED")).toBeGreaterThan(out.indexOf("INPUT_REQUIRED"));
  });
});

describe("a chat", () => {
  let served: RunningTestServer;
  beforeAll(async () => {
    served = await startInstructionFollowingTestServer();
  });
  afterAll(() => served.close());

  it("in JSON writes one line per event, and nothing else on stdout", async () => {
    const { out } = await runCliExpectingSuccess(
      ["chat", served.url, "-o", "json", "--stream"],
      createPipedInput("hello", "again"),
    );
    const events = parseJsonLines<StreamResponse>(out);
    expect(events.filter((event) => "task" in event)).toHaveLength(2);
    expect(await runCliExpectingError(["chat", served.url])).toMatchObject({
      code: "A2ACLI_ERR_USAGE",
      exit: 2,
    });
  });

  it("shows an answer that is the same as the one before, as text and as a conversation", async () => {
    for (const isInteractive of [false, true]) {
      const { out } = await runCliExpectingSuccess(["chat", served.url], {
        ...createPipedInput("hello", "hello"),
        isInteractive,
      });
      expect(out.match(/You said: hello/g)).toHaveLength(2);
    }
  });

  it("of a person reads like a conversation, and names the task after each turn", async () => {
    const { out, err } = await runCliExpectingSuccess(["chat", served.url], {
      ...createPipedInput("parts", "ask"),
      isInteractive: true,
    });
    expect(out).toBe(
      'All of it:\n{\n  "rows": 2\n}\n[hello.txt, text/plain, 5 bytes]\n[big.bin, application/zip, https://example.com/big.bin]\nWhich city?\n',
    );
    expect(err).toMatch(
      /^> \(task \S+, context \S+: TASK_STATE_COMPLETED\)\n> \(task \S+, .*INPUT_REQUIRED\)$/m,
    );
  });

  it("of a pipe ends at a failed line, with its exit code", async () => {
    const overrides = createPipedInput("hello", "again");
    const { code, err } = await runCliInTestProcess(["chat", served.url, "--task-id", "unknown"], overrides);
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining("TaskNotFoundError") as string,
    });
  });

  it("of a person shows a prompt, reports failures, and continues until /quit", async () => {
    const stdin = new PassThrough();
    const talking = runCliInTestProcess(["chat", served.url, "--task-id", "unknown"], {
      stdin,
      isInteractive: true,
    });
    stdin.write("hello\n/help\n/answer 1\n\n/quit\nnever said\n");
    const { code, out, err } = await talking;
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(/^> .*TaskNotFoundError[^]*> .*\/quit or Ctrl-D ends[^]*> .*must be a JSON object/);
  });

  it.skipIf(isWindows)("does not cancel the task on Ctrl-C, and prints how to continue", async () => {
    const cli = spawnColloquyForTest(["chat", served.url, "wait"]);
    await cli.waitForOutput("waiting");
    cli.child.kill("SIGINT");
    const { code, out } = await cli.result;
    expect(code).toBe(130);
    const { Task: id = "" } = parseLabeledCliOutputFields(out);
    expect((await runCliForJson<Task>(["task", "get", served.url, id])).status.state).toBe(
      "TASK_STATE_WORKING",
    );
  });

  // Creates a terminal with `script` of util-linux.
  const hasTerminals = spawnSync("script", ["--version"]).status === 0;
  it.skipIf(!hasTerminals)("on a real terminal prompts, answers, and ends with Ctrl-D", async () => {
    const words = [process.execPath, "bin/colloquy.js", "chat", served.url].join(" ");
    const terminal = new CliTestProcess("script", ["-qec", words, "/dev/null"], process.cwd(), {}, "open");
    await terminal.waitForOutput("> ");
    terminal.child.stdin?.write("hello\r");
    await terminal.waitForOutput("You said: hello");
    await terminal.waitForOutput("TASK_STATE_COMPLETED");
    terminal.child.stdin?.write("\u0004");
    const { code, out } = await terminal.result;
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining("the conversation goes on with:") as string,
    });
  });
});

it("of a person shows a tool call and its result on one line each", async () => {
  const tools = agent({ name: "tools", description: "Calls a tool" }, async function* () {
    yield artifact(
      { name: "events" },
      {
        data: { id: "1", name: "find_book", args: { title: "Emma" } },
        metadata: { adk_type: "function_call" },
      },
      {
        data: { id: "1", name: "find_book", response: { copies: 2 } },
        metadata: { adk_type: "function_response" },
      },
    );
  });
  const server = createServer(tools, { store: "memory" });
  const { url } = await server.listen();
  onTestFinished(() => server.close());
  const { out } = await runCliExpectingSuccess(["chat", url], {
    ...createPipedInput("hi"),
    isInteractive: true,
  });
  expect(out).toBe('[find_book({"title":"Emma"})]\n[find_book: {"copies":2}]\n');
});
