import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
  sendTestSseEvents,
  sendTestJsonResponse,
} from "../../client/request-recording-test-server.fixture.ts";
import { bearer } from "../../server/auth/index.ts";
import { createServer } from "../../server/index.ts";
import type { StreamResponse, Task } from "../../protocol/index.ts";
import { spawnColloquyForTest, runCliInTestProcess } from "../cli-test-process.fixture.ts";
import {
  instructionFollowingTestAgent,
  startInstructionFollowingTestServer,
  type RunningTestServer,
} from "./test-servers.fixture.ts";
import {
  runCliExpectingError,
  parseLabeledCliOutputFields,
  runCliForJson,
  runCliStreamForJsonLines,
  parseJsonLines,
  runCliExpectingSuccess,
  ANY_NON_EMPTY_TEXT,
} from "./run-command.fixture.ts";

let served: RunningTestServer;
beforeAll(async () => {
  served = await startInstructionFollowingTestServer();
});
afterAll(() => served.close());

const runForTask = async (...words: string[]): Promise<Task> =>
  (await runCliForJson<{ task: Task }>(["send", served.url, ...words])).task;

describe("output about a task", () => {
  it("includes the task, context, and state in every format [OUT_001]", async () => {
    const { id } = await runForTask("ask");
    for (const words of [
      ["send", served.url, "hello"],
      ["send", served.url, "hello", "--stream"],
      ["send", served.url, "wait", "--async"],
      ["task", "get", served.url, id],
      ["task", "wait", served.url, id],
      ["task", "cancel", served.url, id],
    ]) {
      const { out } = await runCliExpectingSuccess(words);
      expect(parseLabeledCliOutputFields(out)).toMatchObject({
        Task: ANY_NON_EMPTY_TEXT,
        Context: ANY_NON_EMPTY_TEXT,
        State: expect.stringMatching(/^TASK_STATE_/) as string,
      });
    }
    for (const words of [
      ["task", "get", served.url, id],
      ["task", "cancel", served.url, id],
    ]) {
      expect(await runCliForJson(words)).toMatchObject({
        id: ANY_NON_EMPTY_TEXT,
        contextId: ANY_NON_EMPTY_TEXT,
        status: { state: ANY_NON_EMPTY_TEXT },
      });
    }
  });

  it("goes to stdout; warnings, hints, and --debug go to stderr [OUT_001]", async () => {
    for (const flags of [[], ["-o", "json"], ["-o", "json", "--stream"]]) {
      const { out, err } = await runCliExpectingSuccess(["send", served.url, "ask", "--debug", ...flags]);
      expect(out).not.toMatch(/debug:|hint:|warning:/);
      expect(err.split("\n").filter((line) => !/^(debug|hint|warning): |^$/.test(line))).toEqual([]);
      expect(err).toMatch(/^debug: .+^warning: .+^hint: /ms);
    }
  });
});

describe("send", () => {
  it("prints the ids before the result, and the state once [OUT_001]", async () => {
    const waiting = spawnColloquyForTest(["send", served.url, "wait"]);
    const early = await waiting.waitForOutput("Context: ");
    expect(early).toMatch(/^Task: \S+\nContext: /);
    expect(waiting.child.exitCode).toBeNull();
    waiting.child.kill("SIGINT");
    const { code, out } = await waiting.result;
    expect([code, out]).toEqual([130, expect.not.stringContaining("State")]);
    for (const flags of [[], ["--stream"]]) {
      const done = await runCliExpectingSuccess(["send", served.url, "hello", ...flags]);
      expect(done.out.match(/TASK_STATE_COMPLETED/g)).toHaveLength(1);
    }
  });

  it("shows its progress in one line if stderr is a terminal", async () => {
    const { err, out } = await runCliInTestProcess(["send", served.url, "hello"], { stderrColumns: 20 });
    expect(err).toContain("\rworking: Working…\u001b[K");
    expect(err.endsWith("\r\u001b[K")).toBe(true);
    expect(out).not.toContain("Working…");
  });
});

describe("-o json", () => {
  it("writes one document per command, with the protocol's types [OUT_002]", async () => {
    expect(await runCliForJson(["send", served.url, "hello"])).toMatchObject({
      task: { id: ANY_NON_EMPTY_TEXT },
    });
    expect(await runCliForJson(["send", served.url, "message"])).toMatchObject({
      message: { messageId: ANY_NON_EMPTY_TEXT },
    });
    const { id } = await runForTask("ask");
    expect(Object.keys(await runCliForJson<object>(["task", "get", served.url, id]))).toContain("status");
    expect(await runCliForJson(["task", "list", served.url])).toMatchObject({
      tasks: expect.any(Array) as unknown,
      totalSize: expect.any(Number) as number,
    });
    expect(await runCliForJson(["card", "get", served.url])).toMatchObject({
      name: "actor",
      supportedInterfaces: expect.any(Array) as unknown,
    });
    expect(await runCliForJson(["task", "cancel", served.url, id])).toMatchObject({ id, status: {} });
  });

  it("ignores the environment and the terminal for line mode [OUT_002]", async () => {
    const env = { HOME: "/nowhere", A2ACLI_STREAM: "true" };
    const { out } = await runCliExpectingSuccess(["send", served.url, "hello", "-o", "json"], {
      env,
      isInteractive: true,
    });
    expect(JSON.parse(out)).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("--stream writes one line per event, and the final event last [OUT_003]", async () => {
    const events = await runCliStreamForJsonLines<StreamResponse>(["send", served.url, "hello"]);
    expect(events.length).toBeGreaterThan(3);
    expect(events.at(-1)).toMatchObject({
      statusUpdate: {
        taskId: ANY_NON_EMPTY_TEXT,
        contextId: ANY_NON_EMPTY_TEXT,
        status: { state: "TASK_STATE_COMPLETED" },
      },
    });
    const { id } = await runForTask("hello");
    for (const words of [
      ["task", "get", served.url, id],
      ["card", "get", served.url],
    ]) {
      expect(await runCliStreamForJsonLines(words)).toHaveLength(1);
    }
  });

  it("--stream writes each line immediately [OUT_003]", async () => {
    const cli = spawnColloquyForTest(["send", served.url, "wait", "--stream", "-o", "json"]);
    await cli.waitForOutput("waiting");
    expect(cli.child.exitCode).toBeNull();
    cli.child.kill("SIGKILL");
    await cli.result;
  });

  it("--stream ends with the error on a separate line if the stream fails [OUT_003]", async () => {
    let url = "";
    const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };
    const error = { code: -32603, message: "It broke." };
    const server = await startRequestRecordingTestServer((response, { url: path, body: { id } }) =>
      path.includes("/.well-known/")
        ? sendTestJsonResponse(response, buildTestAgentCard(url))
        : sendTestSseEvents(
            response,
            [
              [0, { jsonrpc: "2.0", id, result: { task } }],
              [0, { jsonrpc: "2.0", id, error }],
            ],
            "end",
          ),
    );
    ({ url } = server);
    const { code, out } = await runCliInTestProcess(["send", url, "hello", "--stream", "-o", "json"]);
    expect(code).toBe(1);
    expect(parseJsonLines(out)).toEqual([
      { task },
      { error: { code: ANY_NON_EMPTY_TEXT, message: ANY_NON_EMPTY_TEXT, hint: null, a2aCode: -32603 } },
    ]);
  });
});

describe("errors", () => {
  it("have the protocol's names, identical over every binding, and a hint [OUT_004]", async () => {
    const errors = await Promise.all(
      ["jsonrpc", "rest", "grpc"].map((binding) =>
        runCliExpectingError(["task", "get", served.url, "unknown", "--transport", binding]),
      ),
    );
    for (const error of errors) {
      expect(error).toMatchObject({
        code: "TaskNotFoundError",
        a2aCode: -32001,
        exit: 1,
        message: ANY_NON_EMPTY_TEXT,
      });
      expect(error.hint).toContain(`task list ${served.url}`);
    }
  });

  it.each([
    ["A2ACLI_ERR_USAGE", 2, () => ["send", served.url, "--tsak-id", "1"]],
    ["A2ACLI_ERR_CARD_NOT_FOUND", 3, () => ["card", "get", `${served.url}/unknown/here`]],
    ["A2ACLI_ERR_CARD_INVALID", 1, () => ["card", "get", "package.json"]],
    ["A2ACLI_ERR_UNREACHABLE", 3, () => ["card", "get", "http://127.0.0.1:9"]],
    ["A2ACLI_ERR_TIMEOUT", 5, () => ["send", served.url, "wait", "--timeout", "200ms"]],
    [
      "A2ACLI_ERR_INTERNAL",
      1,
      () => ["serve", "--exec", "cat", "--store", "memory", "--host", "0.0.0.0", "--port", "0"],
    ],
  ] as const)("%s is exit code %d [OUT_004, EXIT_001]", async (code, exit, words) => {
    expect(await runCliExpectingError(words())).toMatchObject({
      code,
      exit,
      a2aCode: null,
      message: ANY_NON_EMPTY_TEXT,
    });
    const { err, out } = await runCliInTestProcess(words());
    expect(err).toContain(`(${code})\n`);
    expect(out).not.toContain("error");
  });

  it.each([
    ["A2ACLI_ERR_CREDENTIALS_MISSING", []],
    ["A2ACLI_ERR_AUTH_FAILED", ["--bearer", "wrong-token-0123456789"]],
  ])("%s is exit code 4 [OUT_004, EXIT_001]", async (code, flags) => {
    const authenticate = bearer({ tokens: { "token-of-ada-0123456789": "ada" } });
    const guarded = createServer(instructionFollowingTestAgent, { store: "memory", authenticate });
    const { url } = await guarded.listen();
    expect(await runCliExpectingError(["send", url, "hello", ...flags])).toMatchObject({
      code,
      exit: 4,
      hint: ANY_NON_EMPTY_TEXT,
    });
    await guarded.close();
  });
});

describe("exit codes", () => {
  it("are 0 for success, 1 for failure, and 2 for usage errors [EXIT_001]", async () => {
    const codes = await Promise.all(
      [
        ["send", served.url, "hello"],
        ["task", "get", served.url, "unknown"],
        ["send", served.url],
        ["nonsense"],
        ["task"],
        ["--help"],
      ].map(async (words) => (await runCliInTestProcess(words)).code),
    );
    expect(codes).toEqual([0, 1, 2, 2, 2, 0]);
  });

  it.each([
    ["fail", "TASK_STATE_FAILED"],
    ["reject", "TASK_STATE_REJECTED"],
    ["ask", "TASK_STATE_INPUT_REQUIRED"],
    ["login", "TASK_STATE_AUTH_REQUIRED"],
  ])("are 0 for a task that is told to %s, which is named in a warning [EXIT_002]", async (word, state) => {
    for (const flags of [[], ["--stream"], ["-o", "json"]]) {
      const { err, out } = await runCliExpectingSuccess(["send", served.url, word, ...flags]);
      expect(err).toMatch(new RegExp(`^warning: .*${state}`, "m"));
      expect(out).toContain(state);
    }
  });
});

describe("text", () => {
  it("consists of labeled lines and closed blocks, in a stable order [OUT_005]", async () => {
    const shapes = [];
    for (let time = 0; time < 2; time++) {
      const { out } = await runCliExpectingSuccess(["send", served.url, "parts"]);
      shapes.push(out.replaceAll(/^(Task|Context): .*$/gm, "$1: …"));
    }
    expect(shapes[0]).toBe(shapes[1]);
    expect(shapes[0]).toBe(
      `Task: …\nContext: …\nState: TASK_STATE_COMPLETED\nArtifact: report\nAll of it:\n\nData: report\n{\n  "rows": 2\n}\n\nFile: hello.txt, text/plain, 5 bytes\nFile: big.bin, application/zip, https://example.com/big.bin\n`,
    );
  });

  it("contains no control sequences from the agent, with or without a terminal [OUT_005]", async () => {
    for (const interactive of [true, false]) {
      const evil = "\u001b[2Jgone\u0007";
      const { out } = await runCliExpectingSuccess(["send", served.url, evil], {
        isInteractive: interactive,
      });
      // oxlint-disable-next-line no-control-regex -- that is what must not be there
      expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
      expect(out).toContain("gone");
    }
  });

  it("never prompts without a terminal for output: such a chat is rejected [OUT_005]", async () => {
    // A terminal as input, without a terminal as output.
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const { code, err } = await runCliInTestProcess(["chat", served.url], { stdin });
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("A chat needs") as string });
    const once = await runCliInTestProcess(["chat", served.url, "hello"], { stdin });
    expect(once).toMatchObject({ code: 0, out: expect.stringContaining("You said: hello") as string });
  });
});
