import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
  createTestJsonRpcResponder,
  sendTestJsonResponse,
} from "../../client/request-recording-test-server.fixture.ts";
import type { ListTasksResponse, StreamResponse, Task } from "../../protocol/index.ts";
import {
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../cli-test-process.fixture.ts";
import {
  TEST_SERVERS,
  startInstructionFollowingTestServer,
  type RunningTestServer,
} from "./test-servers.fixture.ts";
import {
  runCliExpectingError,
  parseLabeledCliOutputFields,
  runCliForJson,
  runCliStreamForJsonLines,
  runCliExpectingSuccess,
  ANY_NON_EMPTY_TEXT,
} from "./run-command.fixture.ts";

describe.each(TEST_SERVERS)("an interaction with %s", (_, serve) => {
  let served: RunningTestServer;
  const send = async (...words: string[]): Promise<Task> =>
    (await runCliForJson<{ task: Task }>(["send", served.url, ...words])).task;

  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.close());

  it("continues in its context with another task [INTERACT_001]", async () => {
    const first = await send("hello");
    const second = await send("again", "--context-id", first.contextId);
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
  });

  it("continues its task, with and without the context [INTERACT_002]", async () => {
    for (const withContext of [false, true]) {
      const question = await send("ask");
      const context = withContext ? ["--context-id", question.contextId] : [];
      const answered = await send("Seoul", "--task-id", question.id, ...context);
      expect(answered).toMatchObject({ id: question.id, contextId: question.contextId });
      expect(answered.status.state).toBe("TASK_STATE_COMPLETED");
    }
  });

  it("fails for a rejected id, starts no other task, and mentions --debug [INTERACT_002]", async () => {
    const question = await send("ask");
    const ended = await send("hello");
    const before = await runCliForJson<ListTasksResponse>(["task", "list", served.url]);
    for (const [flags, code] of [
      [["--task-id", "unknown"], "TaskNotFoundError"],
      [["--task-id", ended.id], ANY_NON_EMPTY_TEXT],
      [["--task-id", question.id, "--context-id", ended.contextId], ANY_NON_EMPTY_TEXT],
    ] as const) {
      const error = await runCliExpectingError(["send", served.url, "hi", ...flags]);
      expect(error).toMatchObject({ exit: 1, code });
      expect(error.code).not.toMatch(/^A2ACLI_/);
      expect(error.hint).toContain("--debug");
    }
    const after = await runCliForJson<ListTasksResponse>(["task", "list", served.url]);
    expect(after.totalSize).toBe(before.totalSize);
  });

  it("prints the task and the command that continues it, ready to paste [INTERACT_004]", async () => {
    const { out, err } = await runCliExpectingSuccess(["send", served.url, "ask"]);
    const { Task: id = "" } = parseLabeledCliOutputFields(out);
    expect(parseLabeledCliOutputFields(out)).toMatchObject({
      Task: ANY_NON_EMPTY_TEXT,
      Context: ANY_NON_EMPTY_TEXT,
      State: "TASK_STATE_INPUT_REQUIRED",
    });
    expect(err).toContain("warning: the task waits for you (TASK_STATE_INPUT_REQUIRED)");
    const resume = /hint: .+( send .+) "<your answer>"/.exec(err)?.[1] ?? "";
    const words = resume.trim().split(" ");
    expect(words).toEqual(["send", served.url, "--task-id", id]);
    expect((await runCliExpectingSuccess([...words, "Seoul"])).out).toContain("State: TASK_STATE_COMPLETED");
  });

  it("prints the task's ids at the end of a stream [INTERACT_004]", async () => {
    const { out } = await runCliExpectingSuccess(["send", served.url, "hello", "--stream"]);
    const [task, context, state] = out.trimEnd().split("\n").slice(-3);
    expect([task, context, state]).toEqual([
      expect.stringMatching(/^Task: \S+$/),
      expect.stringMatching(/^Context: \S+$/),
      "State: TASK_STATE_COMPLETED",
    ]);
    const events = await runCliStreamForJsonLines<StreamResponse>(["send", served.url, "hello"]);
    expect(events.at(-1)).toMatchObject({
      statusUpdate: { taskId: ANY_NON_EMPTY_TEXT, contextId: ANY_NON_EMPTY_TEXT },
    });
  });
});

describe("the ids of the server", () => {
  it("are never created by the client: a new message has no task id and no context id [INTERACT_003]", async () => {
    let url = "";
    const message = { messageId: "m", role: "ROLE_AGENT", contextId: "theirs", parts: [{ text: "hi" }] };
    const server = await startRequestRecordingTestServer((response, request) =>
      request.url.includes("/.well-known/")
        ? sendTestJsonResponse(response, buildTestAgentCard(url, { capabilities: {} }))
        : createTestJsonRpcResponder({ message })(response, request),
    );
    ({ url } = server);
    for (let time = 0; time < 2; time++) await runCliExpectingSuccess(["send", url, "hello"]);
    const sent = server.seen
      .filter(({ method }) => method === "POST")
      .map(({ body }) => body.params?.["message"]);
    expect(sent).toHaveLength(2);
    for (const one of sent) {
      expect(one).toMatchObject({ messageId: ANY_NON_EMPTY_TEXT });
      expect(one).not.toHaveProperty("taskId");
      expect(one).not.toHaveProperty("contextId");
    }
    const ids = sent.map((one) => (one as { messageId: string }).messageId);
    expect(new Set(ids).size).toBe(2);
  });
});

describe("between two calls", () => {
  it("nothing is stored: no file, no --continue, and the next message starts a new task [INTERACT_005]", async () => {
    const served = await startInstructionFollowingTestServer();
    const cwd = await createTempTestDirectoryWithFiles({});
    const overrides = { cwd, env: { HOME: cwd } };
    const first = (await runCliForJson<{ task: Task }>(["send", served.url, "ask"], overrides)).task;
    const second = (await runCliForJson<{ task: Task }>(["send", served.url, "hello"], overrides)).task;
    expect([second.id, second.contextId]).not.toContain(first.id);
    expect(second.contextId).not.toBe(first.contextId);
    expect(await readdir(cwd)).toEqual([]);
    const { code, err } = await runCliInTestProcess(["send", served.url, "hello", "--continue"]);
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining("unknown option") as string,
    });
    await served.close();
  });

  it("a real process stores nothing, either [INTERACT_005]", async () => {
    const served = await startInstructionFollowingTestServer();
    const cwd = await createTempTestDirectoryWithFiles({});
    const { code, out } = await spawnColloquyForTest(["send", served.url, "ask"], cwd, { HOME: cwd }).result;
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining("INPUT_REQUIRED") as string,
    });
    expect(await readdir(cwd)).toEqual([]);
    await served.close();
  });
});
