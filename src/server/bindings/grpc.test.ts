import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Agent } from "../../engine/index.ts";
import { A2AError, type AgentInterface, type JsonObject, type Task } from "../../protocol/index.ts";
import { JsonGrpcTestClient, readGrpcTestStream } from "./json-grpc-test-client.fixture.ts";
import { createServer, type GrpcOptions, type Server, type ServerOptions } from "../index.ts";
import { buildTestMessage, messageCommandTestAgent } from "../server.fixture.ts";

let server: Server;
let client: JsonGrpcTestClient;
/** Address of the gRPC listener. */
let grpcAddress: string;

async function startServer(
  options: ServerOptions = {},
  agents: Agent | Record<string, Agent> = messageCommandTestAgent,
  grpc: boolean | GrpcOptions = true,
): Promise<JsonGrpcTestClient> {
  server = createServer(agents, { store: "memory", ...options });
  const { port = 0 } = (await server.listen({ grpc })).grpc ?? {};
  grpcAddress = `127.0.0.1:${port}`;
  client = new JsonGrpcTestClient(port);
  return client;
}

beforeEach(async () => void (await startServer()));
afterEach(async () => {
  client.close();
  await server.close({ graceMs: 50 });
});

/** Replaces the default server with one that has other options. */
async function restartServer(...args: Parameters<typeof startServer>): Promise<JsonGrpcTestClient> {
  client.close();
  await server.close({ graceMs: 50 });
  return startServer(...args);
}

async function createTask(text: string, to: JsonGrpcTestClient = client): Promise<Task> {
  const { answer } = await to.callUnary("SendMessage", { message: buildTestMessage(text) });
  return (answer as unknown as { task: Task }).task;
}

describe("a server, over gRPC", () => {
  it("performs each operation [E-01, F-01, F-30, F-32, F-40]", async () => {
    const { id, contextId } = await createTask("echo hello");
    expect((await client.callUnary("GetTask", { id })).answer).toMatchObject({
      id,
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "hello" }] }],
    });
    expect((await client.callUnary("ListTasks", { contextId })).answer).toMatchObject({
      tasks: [{ id }],
      totalSize: 1,
      pageSize: 50,
    });
    const asking = await createTask("ask");
    expect((await client.callUnary("CancelTask", { id: asking.id })).answer).toMatchObject({
      status: { state: "TASK_STATE_CANCELED" },
    });
  });

  it("stores push configurations [E-01, I-01, I-03]", async () => {
    await restartServer({ push: { allowPrivate: true, resolve: () => Promise.resolve(["127.0.0.1"]) } });
    const { id: taskId } = await createTask("ask");
    const config = { taskId, id: "c", url: "https://hooks.example.com/a", token: "t" };
    const created = await client.callUnary("CreateTaskPushNotificationConfig", config);
    expect(created.answer).toEqual(config);
    expect((await client.callUnary("GetTaskPushNotificationConfig", { taskId, id: "c" })).answer).toEqual(
      config,
    );
    const listed = await client.callUnary("ListTaskPushNotificationConfigs", { taskId });
    expect(listed.answer).toEqual({ configs: [config] });
    const deleted = await client.callUnary("DeleteTaskPushNotificationConfig", { taskId, id: "c" });
    expect(deleted).toMatchObject({ answer: {} });
    await restartServer({ push: false });
    expect((await client.callUnary("ListTaskPushNotificationConfigs", { taskId })).ended).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    });
  });

  it("returns the extended card to authenticated callers, with the URLs of the request [E-01]", async () => {
    const secretive: Agent = {
      ...messageCommandTestAgent,
      describeExtended: () => ({ description: "Repeats, and more." }),
    };
    await restartServer(
      { authenticate: ({ header }) => ({ tenant: "", principal: header("x-user") ?? "" }) },
      secretive,
    );
    const known = await client.callUnary("GetExtendedAgentCard", {}, { "x-user": "alice" });
    expect(known.answer).toMatchObject({ description: "Repeats, and more." });
    const interfaces = known.answer?.["supportedInterfaces"] as unknown as AgentInterface[];
    const urlOf = (binding: string): string =>
      interfaces.find(({ protocolBinding }) => protocolBinding === binding)?.url ?? "";
    expect(urlOf("GRPC")).toBe(grpcAddress);
    expect((await fetch(`${urlOf("JSONRPC")}/.well-known/agent-card.json`)).status).toBe(200);
    expect((await client.callUnary("GetExtendedAgentCard", {})).ended?.code).toBe("UNAUTHENTICATED");
  });

  it("streams a message's events, and ends with them [E-04, G-01, G-02, G-07]", async () => {
    await restartServer({ mergeChunks: false });
    const stream = client.openStream("SendStreamingMessage", { message: buildTestMessage("chunks 3") });
    const { events, ended } = await readGrpcTestStream(stream);
    expect(ended).toBeUndefined();
    expect(events.map((event) => Object.keys(event)[0])).toEqual([
      "task",
      "statusUpdate",
      "artifactUpdate",
      "artifactUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });

  it("infers the version, and rejects any other [E-02, B-03]", async () => {
    expect((await client.callUnary("ListTasks", {})).ended).toBeUndefined();
    expect((await client.callUnary("ListTasks", {}, { "a2a-version": "1.0.7" })).ended).toBeUndefined();
    for (const version of ["0.3", "2.0", "x"]) {
      expect((await client.callUnary("ListTasks", {}, { "a2a-version": version })).ended).toMatchObject({
        code: "FAILED_PRECONDITION",
        reason: "VERSION_NOT_SUPPORTED",
      });
    }
  });

  it("lists active extensions in the initial metadata [E-02, J-02]", async () => {
    const extensions = [{ uri: "urn:known" }];
    await restartServer(
      {},
      {
        ...messageCommandTestAgent,
        describe: () => ({ name: "p", description: "p", capabilities: { extensions } }),
      },
    );
    const extensionHeaders = { "a2a-extensions": "urn:known, urn:unknown" };
    const { headers } = await client.callUnary("ListTasks", {}, extensionHeaders);
    expect(headers?.get("a2a-extensions")).toEqual(["urn:known"]);
    const stream = client.openStream(
      "SendStreamingMessage",
      { message: buildTestMessage("echo") },
      extensionHeaders,
    );
    const [metadata] = (await once(stream, "metadata")) as [{ get(name: string): unknown }];
    expect(metadata.get("a2a-extensions")).toEqual(["urn:known"]);
    await readGrpcTestStream(stream);
  });

  it("returns errors with a status and an ErrorInfo [E-03, 1.L]", async () => {
    const { ended } = await client.callUnary("GetTask", { id: "nope" });
    expect(ended).toEqual({
      code: "NOT_FOUND",
      message: "Task nope was not found; check its id and your credentials.",
      reason: "TASK_NOT_FOUND",
      domain: "a2a-protocol.org",
      metadata: { taskId: "nope" },
      detailTypes: ["type.googleapis.com/google.rpc.ErrorInfo"],
    });
    const { id } = await createTask("echo");
    expect((await client.callUnary("CancelTask", { id })).ended).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "TASK_NOT_CANCELABLE",
    });
    const refused = await readGrpcTestStream(client.openStream("SubscribeToTask", { id }));
    expect(refused).toMatchObject({
      events: [],
      ended: { code: "FAILED_PRECONDITION", reason: "UNSUPPORTED_OPERATION" },
    });
    expect((await client.callUnary("GetExtendedAgentCard", {})).ended).toMatchObject({
      code: "FAILED_PRECONDITION",
      reason: "UNSUPPORTED_OPERATION",
    });
  });

  it("uses the status table of 1.0.0 when configured [E-03]", async () => {
    await restartServer({ specRevision: "1.0.0" });
    expect((await client.callUnary("ListTasks", {}, { "a2a-version": "9.9" })).ended?.code).toBe(
      "UNIMPLEMENTED",
    );
  });

  it("lists invalid fields in a BadRequest [E-03, F-10]", async () => {
    const { ended } = await client.callUnary("SendMessage", { message: { role: "ROLE_AGENT", parts: [] } });
    expect(ended).toMatchObject({
      code: "INVALID_ARGUMENT",
      detailTypes: ["type.googleapis.com/google.rpc.BadRequest"],
    });
    expect(ended?.message).toMatch(/^message\.role: must be ROLE_USER .* \(and 2 more\)$/);
  });

  it("limits a long list of violations to the size of a trailer [E-03]", async () => {
    const parts = Array.from({ length: 5_000 }, () => ({}));
    const { ended } = await client.callUnary("SendMessage", {
      message: { messageId: "m", role: "ROLE_USER", parts },
    });
    expect(ended).toMatchObject({
      code: "INVALID_ARGUMENT",
      detailTypes: ["type.googleapis.com/google.rpc.BadRequest"],
    });
  });

  it("reports internal errors to the observer, not to the client [E-03]", async () => {
    const errors: unknown[] = [];
    await restartServer({
      observer: { onError: ({ error }) => void errors.push(error) },
      authenticate: () => {
        throw new Error("secret");
      },
    });
    const { ended } = await client.callUnary("ListTasks", {});
    expect(ended).toMatchObject({ code: "INTERNAL" });
    expect(JSON.stringify(ended)).not.toContain("secret");
    expect(errors).toMatchObject([{ message: "secret" }]);
  });
});

describe("a gRPC client", () => {
  it("authenticates with metadata, or is rejected [E-02, E-05, M-01]", async () => {
    const seen: unknown[] = [];
    await restartServer({
      authenticate({ method, path, header, remoteAddress }) {
        seen.push([method, path, remoteAddress]);
        if (header("Authorization") === "Bearer bad") throw new A2AError("PERMISSION_DENIED", "Not you.");
        return header("authorization") === "Bearer good" ? { tenant: "", principal: "alice" } : undefined;
      },
    });
    const as = async (token?: string): Promise<string | undefined> =>
      (await client.callUnary("ListTasks", {}, token ? { authorization: `Bearer ${token}` } : {})).ended
        ?.code;
    expect([await as(), await as("bad"), await as("good")]).toEqual([
      "UNAUTHENTICATED",
      "PERMISSION_DENIED",
      undefined,
    ]);
    expect(seen[0]).toEqual(["POST", "/lf.a2a.v1.A2AService/ListTasks", "127.0.0.1"]);
    const stream = await readGrpcTestStream(
      client.openStream("SendStreamingMessage", { message: buildTestMessage("echo") }),
    );
    expect(stream).toMatchObject({ events: [], ended: { code: "UNAUTHENTICATED" } });
  });

  it("can access only its own tasks [M-02, M-04]", async () => {
    await restartServer({
      authenticate: ({ header }) => ({ tenant: "", principal: header("x-user") ?? "unknown" }),
    });
    const alice = { "x-user": "alice" };
    const sent = await client.callUnary("SendMessage", { message: buildTestMessage("echo") }, alice);
    const { id } = (sent.answer as unknown as { task: Task }).task;
    expect((await client.callUnary("GetTask", { id }, alice)).answer).toMatchObject({ id });
    const bob = await client.callUnary("GetTask", { id }, { "x-user": "bob" });
    const none = await client.callUnary("GetTask", { id: "none" }, { "x-user": "bob" });
    expect(JSON.stringify(bob.ended).replaceAll(id, "none")).toBe(JSON.stringify(none.ended));
    expect((await client.callUnary("ListTasks", {}, { "x-user": "bob" })).answer).toMatchObject({
      pageSize: 50,
    });
    expect((await client.callUnary("ListTasks", {}, { "x-user": "bob" })).answer).not.toHaveProperty("tasks");
  });

  it("can disconnect: the task continues and remains available [E-04, E2, F-19]", async () => {
    const stream = client.openStream("SendStreamingMessage", { message: buildTestMessage("wait") });
    const [first] = (await once(stream, "data")) as [{ task: Task }];
    const { id } = first.task;
    stream.cancel();
    expect((await readGrpcTestStream(stream)).ended?.code).toBe("CANCELLED");
    expect((await client.callUnary("GetTask", { id })).answer).toMatchObject({
      status: { state: "TASK_STATE_WORKING" },
    });
    const back = client.openStream("SubscribeToTask", { id });
    const reading = readGrpcTestStream(back);
    await once(back, "metadata");
    await client.callUnary("CancelTask", { id });
    const { events } = await reading;
    expect(events[0]).toMatchObject({ task: { id } });
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_CANCELED" } } });
  });

  it("can have a deadline, which ends the call but not the task [E-05]", async () => {
    const sent = buildTestMessage("wait", { contextId: "late" });
    const { ended } = await client.callUnary(
      "SendMessage",
      { message: sent },
      {},
      { deadline: Date.now() + 100 },
    );
    expect(ended?.code).toBe("DEADLINE_EXCEEDED");
    const { answer } = await client.callUnary("ListTasks", { contextId: "late" });
    expect(answer).toMatchObject({ tasks: [{ status: { state: "TASK_STATE_WORKING" } }] });
  });

  it("resumes after an event id, which must exist [E4]", async () => {
    const opened = client.openStream("SendStreamingMessage", { message: buildTestMessage("wait") });
    const [first] = (await once(opened, "data")) as [{ task: Task }];
    const { id } = first.task;
    const resumed = client.openStream("SubscribeToTask", { id }, { "last-event-id": "1" });
    const [next] = (await once(resumed, "data")) as [JsonObject];
    expect(next).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_WORKING" } } });
    await client.callUnary("CancelTask", { id });
    await Promise.all([readGrpcTestStream(opened), readGrpcTestStream(resumed)]);
    const wrong = await readGrpcTestStream(
      client.openStream("SubscribeToTask", { id }, { "last-event-id": "x" }),
    );
    expect(wrong.ended?.code).toBe("INVALID_ARGUMENT");
  });

  it("is rejected with an invalid or too large message, and the server continues [E-05, E14]", async () => {
    await restartServer({ limits: { maxBodyBytes: 2_000 } });
    const cut = await client.callUnary("GetTask", new Uint8Array([0x12, 0x7f, 0x41]));
    expect(cut.ended).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(cut.ended?.message).toMatch(/^The request is not a GetTaskRequest message \(.+\); encode it with/);
    const noUtf8 = await client.callUnary("GetTask", new Uint8Array([0x12, 0x02, 0xc3, 0x28]));
    expect(noUtf8.ended?.code).toBe("INVALID_ARGUMENT");
    const large = await client.callUnary("SendMessage", { message: buildTestMessage("x".repeat(3_000)) });
    expect(large.ended?.code).toBe("RESOURCE_EXHAUSTED");
    expect((await createTask("echo still here")).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("is rejected with too many fields, also unknown and nested ones, and the server continues", async () => {
    await restartServer({ limits: { maxJsonValues: 100 } });
    const items = Array.from({ length: 200 }, () => 0);
    const nested = await client.callUnary("SendMessage", {
      message: buildTestMessage("echo", { metadata: { items } }),
    });
    expect(nested.ended).toMatchObject({ code: "RESOURCE_EXHAUSTED", reason: "PAYLOAD_TOO_LARGE" });
    const unknown = await client.callUnary("GetTask", new Uint8Array(402).fill(0x78));
    expect(unknown.ended).toMatchObject({ code: "RESOURCE_EXHAUSTED", reason: "PAYLOAD_TOO_LARGE" });
    expect(unknown.ended?.message).toContain("more than 200 protobuf fields");
    expect((await createTask("echo still here")).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("receives valid UTF-8 when an error message is truncated [E-03, E-05]", async () => {
    for (const before of ["", "x"]) {
      const id = "t";
      const message = before + "😀".repeat(450);
      await restartServer({
        authenticate: () => {
          throw new A2AError("PERMISSION_DENIED", message);
        },
      });
      const expected = { code: "PERMISSION_DENIED" };
      const { ended } = await client.callUnary("GetTask", { id }, {}, { deadline: Date.now() + 5_000 });
      expect(ended).toMatchObject(expected);
      expect(ended?.message).toMatch(/^x?(?:😀){150,250}…$/u);
      expect((await readGrpcTestStream(client.openStream("SubscribeToTask", { id }))).ended).toMatchObject(
        expected,
      );
    }
  });

  it("selects an agent other than the first by the tenant in its card [E13, K-01]", async () => {
    const other: Agent = {
      ...messageCommandTestAgent,
      describe: () => ({ name: "other", description: "other" }),
    };
    await restartServer({}, { parrot: messageCommandTestAgent, other });
    const sent = await client.callUnary("SendMessage", {
      message: buildTestMessage("echo"),
      tenant: "other",
    });
    const { id } = (sent.answer as unknown as { task: Task }).task;
    expect((await client.callUnary("GetTask", { id, tenant: "other" })).answer).toMatchObject({ id });
    expect((await client.callUnary("GetTask", { id })).ended?.reason).toBe("TASK_NOT_FOUND");
    expect((await client.callUnary("GetTask", { id, tenant: "other/acme" })).ended?.reason).toBe(
      "TASK_NOT_FOUND",
    );
    const own = await client.callUnary("SendMessage", { message: buildTestMessage("echo"), tenant: "acme" });
    const { id: ours } = (own.answer as unknown as { task: Task }).task;
    expect((await client.callUnary("GetTask", { id: ours, tenant: "acme" })).answer).toMatchObject({
      id: ours,
    });
    expect((await client.callUnary("GetTask", { id: ours })).ended?.reason).toBe("TASK_NOT_FOUND");
  });
});

describe("a server with a gRPC listener", () => {
  it("lists it in its cards, with host and port [A-06]", async () => {
    client.close();
    await server.close();
    server = createServer(
      { parrot: messageCommandTestAgent, other: messageCommandTestAgent },
      { store: "memory" },
    );
    const early = await server.fetch(new Request("http://127.0.0.1:1/.well-known/agent-card.json"));
    expect(await early.text()).not.toContain("GRPC");
    const { agents, grpc } = await server.listen({ grpc: true });
    client = new JsonGrpcTestClient(grpc?.port ?? 0);
    const interfaces = await Promise.all(
      agents.map(async ({ cardUrl }) => {
        const card = (await (await fetch(cardUrl)).json()) as { supportedInterfaces: JsonObject[] };
        return card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === "GRPC");
      }),
    );
    const v1Interface = { url: `127.0.0.1:${grpc?.port}`, protocolBinding: "GRPC", protocolVersion: "1.0" };
    const v0_3Interface = { ...v1Interface, protocolVersion: "0.3" };
    expect(interfaces).toEqual([[v1Interface, v0_3Interface], [{ ...v1Interface, tenant: "other" }]]);
    const headers = { host: "localhost:1" };
    const byName = await server.fetch(
      new Request(`http://localhost:1/.well-known/agent-card.json`, { headers }),
    );
    expect(await byName.text()).toContain(`"url":"localhost:${grpc?.port}"`);
  });

  it("lists its public address", async () => {
    await restartServer({ publicUrl: "https://agents.example.com" }, messageCommandTestAgent, {
      publicAddress: "agents.example.com:443",
    });
    const card = await server.fetch(
      new Request("https://agents.example.com/.well-known/agent-card.json", {
        headers: { host: "agents.example.com" },
      }),
    );
    expect(await card.text()).toContain(`"url":"agents.example.com:443"`);
  });

  it("does not listen beyond loopback without authentication", async () => {
    const open = createServer(messageCommandTestAgent, { store: "memory" });
    await expect(open.listen({ grpc: { host: "0.0.0.0" } })).rejects.toThrow(/allowUnauthenticated: true/);
    await open.close();
  });

  it("names a port that is in use", async () => {
    client.close();
    await server.close();
    server = createServer(messageCommandTestAgent, { store: "memory" });
    const port = (await server.listen({ grpc: true })).grpc?.port;
    const second = createServer(messageCommandTestAgent, { store: "memory" });
    await expect(second.listen({ grpc: { port: port ?? 0 } })).rejects.toThrow(
      new RegExp(
        `^The gRPC listener failed to start on 127\\.0\\.0\\.1:${port} \\(.*EADDRINUSE.*\\); choose another port\\.$`,
      ),
    );
    await second.close();
  });

  it("ends its streams between two events with an error when it closes [E-04]", async () => {
    const { id } = await createTask("ask");
    const subscribed = client.openStream("SubscribeToTask", { id });
    await once(subscribed, "data");
    const waiting = client.openStream("SendStreamingMessage", { message: buildTestMessage("wait") });
    await once(waiting, "data");
    const reading = [readGrpcTestStream(subscribed), readGrpcTestStream(waiting)];
    await server.close({ graceMs: 500 });
    const [cut, ended] = await Promise.all(reading);
    expect(cut?.ended).toMatchObject({ code: "UNAVAILABLE", reason: "UNAVAILABLE" });
    expect(ended?.ended).toBeUndefined();
    expect(ended?.events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_FAILED" } } });
  });
});
