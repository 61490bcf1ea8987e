import type { JsonMap } from "../acts/corpus.ts";
import { getMember, MISSING, readAllPaths, readPath } from "../acts/expressions.ts";
import { checkShape } from "../acts/shapes.ts";
import {
  callOperation,
  createTimeLimit,
  fail,
  formatError,
  NotVerified,
  raise,
  recordExchange,
} from "../acts/test-run.ts";
import { createRequestHeaders, type Reply } from "../acts/transport.ts";
import {
  defineRules,
  declares,
  isEnd,
  MISSING_TASK_ERROR,
  requireCapability,
  UNKNOWN_TASK,
  type Probe,
  type Rule,
} from "./rule.ts";

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Sends a JSON-RPC envelope as written, and returns the complete envelope of the reply. */
export async function sendEnvelope({ run }: Probe, envelope: unknown): Promise<Reply> {
  const { transport, specVersion, token } = run.context;
  if (!transport) throw new NotVerified("The agent card is not available.");
  const headers = { "content-type": "application/json", ...createRequestHeaders(specVersion, token) };
  const request = { method: "POST", path: "/", headers, body: envelope };
  return await recordExchange(
    run,
    `POST ${JSON.stringify(envelope)}`,
    transport.sendRaw(request, createTimeLimit()),
  );
}

/** Returns a list of the tasks of the sample's context. */
async function listContext(probe: Probe, params: JsonMap = {}): Promise<JsonMap> {
  const { contextId } = await probe.sampleTask();
  return (await probe.expect("list_tasks", { contextId, ...params })) as JsonMap;
}

function countArtifacts(task: unknown): number {
  return readAllPaths(task, "artifacts[*]").length;
}

/** Rules of the operations, which hold whatever the agent answers. */
export const OPERATION_RULES: readonly Rule[] = defineRules({
  async "ANY-SEND-SHAPE"({ sample }) {
    const { reply } = await sample();
    if (reply.error) {
      if (reply.status === 401 || reply.status === 403)
        throw new NotVerified("The agent requires credentials: pass --bearer.");
      fail(`The server returned ${formatError(reply.error)}`);
    }
    raise(checkShape("SendMessageResponse", reply.body));
  },
  async "ANY-SEND-BLOCKING"({ sampleTask }) {
    const state = readPath(await sampleTask(), "status.state");
    if (!isEnd(state)) fail(`The response has a task in the state ${String(state)}.`);
  },
  async "ANY-SEND-CONTEXT"({ sample }) {
    const { reply, task } = await sample();
    if (reply.error) throw new NotVerified(`The agent answers with ${formatError(reply.error)}`);
    if (!task) throw new NotVerified("The agent answers with a message, not a task.");
    if (typeof task["contextId"] !== "string" || task["contextId"] === "") fail("The task has no contextId.");
  },
  async "ANY-SEND-ROLE"({ sample }) {
    const { reply } = await sample();
    if (reply.error) throw new NotVerified(`The agent answers with ${formatError(reply.error)}`);
    const roles = [
      readPath(reply.body, "message.role"),
      readPath(reply.body, "task.status.message.role"),
    ].filter((role) => role !== MISSING);
    if (roles.length === 0) throw new NotVerified("The response has no message of the agent.");
    if (roles.some((role) => role !== "ROLE_AGENT")) fail(`A message has the role ${roles.join(", ")}.`);
  },
  async "ANY-SEND-UNKNOWN-MEMBER"({ createMessage, call }) {
    // The task does not exist, so that the message starts no work.
    const message = createMessage({ taskId: crypto.randomUUID(), colloquyJudge: { unknown: true } });
    const { error } = await call("send_message", message);
    if (error && error.error_type !== MISSING_TASK_ERROR) fail(`The server returned ${formatError(error)}`);
  },
  async "ANY-GET-SAME"({ finishedTask, expect }) {
    const task = await finishedTask();
    const found = await expect("get_task", { id: task.id });
    raise(checkShape("Task", found));
    for (const path of ["id", "contextId", "status.state"])
      if (readPath(found, path) !== readPath(task, path))
        fail(`${path} is ${String(readPath(found, path))} instead of ${String(readPath(task, path))}.`);
    if (countArtifacts(found) !== countArtifacts(task))
      fail(`The task has ${countArtifacts(found)} artifacts instead of ${countArtifacts(task)}.`);
  },
  async "ANY-GET-HISTORY"({ sampleTask, expect }) {
    const { id } = await sampleTask();
    for (const historyLength of [0, 1]) {
      const found = await expect("get_task", { id, historyLength });
      const { length } = readAllPaths(found, "history[*]");
      if (length > historyLength) fail(`historyLength ${historyLength} returns ${length} messages.`);
    }
  },
  async "ANY-LIST-SHAPE"(probe) {
    const { id } = await probe.sampleTask();
    const list = await listContext(probe);
    const { tasks, nextPageToken } = list;
    if (!isList(tasks)) fail("The response has no list of tasks.");
    if (typeof nextPageToken !== "string") fail("The response has no nextPageToken.");
    for (const [at, task] of tasks.entries()) raise(checkShape("Task", task, `tasks[${at}]`));
    if (!tasks.some((task) => getMember(task, "id") === id)) fail("The list lacks the task.");
  },
  async "ANY-LIST-ARTIFACTS"(probe) {
    const list = await listContext(probe);
    if (readAllPaths(list, "tasks[*].artifacts[*]").length > 0) fail("The listed tasks have artifacts.");
  },
  async "ANY-LIST-PAGE"(probe) {
    await probe.sampleTask();
    const page = (await probe.expect("list_tasks", { pageSize: 2 })) as JsonMap;
    const { tasks } = page;
    if (!isList(tasks)) fail("The response has no list of tasks.");
    if (tasks.length > 2) fail(`A page of 2 tasks has ${tasks.length} tasks.`);
    const times = readAllPaths(page, "tasks[*].status.timestamp").map((time) => Date.parse(String(time)));
    if ((times[1] ?? 0) > (times[0] ?? Infinity))
      fail("The first task of the page is older than the second.");
  },
  async "ANY-LIST-SIZE"({ sampleTask, expectError }) {
    await sampleTask();
    await expectError("list_tasks", { pageSize: -1 }, "InvalidParamsError");
  },
  async "ANY-SEND-TERMINAL"({ finishedTask, createMessage, expectError }) {
    const { id } = await finishedTask();
    await expectError("send_message", createMessage({ taskId: id }), "UnsupportedOperationError");
  },
  async "ANY-SEND-MISSING-TASK"({ createMessage, expectError }) {
    // A server that creates the task must not affect the rules of UNKNOWN_TASK.
    const message = createMessage({ taskId: crypto.randomUUID() });
    await expectError("send_message", message, MISSING_TASK_ERROR);
  },
  async "ANY-SEND-CONTEXT-MISMATCH"({ sampleTask, createMessage, call }) {
    const { id } = await sampleTask();
    const reply = await call("send_message", createMessage({ taskId: id, contextId: UNKNOWN_TASK }));
    if (!reply.error) fail("The server accepted the message.");
  },
  async "ANY-SEND-NO-PARTS"({ createMessage, call, binding }) {
    const { error, status } = await call("send_message", createMessage({ parts: [] }));
    if (!error) fail("The server accepted a message without parts.");
    if (binding === "jsonrpc" && error.error_type !== "InvalidParamsError")
      fail(`The server returned ${formatError(error)}`);
    if (status >= 500) fail(`The server returned the status ${status}, which blames the server.`);
  },
  async "ANY-CANCEL-TERMINAL"({ finishedTask, expectError }) {
    const { id } = await finishedTask();
    await expectError("cancel_task", { id }, "TaskNotCancelableError");
  },
  async "ANY-PUSH-DENIED"({ card, expectError }) {
    if (declares(card, "pushNotifications")) throw new NotVerified("The card declares push notifications.");
    await expectError("list_push_configs", { taskId: UNKNOWN_TASK }, "PushNotificationNotSupportedError");
  },
  async "ANY-PUSH-CONFIG"({ card, finishedTask, call, expect }) {
    requireCapability(card, "pushNotifications");
    const { id: taskId } = await finishedTask();
    // The task has ended, so that nothing is delivered. The domain is reserved for examples.
    const created = await call("create_push_config", { taskId, url: "https://example.com/colloquy-judge" });
    if (created.error) throw new NotVerified(`The server returned ${formatError(created.error)}`);
    const id = readPath(created.body, "id");
    if (typeof id !== "string") fail("The created webhook has no id.");
    const found = await expect("get_push_config", { taskId, id });
    if (readPath(found, "id") !== id) fail("The returned webhook has another id.");
    const listed = readAllPaths(await expect("list_push_configs", { taskId }), "configs[*].id");
    if (!listed.includes(id)) fail("The list lacks the webhook.");
    await expect("delete_push_config", { taskId, id });
    await expect("delete_push_config", { taskId, id });
    if (!(await call("get_push_config", { taskId, id })).error) fail("The deleted webhook is returned.");
  },
  async "ANY-EXTENDED-DENIED"({ card, expectError }) {
    if (declares(card, "extendedAgentCard")) throw new NotVerified("The card declares an extended card.");
    await expectError(
      "get_extended_agent_card",
      {},
      "UnsupportedOperationError",
      "ExtendedCardNotSupportedError",
    );
  },
  async "ANY-AUTH-REQUIRED"({ card, call }) {
    const required = readAllPaths(card, "securityRequirements[*].schemes").map((schemes) =>
      Object.keys(schemes as object),
    );
    if (required.length === 0 || required.some((names) => names.length === 0))
      throw new NotVerified("The card requires no credentials.");
    const { error, status } = await call("get_task", { id: UNKNOWN_TASK }, { token: null });
    if (!error) fail("The server accepted a request without credentials.");
    if (error.error_type === MISSING_TASK_ERROR) fail("The server looked for the task without credentials.");
    if (status >= 500) fail(`The server returned the status ${status}.`);
  },
  async "ANY-VERSION-PATCH"({ run }) {
    const patched = { ...run, context: { ...run.context, specVersion: "1.0.9" } };
    const { error } = await callOperation(patched, "get_task", { id: UNKNOWN_TASK });
    if (error?.error_type === "VersionNotSupportedError") fail("The server rejects the version 1.0.9.");
  },
  async "ANY-RPC-ID"(probe) {
    for (const id of ["judge-1", 42]) {
      const { body } = await sendEnvelope(probe, {
        jsonrpc: "2.0",
        id,
        method: "GetTask",
        params: { id: UNKNOWN_TASK },
      });
      const found = readPath(body, "id");
      if (found !== id)
        fail(
          `The response to the id ${JSON.stringify(id)} has the id ${JSON.stringify(found === MISSING ? null : found)}.`,
        );
      if (readPath(body, "jsonrpc") !== "2.0") fail("The response has no member jsonrpc with 2.0.");
    }
  },
  async "ANY-RPC-PARAMS"({ expectError }) {
    await expectError("get_task", {}, "InvalidParamsError");
  },
  async "ANY-MEDIA"({ binding, call }) {
    const type = (await call("get_task", { id: UNKNOWN_TASK })).headers["content-type"] ?? "(none)";
    const expected = binding === "rest" ? /^application\/(a2a\+|problem\+)?json\b/ : /^application\/json\b/;
    if (!expected.test(type)) fail(`The response has the content type ${type}.`);
  },
});
