import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBreakingProxy } from "../../client/breaking-proxy.fixture.ts";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
  sendTestSseEvents,
  sendTestJsonResponse,
  type RecordedTestRequest,
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
  parseJsonLines,
  runCliExpectingSuccess,
  ANY_NON_EMPTY_TEXT,
} from "./run-command.fixture.ts";
import { isWindows } from "../../../test/support/is-windows.ts";

describe.each(TEST_SERVERS)("task, at %s", (_, serve) => {
  let served: RunningTestServer;
  const taskOf = async (...words: string[]): Promise<Task> =>
    (await runCliForJson<{ task: Task }>(["send", served.url, ...words])).task;

  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.close());

  it("get shows state and artifacts, and the history on request [TASK_GET_001]", async () => {
    const { id, contextId } = await taskOf("hello");
    const { out } = await runCliExpectingSuccess(["task", "get", served.url, id]);
    expect(parseLabeledCliOutputFields(out)).toMatchObject({
      Task: id,
      Context: contextId,
      State: "TASK_STATE_COMPLETED",
    });
    expect(out).toMatch(/^Artifact: answer\n.+\n\n/m);
    const task = await runCliForJson<Task>(["task", "get", served.url, id, "--history", "5"]);
    expect(task).toMatchObject({ id, contextId, status: { state: "TASK_STATE_COMPLETED" } });
    expect(task.artifacts).toHaveLength((await taskOf("hello")).artifacts?.length ?? 0);
    expect(task.history?.[0]?.parts).toMatchObject([{ text: "hello" }]);
    expect((await runCliForJson<Task>(["task", "get", served.url, id])).history ?? []).toEqual([]);
  });

  it("get polls once, and with --wait until the task has ended [TASK_POLL_001]", async () => {
    const { id } = await taskOf("wait", "--async");
    const now = await runCliForJson<Task>(["task", "get", served.url, id]);
    expect(now.status.state).toMatch(/SUBMITTED|WORKING/);
    for (const words of [
      ["task", "get", "--wait"],
      ["task", "wait"],
    ]) {
      const { id } = await taskOf("wait", "--async");
      const waiting = runCliForJson<Task>([...words, served.url, id, "--poll-interval", "20ms"]);
      await runCliExpectingSuccess(["task", "cancel", served.url, id]);
      expect((await waiting).status.state).toBe("TASK_STATE_CANCELED");
    }
  });

  it("get --wait ends at once if the task needs input [TASK_POLL_003]", async () => {
    const { id } = await taskOf("ask", "--async");
    const task = await runCliForJson<Task>([
      "task",
      "get",
      served.url,
      id,
      "--wait",
      "--poll-interval",
      "20ms",
    ]);
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  });

  it("cancel cancels, prints the state, and may be repeated [TASK_CANCEL_001]", async () => {
    const { id } = await taskOf("wait", "--async");
    expect((await runCliExpectingSuccess(["task", "cancel", served.url, id])).out).toContain(
      "State: TASK_STATE_CANCELED\n",
    );
    expect(await runCliForJson(["task", "cancel", served.url, id])).toMatchObject({
      id,
      status: { state: "TASK_STATE_CANCELED" },
    });
    const { id: done } = await taskOf("hello");
    expect(await runCliExpectingError(["task", "cancel", served.url, done])).toMatchObject({
      code: "TaskNotCancelableError",
      exit: 1,
      hint: expect.stringContaining("TASK_STATE_COMPLETED") as string,
    });
  });

  it("list has pages, states and contexts [TASK_LIST_001]", async () => {
    const first = await taskOf("hello");
    await taskOf("again", "--context-id", first.contextId);
    const { id: asking } = await taskOf("ask", "--context-id", first.contextId);
    const list = (...flags: string[]): Promise<ListTasksResponse> =>
      runCliForJson(["task", "list", served.url, "--context-id", first.contextId, ...flags]);
    const page = await list("--page-size", "2");
    expect(page).toMatchObject({ totalSize: 3, nextPageToken: ANY_NON_EMPTY_TEXT });
    const rest = await list("--page-size", "2", "--page-token", page.nextPageToken ?? "");
    expect([...page.tasks, ...rest.tasks]).toHaveLength(3);
    expect((await list("--state", "input-required")).tasks.map(({ id }) => id)).toEqual([asking]);
    expect(
      await runCliStreamForJsonLines(["task", "list", served.url, "--context-id", first.contextId]),
    ).toHaveLength(3);
  });

  it("subscribe follows a task from its current state to its end [TASK_SUBSCRIBE_001, TASK_SUBSCRIBE_002]", async () => {
    const { id } = await taskOf("wait", "--async");
    const follower = spawnColloquyForTest(["task", "subscribe", served.url, id, "--stream", "-o", "json"]);
    await follower.waitForOutput('{"task":');
    await runCliExpectingSuccess(["task", "cancel", served.url, id]);
    const events = parseJsonLines<StreamResponse>((await follower.result).out);
    expect(events[0]).toMatchObject({ task: { id } });
    expect(JSON.stringify(events.at(-1))).toContain('"state":"TASK_STATE_CANCELED"');
  });
});

/** Starts a server that returns a task with a scripted state for each poll. */
async function startPolledServer(
  state: (time: number) => string,
): Promise<{ url: string; asked: () => RecordedTestRequest[] }> {
  let url = "";
  let time = 0;
  const server = await startRequestRecordingTestServer((response, { url: path, body }) => {
    if (path.includes("/.well-known/"))
      return sendTestJsonResponse(response, buildTestAgentCard(url, { capabilities: {} }));
    const task = { id: "t", contextId: "c", status: { state: state(time++) } };
    const result = body.method === "SendMessage" ? { task } : task;
    sendTestJsonResponse(response, { jsonrpc: "2.0", id: body.id, result });
  });
  ({ url } = server);
  return { url, asked: () => server.seen.filter(({ body }) => body.method === "GetTask") };
}

describe("waiting", () => {
  it("polls exactly every --poll-interval [TASK_POLL_002]", async () => {
    const { url, asked } = await startPolledServer((time) =>
      time < 4 ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED",
    );
    const began = performance.now();
    await runCliExpectingSuccess(["task", "get", url, "t", "--wait", "--poll-interval", "50ms"]);
    expect(asked()).toHaveLength(5);
    expect(performance.now() - began).toBeGreaterThan(4 * 45);
  });

  it("stops after --timeout with exit code 5 and the command that continues [TASK_POLL_002]", async () => {
    const { url, asked } = await startPolledServer(() => "TASK_STATE_WORKING");
    const flags = ["--timeout", "300ms", "--poll-interval", "100ms"];
    for (const words of [
      ["task", "wait", url, "t"],
      ["task", "get", url, "t", "--wait"],
      ["send", url, "hello"],
    ]) {
      expect(await runCliExpectingError([...words, ...flags])).toMatchObject({
        code: "A2ACLI_ERR_TIMEOUT",
        exit: 5,
      });
    }
    expect(asked().length).toBeLessThan(20);
    expect(await runCliExpectingError(["send", url, "hello", ...flags])).toMatchObject({
      hint: expect.stringContaining(`task get ${url} t --wait`) as string,
    });
  });

  it("backs off while the agent is unreachable, and stops eventually [TASK_POLL_002]", async () => {
    let url = "";
    let requestCount = 0;
    const server = await startRequestRecordingTestServer((response, { url: path }) => {
      if (path.includes("/.well-known/")) return sendTestJsonResponse(response, buildTestAgentCard(url));
      requestCount++;
      response.socket?.destroy();
    });
    ({ url } = server);
    const flags = ["--wait", "--poll-interval", "10ms"];
    expect(await runCliExpectingError(["task", "get", url, "t", ...flags])).toMatchObject({
      code: "A2ACLI_ERR_UNREACHABLE",
      exit: 3,
    });
    expect(requestCount).toBeLessThan(60);
  });

  it.skipIf(isWindows)(
    "keeps printed ids after Ctrl-C, and does not cancel the task [TASK_POLL_002]",
    async () => {
      const served = await startInstructionFollowingTestServer();
      const cli = spawnColloquyForTest(["send", served.url, "wait", "--stream"]);
      await cli.waitForOutput("waiting");
      cli.child.kill("SIGINT");
      const { code, out, err } = await cli.result;
      expect(code).toBe(130);
      const { Task: id = "" } = parseLabeledCliOutputFields(out);
      expect(err).toContain(`task subscribe ${served.url} ${id}`);
      expect((await runCliForJson<Task>(["task", "get", served.url, id])).status.state).toBe(
        "TASK_STATE_WORKING",
      );
      await served.close();
    },
  );

  it("ends when authentication is required, without a prompt [TASK_POLL_003]", async () => {
    const served = await startInstructionFollowingTestServer();
    for (const flags of [[], ["--stream"]]) {
      const { out, err } = await runCliExpectingSuccess(["send", served.url, "login", ...flags]);
      expect(parseLabeledCliOutputFields(out)).toMatchObject({ State: "TASK_STATE_AUTH_REQUIRED" });
      expect(err).toContain("TASK_STATE_AUTH_REQUIRED");
    }
    await served.close();
  });

  it("continues through an unspecified state, and shows it unchanged [TASK_POLL_003]", async () => {
    const states = ["TASK_STATE_UNSPECIFIED", "TASK_STATE_UNSPECIFIED", "TASK_STATE_COMPLETED"];
    const { url, asked } = await startPolledServer((time) => states[Math.min(time, 2)] as string);
    const { out } = await runCliExpectingSuccess(["task", "get", url, "t"]);
    expect(parseLabeledCliOutputFields(out)).toMatchObject({ State: "TASK_STATE_UNSPECIFIED" });
    await runCliExpectingSuccess(["task", "get", url, "t", "--wait", "--poll-interval", "10ms"]);
    expect(asked()).toHaveLength(3);
    const still = await startPolledServer(() => "TASK_STATE_UNSPECIFIED");
    const flags = ["--wait", "--poll-interval", "10ms", "--timeout", "100ms"];
    expect(await runCliExpectingError(["task", "get", still.url, "t", ...flags])).toMatchObject({ exit: 5 });
  });

  it("polls the task when the stream is lost [TASK_POLL_004]", async () => {
    let url = "";
    const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };
    const server = await startRequestRecordingTestServer((response, { url: path, body }) => {
      const reply = (result: unknown): void =>
        sendTestJsonResponse(response, { jsonrpc: "2.0", id: body.id, result });
      if (path.includes("/.well-known/")) return sendTestJsonResponse(response, buildTestAgentCard(url));
      if (body.method === "SendStreamingMessage")
        return sendTestSseEvents(response, [[0, { jsonrpc: "2.0", id: body.id, result: { task } }]], "cut");
      if (body.method === "GetTask") return reply({ ...task, status: { state: "TASK_STATE_COMPLETED" } });
      sendTestJsonResponse(response, {
        jsonrpc: "2.0",
        id: body.id,
        error: { code: -32004, message: "No streams today" },
      });
    });
    ({ url } = server);
    const { task: ended } = await runCliForJson<{ task: Task }>([
      "send",
      url,
      "hello",
      "--poll-interval",
      "10ms",
    ]);
    expect(ended.status.state).toBe("TASK_STATE_COMPLETED");
    expect(server.seen.map(({ body }) => body.method)).toContain("GetTask");
  });

  it("resumes a broken stream without losing events [TASK_SUBSCRIBE_002]", async () => {
    const served = await startInstructionFollowingTestServer();
    const proxy = await createBreakingProxy(served.url);
    const card = JSON.stringify(await runCliForJson(["card", "get", served.url])).replaceAll(
      served.url,
      proxy.url,
    );
    const cwd = await createTempTestDirectoryWithFiles({ "card.json": card });
    proxy.breakAfter([900]);
    const { code, out } = await runCliInTestProcess(["send", "-a", `${cwd}/card.json`, "hello", "--stream"]);
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringContaining("You said: hello") as string,
    });
    expect(out).toContain("State: TASK_STATE_COMPLETED");
    proxy.close();
    await served.close();
  });
});
