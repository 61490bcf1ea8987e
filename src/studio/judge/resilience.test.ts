import { join } from "node:path";
import { CORE_SCHEMA, load } from "js-yaml";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startBreakingProxy, type ProxyChanges } from "../../../lab/acts/broken/proxy.ts";
import type { ProxiedRequest, ProxiedResponse } from "../../../lab/acts/broken/servers.ts";
import { createScenarioAgent } from "../../../lab/interop/programs/frameworks/scenario-agent.ts";
import { createTempTestDirectoryWithFiles } from "../../cli/cli-test-process.fixture.ts";
import { createServer, type Server, type ServerOptions } from "../../server/index.ts";
import {
  judgeConformance,
  loadCorpus,
  startWebhookReceiver,
  type BindingReport,
  type Corpus,
  type ResilienceOptions,
  type TestResult,
  type WebhookReceiver,
} from "./index.ts";

let corpus: Corpus;
let webhooks: WebhookReceiver;
let server: Server;
let url: string;

/** Starts a server whose agent counts, asks, and waits. */
async function serve(options: ServerOptions = {}, port = 0): Promise<{ server: Server; url: string }> {
  const running = createServer(createScenarioAgent(), {
    store: "memory",
    observer: false,
    heartbeatMs: 30,
    ...options,
  });
  const { url: address } = await running.listen({ port, grpc: port === 0 });
  return { server: running, url: address };
}

async function serveForTest(options: ServerOptions): Promise<string> {
  const started = await serve(options);
  onTestFinished(() => started.server.close());
  return started.url;
}

beforeAll(async () => {
  corpus = await loadCorpus(
    (text) => load(text, { schema: CORE_SCHEMA }),
    new URL("../../../acts/suites/suite.acts.yaml", import.meta.url),
  );
  webhooks = await startWebhookReceiver();
  ({ server, url } = await serve());
});
afterAll(async () => {
  webhooks.close();
  await server.close();
});

interface JudgeOptions extends ResilienceOptions {
  readonly only?: string[];
  readonly allowsMore?: boolean;
  readonly bindings?: ("jsonrpc" | "rest" | "grpc")[];
}

async function judge(
  target: string,
  { only, bindings, allowsMore = true, ...resilience }: JudgeOptions = {},
): Promise<readonly BindingReport[]> {
  return await judgeConformance({
    url: target,
    corpus,
    webhooks,
    message: "count",
    only,
    bindings,
    allowsMore,
    resilience: { waitMessage: "wait", askMessage: "ask", ...resilience },
  });
}

async function judgeOne(target: string, id: string, options: JudgeOptions = {}): Promise<TestResult> {
  const [report] = await judge(target, { only: [id], ...options });
  if (!report?.results[0]) throw new Error("no result");
  return report.results[0];
}

const listOther = (reports: readonly BindingReport[]): string[] =>
  reports.flatMap(({ binding, results }) =>
    results
      .filter(({ outcome }) => outcome !== "passed")
      .map(({ test, outcome }) => `${binding} ${outcome} ${test.id}`),
  );

describe("colloquy on product defaults", () => {
  it("passes each check on each binding, except for those that its webhooks and the test do not allow", async () => {
    const bindings = ["jsonrpc", "rest", "grpc"] as const;
    const reports = await judge(url, { bindings: [...bindings] });
    // A2A 1.0 and 0.3.
    expect(listOther(reports)).toEqual(
      [...bindings, ...bindings].flatMap((binding) => [
        `${binding} not verified RES-PUSH-RETRY`,
        `${binding} not verified RES-RESTART`,
      ]),
    );
    expect(reports.map(({ results }) => results.length)).toEqual([16, 16, 13, 12, 12, 12]);
  });

  it("receives one task without --yes, on one binding", async () => {
    const countTasks = async (): Promise<number> => {
      const response = await fetch(`${url}/tasks`, { headers: { "A2A-Version": "1.0" } });
      return ((await response.json()) as { totalSize: number }).totalSize;
    };
    const before = await countTasks();
    const reports = await judge(url, { allowsMore: false });
    expect((await countTasks()) - before).toBe(1);
    expect(reports.map(({ binding }) => binding)).toEqual(["jsonrpc"]);
    const passed = reports[0]?.results.filter(({ outcome }) => outcome === "passed") ?? [];
    expect(passed.map(({ test }) => test.id)).toEqual(["RES-LEAVE", "RES-RESUME", "ANY-CANCEL-TERMINAL"]);
    // Each result has evidence.
    expect(passed.every(({ exchanges = [] }) => exchanges.length > 0)).toBe(true);
  });

  it("keeps tasks in a restart if its store is a file", async () => {
    const store = `sqlite:${join(await createTempTestDirectoryWithFiles({}), "tasks.db")}` as const;
    let running = await serve({ store });
    onTestFinished(() => running.server.close());
    const restart = async (): Promise<void> => {
      await running.server.close();
      running = await serve({ store }, Number(new URL(running.url).port));
    };
    expect(await judgeOne(running.url, "RES-RESTART", { restart })).toMatchObject({ outcome: "passed" });
  });

  it("repeats push notifications if it may call webhooks of this machine", async () => {
    const target = await serveForTest({ push: { allowPrivate: true, retry: { initialDelayMs: 10 } } });
    expect(await judgeOne(target, "RES-PUSH-RETRY")).toMatchObject({ outcome: "passed" });
  });
});

// oxlint-disable-next-line typescript/no-explicit-any -- The changes reach deep into the JSON of the good server.
type Json = any;

const isCall = ({ body }: ProxiedRequest, method: string): boolean => body.includes(`"method":"${method}"`);
const onCall =
  (method: string, change: (json: Json) => void): NonNullable<ProxyChanges["changeResponse"]> =>
  (response, request): ProxiedResponse => {
    if (!isCall(request, method)) return response;
    const json: Json = JSON.parse(response.body);
    change(json);
    return { ...response, body: JSON.stringify(json) };
  };
const callInstead = (method: string, other: string): ProxyChanges => ({
  changeRequest: (request) => ({
    ...request,
    body: request.body.replace(`"method":"${method}"`, `"method":"${other}"`),
  }),
});
/** Keeps all events with the text but the one at the position. */
const dropNth = (text: string, position: number): ProxyChanges => {
  let count = 0;
  return { keepsEvent: (event) => !event.includes(text) || ++count !== position };
};
const internalError = { code: -32_603, message: "Internal error" };
const failOnLargeRequests: ProxyChanges = {
  changeRequest: (request) =>
    request.body.length > 1e5
      ? { ...request, body: '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}' }
      : request,
  changeResponse: (response, request) =>
    request.body.length > 1e5
      ? { ...response, body: JSON.stringify({ jsonrpc: "2.0", id: 1, error: internalError }) }
      : response,
};

describe("each planted defect fails its check", () => {
  it.each<[id: string, defect: string, reason: string, () => ProxyChanges]>([
    [
      "RES-LEAVE",
      "cancels tasks whose reader has left",
      "canceled the task",
      () => ({
        changeResponse: onCall("GetTask", (json) => (json.result.status.state = "TASK_STATE_CANCELED")),
      }),
    ],
    [
      "RES-LEAVE",
      "stops tasks whose reader has left",
      "TASK_STATE_WORKING after the time limit",
      () => ({
        changeResponse: onCall("GetTask", (json) => (json.result.status.state = "TASK_STATE_WORKING")),
      }),
    ],
    ["RES-RESUME", "begins subscriptions without the task", "is not the task", () => dropNth('"task":{', 2)],
    [
      "RES-RESUME",
      "loses an event after the cut",
      "has another text",
      () => ({ keepsEvent: (event) => !event.includes("three") }),
    ],
    [
      "RES-READERS",
      "sends an event to one reader only",
      "The streams differ",
      () => dropNth('"text":"three"', 2),
    ],
    [
      "RES-SLOW-READER",
      "holds back the end of the task",
      "The stream ended in the state",
      () => ({ keepsEvent: (event) => !event.includes("TASK_STATE_COMPLETED") }),
    ],
    [
      "RES-SEND-TWICE",
      "ignores message ids",
      "two tasks",
      () => ({
        changeRequest: (request) => ({
          ...request,
          body: request.body.replace(/"messageId":"[^"]*"/, `"messageId":"${crypto.randomUUID()}"`),
        }),
      }),
    ],
    [
      "RES-CANCEL-WORKING",
      "does not cancel",
      "TASK_STATE_WORKING",
      () => callInstead("CancelTask", "GetTask"),
    ],
    [
      "RES-CANCEL-WORKING",
      "forgets the cancellation",
      "CancelTask returned TASK_STATE_CANCELED, and GetTask TASK_STATE_COMPLETED",
      () => ({
        changeResponse: onCall("GetTask", (json) => (json.result.status.state = "TASK_STATE_COMPLETED")),
      }),
    ],
    [
      "RES-CANCEL-WORKING",
      "leaves the stream of a canceled task without its end",
      "The stream of the canceled task",
      () => ({ keepsEvent: (event) => !event.includes("TASK_STATE_CANCELED") }),
    ],
    [
      "RES-CANCEL-TWICE",
      "fails in the second cancellation",
      "InternalError",
      () => {
        let count = 0;
        return {
          changeResponse: onCall("CancelTask", (json) => {
            if (++count === 2) Object.assign(json, { result: undefined, error: internalError });
          }),
        };
      },
    ],
    ["RES-CANCEL-ASKING", "does not cancel", "INPUT_REQUIRED", () => callInstead("CancelTask", "GetTask")],
    [
      "RES-PAGES",
      "returns the first page for each token",
      "twice",
      () => ({
        changeRequest: (request) => ({ ...request, body: request.body.replace(/,"pageToken":"[^"]*"/, "") }),
      }),
    ],
    [
      "RES-PAGES",
      "ends the list after the first page",
      "The pages lack",
      () => ({ changeResponse: onCall("ListTasks", (json) => (json.result.nextPageToken = "")) }),
    ],
    ["RES-LIMIT-BODY", "reports large requests as its own failure", "blames", () => failOnLargeRequests],
    ["RES-LIMIT-DEPTH", "reports deep JSON as its own failure", "blames", () => failOnLargeRequests],
    [
      "RES-LIMIT-DEPTH",
      "no longer works after the request",
      "After the request",
      () => ({ changeResponse: onCall("GetTask", (json) => (json.error = internalError)) }),
    ],
  ])("%s: a server that %s", async (id, _defect, reason, createChanges) => {
    const proxy = await startBreakingProxy(url, createChanges());
    onTestFinished(() => proxy.close());
    const result = await judgeOne(proxy.url, id, { limitMs: 1_000 });
    expect(result).toMatchObject({ outcome: "failed", reason: expect.stringContaining(reason) as string });
  });

  it("RES-HEARTBEAT: a server without heartbeats", async () => {
    const target = await serveForTest({ heartbeatMs: 0 });
    const result = await judgeOne(target, "RES-HEARTBEAT", { limitMs: 300 });
    expect(result).toMatchObject({ outcome: "failed", test: { level: "may" } });
  });

  it("RES-PUSH-RETRY: a server that does not repeat push notifications", async () => {
    const target = await serveForTest({ push: { allowPrivate: true, retry: { initialDelayMs: 600_000 } } });
    const result = await judgeOne(target, "RES-PUSH-RETRY", { limitMs: 1_000 });
    expect(result.reason).toContain("did not arrive again");
  });

  it("RES-PUSH-PRIVATE: a server that accepts webhooks of private networks", async () => {
    const result = await judgeOne(await serveForTest({ push: { allowPrivate: true } }), "RES-PUSH-PRIVATE");
    expect(result).toMatchObject({
      outcome: "failed",
      reason: expect.stringMatching(/169\.254.*and called/) as string,
    });
  });

  it("RES-RESTART: a server that forgets its tasks", async () => {
    let running = await serve();
    onTestFinished(() => running.server.close());
    const restart = async (): Promise<void> => {
      await running.server.close();
      running = await serve({}, Number(new URL(running.url).port));
    };
    expect(await judgeOne(running.url, "RES-RESTART", { restart })).toMatchObject({ outcome: "failed" });
  });
});

describe("a check that needs a slow task", () => {
  it("is not verified if the task has ended", async () => {
    // A task of another agent would be found, too.
    const results = await judge(url, { only: ["RES-CANCEL-WORKING"], waitMessage: "fail" });
    expect(listOther(results)).toEqual(["jsonrpc not verified RES-CANCEL-WORKING"]);
  });
});
