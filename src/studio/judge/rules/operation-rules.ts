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
export const OPERATION_RULES: readonly Rule[] = [
  {
    id: "ANY-SEND-SHAPE",
    level: "must",
    name: "SendMessage returns one task or one message, with all required members",
    section: "3.1.1",
    hint: "Compare the response with SendMessageResponse, Task, and Message of A2A 1.0.",
    async check({ sample }) {
      const { reply } = await sample();
      if (reply.error) {
        if (reply.status === 401 || reply.status === 403)
          throw new NotVerified("The agent requires credentials: pass --bearer.");
        fail(`The server returned ${formatError(reply.error)}`);
      }
      raise(checkShape("SendMessageResponse", reply.body));
    },
  },
  {
    id: "ANY-SEND-BLOCKING",
    level: "must",
    name: "SendMessage waits until the task has ended or is interrupted",
    section: "3.2.2",
    hint: "Return before the end only if the configuration has returnImmediately: true.",
    async check({ sampleTask }) {
      const state = readPath(await sampleTask(), "status.state");
      if (!isEnd(state)) fail(`The response has a task in the state ${String(state)}.`);
    },
  },
  {
    id: "ANY-SEND-CONTEXT",
    level: "must",
    name: "A response has the context id that the agent generated",
    section: "3.4.1",
    hint: "Create a context id for messages without one, and return it in the task or message.",
    async check({ sample }) {
      const { reply, task } = await sample();
      if (reply.error) throw new NotVerified(`The agent answers with ${formatError(reply.error)}`);
      if (!task) throw new NotVerified("The agent answers with a message, not a task.");
      if (typeof task["contextId"] !== "string" || task["contextId"] === "")
        fail("The task has no contextId.");
    },
  },
  {
    id: "ANY-SEND-ROLE",
    level: "must",
    name: "The agent's messages have the role ROLE_AGENT",
    section: "4.1.5",
    hint: "Set the role of status messages and of direct replies.",
    async check({ sample }) {
      const { reply } = await sample();
      if (reply.error) throw new NotVerified(`The agent answers with ${formatError(reply.error)}`);
      const roles = [
        readPath(reply.body, "message.role"),
        readPath(reply.body, "task.status.message.role"),
      ].filter((role) => role !== MISSING);
      if (roles.length === 0) throw new NotVerified("The response has no message of the agent.");
      if (roles.some((role) => role !== "ROLE_AGENT")) fail(`A message has the role ${roles.join(", ")}.`);
    },
  },
  {
    id: "ANY-SEND-UNKNOWN-MEMBER",
    level: "should",
    name: "The server ignores members that it does not know",
    section: "5.7",
    hint: "Decode requests without rejecting additional members.",
    bindings: ["jsonrpc", "rest"],
    async check({ createMessage, call }) {
      // The task does not exist, so that the message starts no work.
      const message = createMessage({ taskId: UNKNOWN_TASK, colloquyJudge: { unknown: true } });
      const { error } = await call("send_message", message);
      if (error && error.error_type !== MISSING_TASK_ERROR) fail(`The server returned ${formatError(error)}`);
    },
  },
  {
    id: "ANY-GET-SAME",
    level: "must",
    name: "GetTask returns the state and the artifacts that the response had",
    section: "3.1.3",
    hint: "Store the task before you respond, and read it from the same store.",
    async check({ finishedTask, expect }) {
      const task = await finishedTask();
      const found = await expect("get_task", { id: task.id });
      raise(checkShape("Task", found));
      for (const path of ["id", "contextId", "status.state"])
        if (readPath(found, path) !== readPath(task, path))
          fail(`${path} is ${String(readPath(found, path))} instead of ${String(readPath(task, path))}.`);
      if (countArtifacts(found) !== countArtifacts(task))
        fail(`The task has ${countArtifacts(found)} artifacts instead of ${countArtifacts(task)}.`);
    },
  },
  {
    id: "ANY-GET-HISTORY",
    level: "must",
    name: "GetTask returns at most historyLength messages, and none for 0",
    section: "3.2.4",
    hint: "Return the last historyLength messages of the history.",
    async check({ sampleTask, expect }) {
      const { id } = await sampleTask();
      for (const historyLength of [0, 1]) {
        const found = await expect("get_task", { id, historyLength });
        const { length } = readAllPaths(found, "history[*]");
        if (length > historyLength) fail(`historyLength ${historyLength} returns ${length} messages.`);
      }
    },
  },
  {
    id: "ANY-LIST-SHAPE",
    level: "must",
    name: "ListTasks returns the task of the context, with page members",
    section: "3.1.4",
    hint: "Return tasks, nextPageToken (empty on the last page), pageSize, and totalSize.",
    async check(probe) {
      const { id } = await probe.sampleTask();
      const list = await listContext(probe);
      const { tasks, nextPageToken } = list;
      if (!isList(tasks)) fail("The response has no list of tasks.");
      if (typeof nextPageToken !== "string") fail("The response has no nextPageToken.");
      for (const [at, task] of tasks.entries()) raise(checkShape("Task", task, `tasks[${at}]`));
      if (!tasks.some((task) => getMember(task, "id") === id)) fail("The list lacks the task.");
    },
  },
  {
    id: "ANY-LIST-ARTIFACTS",
    level: "must",
    name: "ListTasks omits artifacts unless the caller asks for them",
    section: "3.1.4",
    hint: "Remove artifacts from listed tasks if includeArtifacts is not true.",
    async check(probe) {
      const list = await listContext(probe);
      if (readAllPaths(list, "tasks[*].artifacts[*]").length > 0) fail("The listed tasks have artifacts.");
    },
  },
  {
    id: "ANY-LIST-PAGE",
    level: "must",
    name: "ListTasks returns at most pageSize tasks, newest first",
    section: "3.1.4",
    hint: "Sort by the timestamp of the status in descending order, and apply pageSize.",
    async check(probe) {
      await probe.sampleTask();
      const page = (await probe.expect("list_tasks", { pageSize: 2 })) as JsonMap;
      const { tasks } = page;
      if (!isList(tasks)) fail("The response has no list of tasks.");
      if (tasks.length > 2) fail(`A page of 2 tasks has ${tasks.length} tasks.`);
      const times = readAllPaths(page, "tasks[*].status.timestamp").map((time) => Date.parse(String(time)));
      if ((times[1] ?? 0) > (times[0] ?? Infinity))
        fail("The first task of the page is older than the second.");
    },
  },
  {
    id: "ANY-LIST-SIZE",
    level: "must",
    name: "ListTasks rejects a negative page size",
    section: "3.1.4",
    hint: "Accept page sizes from 1 to 100, and reject others as invalid parameters.",
    bindings: ["jsonrpc"],
    async check({ sampleTask, expectError }) {
      await sampleTask();
      await expectError("list_tasks", { pageSize: -1 }, "InvalidParamsError");
    },
  },
  {
    id: "ANY-SEND-TERMINAL",
    level: "must",
    name: "A message to an ended task is an UnsupportedOperationError",
    section: "3.1.1",
    hint: "Reject messages to tasks in a terminal state.",
    async check({ finishedTask, createMessage, expectError }) {
      const { id } = await finishedTask();
      await expectError("send_message", createMessage({ taskId: id }), "UnsupportedOperationError");
    },
  },
  {
    id: "ANY-SEND-MISSING-TASK",
    level: "must",
    name: "A message to a task that does not exist is a TaskNotFoundError",
    section: "3.4.2",
    hint: "Do not create a task with an id that a client chose.",
    async check({ createMessage, expectError }) {
      await expectError("send_message", createMessage({ taskId: UNKNOWN_TASK }), MISSING_TASK_ERROR);
    },
  },
  {
    id: "ANY-SEND-CONTEXT-MISMATCH",
    level: "must",
    name: "A message whose context id is not that of its task is rejected",
    section: "3.4.3",
    hint: "Compare the context id of the message with that of the task.",
    async check({ sampleTask, createMessage, call }) {
      const { id } = await sampleTask();
      const reply = await call("send_message", createMessage({ taskId: id, contextId: UNKNOWN_TASK }));
      if (!reply.error) fail("The server accepted the message.");
    },
  },
  {
    id: "ANY-SEND-NO-PARTS",
    level: "must",
    name: "A message without parts is rejected as invalid",
    section: "3.3.2",
    hint: "Validate requests before you process them.",
    async check({ createMessage, call, binding }) {
      const { error, status } = await call("send_message", createMessage({ parts: [] }));
      if (!error) fail("The server accepted a message without parts.");
      if (binding === "jsonrpc" && error.error_type !== "InvalidParamsError")
        fail(`The server returned ${formatError(error)}`);
      if (status >= 500) fail(`The server returned the status ${status}, which blames the server.`);
    },
  },
  {
    id: "ANY-CANCEL-TERMINAL",
    level: "must",
    name: "Canceling an ended task is a TaskNotCancelableError",
    section: "3.1.5",
    hint: "Check the state of the task before you cancel it.",
    async check({ finishedTask, expectError }) {
      const { id } = await finishedTask();
      await expectError("cancel_task", { id }, "TaskNotCancelableError");
    },
  },
  {
    id: "ANY-PUSH-DENIED",
    level: "must",
    name: "Without the capability, operations on webhooks are PushNotificationNotSupportedErrors",
    section: "3.3.4",
    hint: "Declare pushNotifications, or reject the operation.",
    async check({ card, expectError }) {
      if (declares(card, "pushNotifications")) throw new NotVerified("The card declares push notifications.");
      await expectError("list_push_configs", { taskId: UNKNOWN_TASK }, "PushNotificationNotSupportedError");
    },
  },
  {
    id: "ANY-PUSH-CONFIG",
    level: "must",
    name: "A webhook is created, returned, listed, and deleted",
    section: "3.1.7–3.1.10",
    hint: "Store the webhook under its id, and answer a second deletion without an error.",
    async check({ card, finishedTask, call, expect }) {
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
  },
  {
    id: "ANY-EXTENDED-DENIED",
    level: "must",
    name: "Without the capability, GetExtendedAgentCard is an UnsupportedOperationError",
    section: "3.3.4",
    hint: "Declare extendedAgentCard, or reject the operation.",
    async check({ card, expectError }) {
      if (declares(card, "extendedAgentCard")) throw new NotVerified("The card declares an extended card.");
      await expectError(
        "get_extended_agent_card",
        {},
        "UnsupportedOperationError",
        "ExtendedCardNotSupportedError",
      );
    },
  },
  {
    id: "ANY-AUTH-REQUIRED",
    level: "must",
    name: "A request without the required credentials is rejected",
    section: "7.4",
    hint: "Check the credentials of every request before the operation.",
    async check({ card, call }) {
      const required = readAllPaths(card, "securityRequirements[*].schemes").map((schemes) =>
        Object.keys(schemes as object),
      );
      if (required.length === 0 || required.some((names) => names.length === 0))
        throw new NotVerified("The card requires no credentials.");
      const { error, status } = await call("get_task", { id: UNKNOWN_TASK }, { token: null });
      if (!error) fail("The server accepted a request without credentials.");
      if (error.error_type === MISSING_TASK_ERROR)
        fail("The server looked for the task without credentials.");
      if (status >= 500) fail(`The server returned the status ${status}.`);
    },
  },
  {
    id: "ANY-VERSION-PATCH",
    level: "must",
    name: "The patch number of a version does not affect the negotiation",
    section: "3.6",
    hint: "Compare only the major and the minor number of A2A-Version.",
    bindings: ["jsonrpc"],
    async check({ run }) {
      const patched = { ...run, context: { ...run.context, specVersion: "1.0.9" } };
      const { error } = await callOperation(patched, "get_task", { id: UNKNOWN_TASK });
      if (error?.error_type === "VersionNotSupportedError") fail("The server rejects the version 1.0.9.");
    },
  },
  {
    id: "ANY-RPC-ID",
    level: "must",
    name: "A JSON-RPC response has the id of its request, as text or number, and the member jsonrpc",
    section: "9.1",
    hint: 'Return the id unchanged, and jsonrpc: "2.0".',
    bindings: ["jsonrpc"],
    async check(probe) {
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
  },
  {
    id: "ANY-RPC-PARAMS",
    level: "must",
    name: "A request without required parameters is an InvalidParamsError",
    section: "9.5",
    hint: "Reject missing parameters with the code -32602.",
    bindings: ["jsonrpc"],
    async check({ expectError }) {
      await expectError("get_task", {}, "InvalidParamsError");
    },
  },
  {
    id: "ANY-MEDIA",
    level: "must",
    name: "Responses have a JSON media type",
    section: "9.1, 11.1",
    hint: "JSON-RPC: application/json. HTTP+JSON: application/a2a+json or application/json.",
    bindings: ["jsonrpc", "rest"],
    async check({ binding, call }) {
      const type = (await call("get_task", { id: UNKNOWN_TASK })).headers["content-type"] ?? "(none)";
      const expected = binding === "rest" ? /^application\/(a2a\+|problem\+)?json\b/ : /^application\/json\b/;
      if (!expected.test(type)) fail(`The response has the content type ${type}.`);
    },
  },
];
