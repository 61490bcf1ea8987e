import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  buildTestAgentCard,
  startRequestRecordingTestServer,
  createTestJsonRpcResponder,
  sendTestSseEvents,
  sendTestJsonResponse,
} from "../../client/request-recording-test-server.fixture.ts";
import type { Part, SendMessageResponse, StreamResponse, Task } from "../../protocol/index.ts";
import { createTempTestDirectoryWithFiles, runCliInTestProcess } from "../cli-test-process.fixture.ts";
import {
  TEST_SERVERS,
  startInstructionFollowingTestServer,
  type RunningTestServer,
} from "./test-servers.fixture.ts";
import {
  parseLabeledCliOutputFields,
  runCliForJson,
  runCliStreamForJsonLines,
  runCliExpectingSuccess,
  ANY_NON_EMPTY_TEXT,
} from "./run-command.fixture.ts";

describe.each(TEST_SERVERS)("send, to %s", (_, serve) => {
  let served: RunningTestServer;
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.close());

  it("waits with a time limit that is longer than the longest timer", async () => {
    const { out } = await runCliExpectingSuccess(["send", served.url, "hello", "--timeout", "1000h"]);
    expect(out).toContain("TASK_STATE_COMPLETED");
  });

  it("starts an interaction and waits for its end [SEND_001, SEND_002]", async () => {
    const { out } = await runCliExpectingSuccess(["send", "-a", served.url, "hello"]);
    expect(parseLabeledCliOutputFields(out)).toMatchObject({
      Task: ANY_NON_EMPTY_TEXT,
      Context: ANY_NON_EMPTY_TEXT,
      State: "TASK_STATE_COMPLETED",
    });
    const { task } = await runCliForJson<{ task: Task }>(["send", served.url, "hello"]);
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(task.artifacts).toMatchObject([{ artifactId: "answer" }, ...(task.artifacts ?? []).slice(1)]);
  });

  it.each(["--async", "--no-wait", "--return-immediately"])(
    "%s answers with the ids before the task has ended [SEND_002, OUT_006]",
    async (flag) => {
      const { task } = await runCliForJson<{ task: Task }>(["send", served.url, "wait", flag]);
      expect(task).toMatchObject({ id: ANY_NON_EMPTY_TEXT, contextId: ANY_NON_EMPTY_TEXT });
      expect(task.status.state).toMatch(/SUBMITTED|WORKING/);
      const { out, err } = await runCliExpectingSuccess(["send", served.url, "wait", flag]);
      expect(parseLabeledCliOutputFields(out)).toMatchObject({
        Task: ANY_NON_EMPTY_TEXT,
        Context: ANY_NON_EMPTY_TEXT,
        State: task.status.state,
      });
      expect(err).toContain(`task get ${served.url} ${parseLabeledCliOutputFields(out)["Task"]} --wait`);
    },
  );

  it("--stream shows events as they happen, and ends with the final state [SEND_003]", async () => {
    const events = await runCliStreamForJsonLines<StreamResponse>(["send", served.url, "hello"]);
    expect(events[0]).toMatchObject({ task: { status: { state: "TASK_STATE_SUBMITTED" } } });
    expect(events.some((event) => "artifactUpdate" in event)).toBe(true);
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("--stream and waiting both succeed for a message without a task [SEND_003]", async () => {
    expect(await runCliStreamForJsonLines(["send", served.url, "message"])).toMatchObject([
      { message: { role: "ROLE_AGENT" } },
    ]);
    expect(await runCliForJson(["send", served.url, "message"])).toMatchObject({
      message: { role: "ROLE_AGENT" },
    });
  });
});

describe("send", () => {
  let served: RunningTestServer;
  /** Sends a message and returns the parts that the agent received. */
  const sendAndEcho = async (args: string[], stdin: Readable = Readable.from([])): Promise<Part[]> => {
    const { task } = await runCliForJson<{ task: Task }>(["send", served.url, ...args], { stdin });
    const [part] = task.artifacts?.[0]?.parts ?? [];
    return part && "data" in part ? (JSON.parse(part.data as string) as Part[]) : [];
  };

  beforeAll(async () => {
    served = await startInstructionFollowingTestServer();
  });
  afterAll(() => served.close());

  it("--stream does not hang with an agent that does not stream [SEND_003]", async () => {
    const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
    let url = "";
    const server = await startRequestRecordingTestServer((response, request) =>
      request.url.includes("/.well-known/")
        ? sendTestJsonResponse(response, buildTestAgentCard(url, { capabilities: {} }))
        : createTestJsonRpcResponder({ task })(response, request),
    );
    ({ url } = server);
    expect(await runCliStreamForJsonLines(["send", url, "hello"])).toEqual([{ task }]);
    expect(server.seen.at(-1)?.body.method).toBe("SendMessage");
  });

  it("shows every part of an artifact: text as text, data as JSON, files by name, type and size [SEND_004]", async () => {
    const { out } = await runCliExpectingSuccess(["send", served.url, "parts"]);
    expect(out).toContain("Artifact: report\nAll of it:\n\n");
    expect(out).toContain('Data: report\n{\n  "rows": 2\n}\n\n');
    expect(out).toContain("File: hello.txt, text/plain, 5 bytes\n");
    expect(out).toContain("File: big.bin, application/zip, https://example.com/big.bin\n");
    const { task } = await runCliForJson<{ task: Task }>(["send", served.url, "parts"]);
    expect(task.artifacts?.[0]?.parts.map((part) => Object.keys(part)[0])).toHaveLength(4);
  });

  it("--media-type applies to the preceding part, and is guessed if omitted [SEND_005]", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "report.bin": "x", "page.html": "<p>" });
    const typed = ["--file", `${cwd}/report.bin`, "--media-type", "application/pdf"];
    const parts = await sendAndEcho([...typed, "--file", `${cwd}/page.html`]);
    expect(parts).toMatchObject([
      { raw: "eA==", filename: "report.bin", mediaType: "application/pdf" },
      { raw: "PHA+", filename: "page.html", mediaType: "text/html" },
    ]);
    const { code, err } = await runCliInTestProcess(["send", served.url, "--media-type", "text/plain"]);
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining("--media-type needs") as string,
    });
  });

  it("--text, --file and --data repeat and keep their order [SEND_006]", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "data.json": `{"from":"file"}` });
    const first = ["--data", `${cwd}/data.json`, "--text", "one", "--file", "https://example.com/a.png"];
    const parts = await sendAndEcho([...first, "--text", "two", "--data", "[1]"]);
    expect(parts).toMatchObject([
      { data: { from: "file" } },
      { text: "one" },
      { url: "https://example.com/a.png", mediaType: "image/png" },
      { text: "two" },
      { data: [1] },
    ]);
  });

  it("--data - reads stdin [SEND_006]", async () => {
    expect(await sendAndEcho(["--data", "-"], Readable.from(['{"from":', '"stdin"}']))).toMatchObject([
      { data: { from: "stdin" } },
    ]);
  });

  it("--metadata is in the payload, --svc-param is not [AUTH_001]", async () => {
    let url = "";
    const server = await startRequestRecordingTestServer((response, request) =>
      request.url.includes("/.well-known/")
        ? sendTestJsonResponse(response, buildTestAgentCard(url))
        : sendTestSseEvents(
            response,
            [[0, { jsonrpc: "2.0", id: request.body.id, result: { message: MESSAGE } }]],
            "end",
          ),
    );
    ({ url } = server);
    const flags = ["--metadata", '{"tenant":"acme"}', "--svc-param", "x-trace-id: abc:123"];
    await runCliForJson<SendMessageResponse>(["send", url, "hi", ...flags]);
    const request = server.seen.at(-1);
    expect(request?.body.params).toMatchObject({ metadata: { tenant: "acme" } });
    expect(request?.headers).toMatchObject({ "x-trace-id": "abc:123" });
    expect(request?.text).not.toContain("abc:123");
  });
});

const MESSAGE = { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hi" }] };
