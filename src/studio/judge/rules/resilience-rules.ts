import { setTimeout } from "node:timers/promises";
import type { FaultSwitches } from "../../tap/index.ts";
import { isTerminalState, viewEvent } from "../acts/assertions.ts";
import type { JsonMap } from "../acts/corpus.ts";
import { readAllPaths, readPath } from "../acts/expressions.ts";
import { fetchAgentCard } from "../acts/http-transport.ts";
import { assertSameUpdates } from "../acts/supplements.ts";
import {
  callOperation,
  collectEvents,
  createTimeLimit,
  fail,
  formatError,
  NotVerified,
  recordExchange,
  type OperationCallOptions,
  type TestContext,
  type TestRun,
} from "../acts/test-run.ts";
import { createRequestHeaders, type Reply } from "../acts/transport.ts";
import { OLDER_VERSION, OPERATIONS } from "../acts/wire-tables.ts";
import { OPERATION_RULES } from "./operation-rules.ts";
import {
  defineRules,
  declares,
  requireCapability,
  isEnd,
  isTerminal,
  MISSING_TASK_ERROR,
  UNKNOWN_TASK,
  type Probe,
  type Rule,
  type Sample,
  type SharedSamples,
} from "./rule.ts";
import { assertStored, listTaskIds } from "./stream-rules.ts";

/** Options of the checks of resilience. */
export interface ResilienceOptions {
  /** Text after which the agent works without output until it is canceled. Default: the text of the message. */
  readonly waitMessage?: string | undefined;
  /** Text after which the agent asks for input. Without it, one check is not verified. */
  readonly askMessage?: string | undefined;
  /** Restarts the server. Without it, one check is not verified. */
  readonly restart?: (() => Promise<void>) | undefined;
  /** Time limit in milliseconds of each wait. Default: 30,000. */
  readonly limitMs?: number | undefined;
}

/** What the rules of resilience have besides a probe. */
export interface ResilienceTools {
  readonly options: ResilienceOptions;
  readonly message: string;
  /** The agent through a tap, which injects the faults. */
  readonly tapped: TestContext;
  readonly faults: FaultSwitches;
}

/** A task whose stream the tap cut after the first event. */
interface CutTask {
  readonly id: string;
  /** The subscription after the cut, with its events. Absent if the task had ended before. */
  readonly resumed: Awaited<ReturnType<typeof collectEvents>> | undefined;
  /** The task after its end, or after the time limit. */
  readonly task: JsonMap;
}

const TOO_FAST = "The task ended before the check. Pass --message with a text that takes a few seconds.";
/** Larger than the usual limits of servers, which are 1 to 10 MB. */
const LARGE_TEXT_LENGTH = 24 * 2 ** 20;
/** More than the call stack of a recursive parser holds. */
const DEPTH = 100_000;

/** Addresses that no caller may make a server call: this machine, private networks, and the metadata of clouds. */
const PRIVATE_URLS = [
  "http://169.254.169.254/latest/meta-data",
  "http://127.0.0.1:9/",
  "http://localhost:9/",
  "http://[::1]:9/",
  "http://2130706433:9/",
  "http://10.0.0.1/",
  "http://192.168.0.1/",
];

/** Time in milliseconds after the end of a task, in which its push notifications arrive. */
const DELIVERY_LIMIT_MS = 2_000;

const readState = (value: unknown): unknown => readPath(value, "status.state");

/** Runs work once for several rules. Each of the rules has the exchanges of the work, and its lack of credentials. */
function once<T>(work: (probe: Probe) => Promise<T>): (probe: Probe) => Promise<T> {
  let shared: { run: TestRun; result: Promise<T> } | undefined;
  return async (probe) => {
    const { run } = probe;
    shared ??= { run, result: work(probe) };
    try {
      return await shared.result;
    } finally {
      if (shared.run !== run) run.exchanges.push(...shared.run.exchanges);
      if (shared.run.isDenied) run.isDenied = true;
    }
  };
}

/** Requires a task that still works. An error of a server is a failure of other rules. */
function getTask({ error, body }: Reply): JsonMap & { readonly id: string } {
  if (error) throw new NotVerified(`The agent answers with ${formatError(error)}`);
  const task = readPath(body, "task") as JsonMap;
  if (typeof readPath(task, "id") !== "string")
    throw new NotVerified("The agent answers with a message, not a task.");
  return task as JsonMap & { readonly id: string };
}

async function startTask(probe: Probe, text: string, configuration: JsonMap = {}): Promise<string> {
  const params = {
    ...probe.createMessage({ parts: [{ text }] }),
    configuration: { returnImmediately: true, ...configuration },
  };
  return getTask(await probe.call("send_message", params)).id;
}

/** Subscribes to a task. A task that has ended has no stream. */
async function follow(probe: Probe, id: string, options?: OperationCallOptions): Promise<Reply> {
  requireCapability(probe.card, "streaming");
  const reply = await probe.call("subscribe_to_task", { id }, options);
  if (!reply.error) return reply;
  if (isTerminal((await probe.call("get_task", { id })).body)) throw new NotVerified(TOO_FAST);
  return fail(`The server returned ${formatError(reply.error)}`);
}

/** Collects the events of a subscription, which must begin with the task and end with its end. */
async function readToEnd(
  { run }: Probe,
  reply: Reply,
  id: string,
): Promise<Awaited<ReturnType<typeof collectEvents>>> {
  const result = await collectEvents(reply);
  const { events, problem } = result;
  if (problem !== undefined) fail(problem);
  // A2A 0.3 does not define the first event of a subscription.
  if (run.context.specVersion !== OLDER_VERSION && readPath(events[0], "task.id") !== id)
    fail("The first event of the subscription is not the task.");
  const last = readAllPaths(events.map(viewEvent), "[*].status.state").at(-1);
  if (!isEnd(last)) fail(`The stream ended in the state ${String(last)}.`);
  return result;
}

async function cancelQuietly({ run }: Probe, id: string): Promise<void> {
  await callOperation({ ...run, exchanges: [] }, "cancel_task", { id }).catch(() => {});
}

/** Sends a text as part of a message to a task that does not exist, so that the message starts no work. */
async function sendPart({ run, binding }: Probe, label: string, part: string): Promise<Reply> {
  const { transport, specVersion, token } = run.context;
  const { rpc, http } = OPERATIONS["send_message"] ?? {};
  const params = `{"message":{"messageId":"${crypto.randomUUID()}","role":"ROLE_USER","taskId":"${crypto.randomUUID()}","parts":[${part}]}}`;
  const isRpc = binding === "jsonrpc";
  const request = {
    method: "POST",
    path: isRpc ? "/" : (http?.[1] ?? ""),
    headers: { "content-type": "application/json", ...createRequestHeaders(specVersion, token) },
    body_raw: isRpc ? `{"jsonrpc":"2.0","id":1,"method":"${rpc}","params":${params}}` : params,
  };
  if (!transport) throw new NotVerified("The agent card has no interface for the binding.");
  return await recordExchange(run, `${rpc} ${label}`, transport.sendRaw(request, createTimeLimit()));
}

/** A request that a server cannot process must have an error of the client, and must not affect the next request. */
async function checkLimit(probe: Probe, label: string, part: string): Promise<void> {
  const found = await sendPart(probe, label, part).catch((error: unknown) => error as Error);
  const { error } = await probe.call("get_task", { id: UNKNOWN_TASK });
  if (error?.error_type !== MISSING_TASK_ERROR)
    fail(`After the request, the server returned ${error ? formatError(error) : "a task"}.`);
  if (found instanceof Error)
    throw new NotVerified(`The server works, but the request has no response: ${found.message}`);
  if (found.status >= 500 || found.error?.error_type === "InternalError")
    fail(`The error blames the server: ${found.error ? formatError(found.error) : ""} (${found.status})`);
}

/** Checks that a server protects its network. Also part of the doctor. */
export const PRIVATE_WEBHOOK_RULES: readonly Rule[] = defineRules({
  async "RES-PUSH-PRIVATE"(probe) {
    const { card, finishedTask, call, run } = probe;
    requireCapability(card, "pushNotifications");
    const { id: taskId } = await finishedTask();
    // A server that refuses all webhooks of ended tasks protects nothing. The domain is reserved for examples.
    const { error } = await call("create_push_config", { taskId, url: "https://example.com/colloquy-judge" });
    if (error) throw new NotVerified(`The server also refuses example.com: ${formatError(error)}`);
    const accepted: string[] = [];
    for (const url of PRIVATE_URLS) {
      const { error: refusal, body } = await call("create_push_config", { taskId, url });
      if (refusal) continue;
      accepted.push(url);
      // Some servers delete with an invalid response, which another rule reports.
      await call("delete_push_config", { taskId, id: readPath(body, "id") }).catch(() => {});
    }
    if (accepted.length === 0) return;
    // A server may accept an address, and refuse to deliver.
    const url = run.context.webhooks?.createUrl();
    if (url !== undefined) {
      const configuration = { taskPushNotificationConfig: { url } };
      await call("send_message", { ...probe.createMessage(), configuration });
      const deliveries = await run.context.webhooks?.waitFor(url, () => true, DELIVERY_LIMIT_MS);
      if (deliveries?.length) fail(`The server accepts ${accepted.join(", ")}, and called ${url}.`);
    }
    throw new NotVerified(`The server accepts ${accepted.join(", ")}. No delivery was observed.`);
  },
});

/**
 * Returns rules for the behavior of an agent under faults. Without `allowsMore`, the agent receives one message, and
 * otherwise only reads.
 */
export function createResilienceRules(tools: ResilienceTools): {
  readonly rules: readonly Rule[];
  readonly takeSample: SharedSamples["takeSample"];
} {
  const { options, message, tapped, faults } = tools;
  const { waitMessage = message, askMessage, restart, limitMs = 30_000 } = options;

  /** Reads a task until it has ended or is interrupted, or until the time limit. Only the last reply is an exchange. */
  const waitForEnd = async (probe: Probe, id: string): Promise<JsonMap> => {
    const silent = { ...probe.run, exchanges: [] };
    const end = performance.now() + limitMs;
    while (performance.now() < end) {
      const { body, error } = await callOperation(silent, "get_task", { id });
      if (error || isEnd(readState(body))) break;
      await setTimeout(100);
    }
    return (await probe.expect("get_task", { id })) as JsonMap;
  };

  const withFault = async <T>(rule: string, work: (probe: Probe) => Promise<T>, probe: Probe): Promise<T> => {
    const { id } = faults.add(rule);
    const run = { ...probe.run, context: tapped };
    const call: Probe["call"] = (operation, params, callOptions) =>
      callOperation(run, operation, params, callOptions);
    try {
      return await work({ ...probe, run, call });
    } finally {
      faults.remove(id);
    }
  };

  const cutTask = once(async (probe): Promise<CutTask> => {
    if (!declares(probe.card, "streaming")) {
      const id = await startTask(probe, message);
      return { id, resumed: undefined, task: await waitForEnd(probe, id) };
    }
    const { events, problem } = await withFault(
      "cut:after=1,match=SendStreamingMessage",
      async ({ call, createMessage }) => {
        const reply = await call("send_streaming_message", createMessage());
        return reply.error ? { events: [], problem: reply.error } : await collectEvents(reply);
      },
      probe,
    );
    if (typeof problem === "object") throw new NotVerified(`The agent answers with ${formatError(problem)}`);
    const [id] = listTaskIds(events);
    if (typeof id !== "string")
      throw new NotVerified(problem ?? "The agent answers with a message, not a task.");
    if (problem === undefined) throw new NotVerified("The stream has one event.");
    const resumed = await follow(probe, id).then(collectEvents, (failure: unknown) => {
      if (failure instanceof NotVerified) return undefined;
      throw failure;
    });
    return { id, resumed, task: await waitForEnd(probe, id) };
  });

  /** The sample of the rules that need an ended task, so that the agent receives no other message for them. */
  const takeSample = async (probe: Probe): Promise<Sample> => {
    const { task } = await cutTask(probe).catch((): never => {
      throw new NotVerified("The task of the message is not available.");
    });
    return { reply: { status: 200, headers: {}, body: { task } }, task };
  };

  const canceledTask = once(async (probe): Promise<string> => {
    const id = await startTask(probe, waitMessage);
    const isOlder = probe.run.context.specVersion === OLDER_VERSION;
    // A2A 0.3 defines neither the readers of a canceled task nor the errors of agents that cannot cancel.
    const isStreaming = declares(probe.card, "streaming") && !isOlder;
    const reader = isStreaming ? collectEvents(await follow(probe, id)) : undefined;
    const { error, body } = await probe.call("cancel_task", { id });
    const allowed = ["TaskNotCancelableError", "UnsupportedOperationError"];
    if (error && (isOlder || allowed.includes(error.error_type)))
      throw new NotVerified(`The agent did not cancel the task: ${formatError(error)}`);
    if (error) fail(`The server returned ${formatError(error)}`);
    const state = readState(await waitForEnd(probe, id));
    if (isTerminal(body) && readState(body) !== state)
      fail(`CancelTask returned ${String(readState(body))}, and GetTask ${String(state)}.`);
    if (isTerminalState(state) && state !== "TASK_STATE_CANCELED") throw new NotVerified(TOO_FAST);
    if (state !== "TASK_STATE_CANCELED") fail(`The canceled task is in the state ${String(state)}.`);
    const { events = [], problem } = (await reader) ?? {};
    const last = readAllPaths(events.map(viewEvent), "[*].status.state").at(-1);
    if (reader && (problem !== undefined || last !== state))
      fail(problem ?? `The stream of the canceled task ended in the state ${String(last)}.`);
    return id;
  });

  const rules: readonly Rule[] = [
    ...defineRules({
      async "RES-LEAVE"(probe) {
        const state = readState((await cutTask(probe)).task);
        if (!isEnd(state)) fail(`The task is in the state ${String(state)} after the time limit.`);
        if (state === "TASK_STATE_CANCELED") fail("The server canceled the task.");
        if (state === "TASK_STATE_FAILED") throw new NotVerified("The task failed, for any reason.");
      },
      async "RES-RESUME"(probe) {
        const { id, resumed, task } = await cutTask(probe);
        requireCapability(probe.card, "streaming");
        if (!resumed) throw new NotVerified(TOO_FAST);
        const { events } = resumed;
        const replay = (async function* replayEvents() {
          yield* events;
        })();
        if (resumed.problem !== undefined) fail(resumed.problem);
        await readToEnd(probe, { status: 200, headers: {}, body: undefined, events: replay }, id);
        if (readPath(events[0], "task.id") === id) assertStored(events, task);
      },
    }),
    ...OPERATION_RULES.filter(({ id }) => id === "ANY-CANCEL-TERMINAL"),
    ...defineRules({
      async "RES-READERS"(probe) {
        const id = await startTask(probe, message);
        const readers = await Promise.all([follow(probe, id), follow(probe, id), follow(probe, id)]);
        const [one, other, leaving] = readers;
        await collectEvents(leaving, 1);
        const [left, right] = await Promise.all([readToEnd(probe, one, id), readToEnd(probe, other, id)]);
        assertSameUpdates(left.events, right.events);
      },
      async "RES-SLOW-READER"(probe) {
        const id = await startTask(probe, message);
        const events = await withFault(
          "slow:bytes-per-s=16,match=SubscribeToTask",
          async ({ call }) => {
            const slow = call("subscribe_to_task", { id }, { timeoutMs: limitMs });
            slow.then(collectEvents).catch(() => {});
            // The slow stream may have no first event for a long time.
            await Promise.race([slow.catch(() => {}), setTimeout(200)]);
            return (await readToEnd(probe, await follow(probe, id), id)).events;
          },
          probe,
        );
        const task = await waitForEnd(probe, id);
        if (readPath(events[0], "task.id") === id) assertStored(events, task);
      },
      async "RES-SEND-TWICE"(probe) {
        const twice = probe.createMessage({ messageId: crypto.randomUUID() });
        const first = getTask(await probe.call("send_message", twice));
        const { error, body, status } = await probe.call("send_message", twice);
        if (error && status >= 500) fail(`The server returned ${formatError(error)}`);
        if (!error && readPath(body, "task.id") !== first.id) fail("The message started two tasks.");
      },
      async "RES-CANCEL-WORKING"(probe) {
        await canceledTask(probe);
      },
      async "RES-CANCEL-TWICE"(probe) {
        const id = await canceledTask(probe).catch(() => {
          throw new NotVerified("No task was canceled.");
        });
        const { error, body } = await probe.call("cancel_task", { id });
        const names = ["TaskNotCancelableError", MISSING_TASK_ERROR];
        if (error && !names.includes(error.error_type)) fail(`The server returned ${formatError(error)}`);
        const state = error ? readState((await probe.call("get_task", { id })).body) : readState(body);
        if (state !== "TASK_STATE_CANCELED" && error?.error_type !== MISSING_TASK_ERROR)
          fail(`The task is in the state ${String(state)}.`);
      },
      async "RES-CANCEL-ASKING"(probe) {
        if (askMessage === undefined)
          throw new NotVerified("Pass --ask-message with a text after which the agent asks.");
        const { createMessage, call, expect, expectError } = probe;
        const task = getTask(await call("send_message", createMessage({ parts: [{ text: askMessage }] })));
        const { id } = task;
        if (readState(task) !== "TASK_STATE_INPUT_REQUIRED")
          throw new NotVerified(`The agent did not ask: the task is ${String(readState(task))}.`);
        const canceled = await expect("cancel_task", { id });
        const found = await waitForEnd(probe, id);
        for (const state of [readState(canceled), readState(found)])
          if (state !== "TASK_STATE_CANCELED") fail(`The canceled task is in the state ${String(state)}.`);
        // A2A 0.3 does not name the error.
        if (probe.run.context.specVersion !== OLDER_VERSION)
          await expectError("send_message", createMessage({ taskId: id }), "UnsupportedOperationError");
        else if (!(await call("send_message", createMessage({ taskId: id }))).error)
          fail("The server accepted a message to the canceled task.");
      },
      async "RES-HEARTBEAT"(probe) {
        const id = await startTask(probe, waitMessage);
        try {
          const beat = Promise.withResolvers<"beat">();
          const onChunk = (text: string): void => {
            if (/^:/m.test(text)) beat.resolve("beat");
          };
          const reply = await follow(probe, id, { onChunk, timeoutMs: 2 * limitMs });
          let count = 0;
          const events = collectEvents(reply, undefined, () => count++).then(() => "end" as const);
          const silence = setTimeout(limitMs, "silence" as const, { ref: false });
          const seen = await Promise.race([beat.promise, events, silence]);
          if (seen === "end" || (seen === "silence" && count > 2))
            throw new NotVerified(
              "The stream was not silent. Pass --wait-message with a text for silent work.",
            );
          if (seen === "silence") fail(`The stream had no heartbeat for ${limitMs / 1000} s.`);
        } finally {
          await cancelQuietly(probe, id);
        }
      },
      async "RES-PAGES"(probe) {
        const send = async (members: JsonMap = {}): Promise<JsonMap & { readonly id: string }> =>
          getTask(await probe.call("send_message", probe.createMessage(members)));
        const first = await send();
        const { contextId } = first;
        const wanted = [first.id, (await send({ contextId })).id, (await send({ contextId })).id];
        const seen: unknown[] = [];
        let pageToken: unknown;
        do {
          const page = await probe.call("list_tasks", {
            contextId,
            pageSize: 1,
            ...(pageToken === undefined ? {} : { pageToken }),
          });
          if (page.error) throw new NotVerified(`ListTasks returned ${formatError(page.error)}`);
          if (pageToken === undefined) await send({ contextId });
          seen.push(...readAllPaths(page.body, "tasks[*].id"));
          pageToken = readPath(page.body, "nextPageToken");
        } while (typeof pageToken === "string" && pageToken !== "" && seen.length < 8);
        const repeated = seen.find((id, at) => seen.indexOf(id) !== at);
        if (repeated !== undefined) fail(`The pages contain the task ${JSON.stringify(repeated)} twice.`);
        const missing = wanted.find((id) => !seen.includes(id));
        if (missing !== undefined) fail(`The pages lack the task ${missing}.`);
      },
      "RES-LIMIT-BODY": (probe) =>
        checkLimit(probe, "(24 MiB of text)", JSON.stringify({ text: "x".repeat(LARGE_TEXT_LENGTH) })),
      "RES-LIMIT-DEPTH": (probe) =>
        checkLimit(probe, "(data with 100,000 levels)", `{"data":${"[".repeat(DEPTH)}${"]".repeat(DEPTH)}}`),
      async "RES-PUSH-RETRY"(probe) {
        const { webhooks } = probe.run.context;
        requireCapability(probe.card, "pushNotifications");
        if (!webhooks) throw new NotVerified("The agent cannot reach a webhook on this machine.");
        const url = webhooks.createUrl(1);
        await startTask(probe, message, { taskPushNotificationConfig: { url } });
        const deliveries = await webhooks.waitFor(
          url,
          ({ body }, at, [first]) => at > 0 && JSON.stringify(body) === JSON.stringify(first?.body),
          limitMs,
        );
        if (deliveries.length === 0)
          throw new NotVerified(
            "No push notification arrived. The server may refuse addresses of this machine.",
          );
        const [first, ...later] = deliveries.map(({ body }) => JSON.stringify(body));
        if (!later.includes(first ?? ""))
          fail(`The rejected push notification did not arrive again; ${later.length} others arrived.`);
      },
    }),
    ...PRIVATE_WEBHOOK_RULES,
    ...defineRules({
      async "RES-RESTART"(probe) {
        if (!restart) throw new NotVerified("Pass --restart-command.");
        const { id: finished } = await probe.finishedTask();
        const before = JSON.stringify(await probe.expect("get_task", { id: finished }));
        const running = await startTask(probe, message);
        await restart();
        const { baseUrl, specVersion, token } = probe.run.context;
        const end = performance.now() + limitMs;
        for (let isUp = false; !isUp;) {
          if (performance.now() > end) fail("The server did not come back before the time limit.");
          const headers = createRequestHeaders(specVersion, token);
          const reply = fetchAgentCard(baseUrl, { headers, signal: createTimeLimit(limitMs) });
          isUp = await reply.then(
            ({ error }) => !error,
            () => false,
          );
          if (!isUp) await setTimeout(100);
        }
        if (JSON.stringify(await probe.expect("get_task", { id: finished })) !== before)
          fail("After the restart, a finished task is different.");
        const state = readState(await waitForEnd(probe, running));
        if (!isEnd(state)) fail(`The task that was running is in the state ${String(state)}.`);
      },
    }),
  ];
  return { takeSample, rules };
}
