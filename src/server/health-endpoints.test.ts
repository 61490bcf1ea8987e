import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { StoreStateChange } from "../engine/index.ts";
import { connect } from "../client/index.ts";
import { createServer, type ServerOptions } from "./index.ts";
import { messageCommandTestAgent, buildTestMessage, V1_JSON_TEST_HEADERS } from "./server.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-health-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function startServer(
  options: ServerOptions = {},
): Promise<{ url: string; path: string; grpcPort: number }> {
  const path = join(folder, `${crypto.randomUUID()}.db`);
  const server = createServer(messageCommandTestAgent, { store: `sqlite:${path}`, ...options });
  const { url, grpc } = await server.listen({ grpc: true });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return { url, path, grpcPort: grpc?.port ?? 0 };
}

async function get(url: string): Promise<{ status: number; body: unknown; retryAfter: string | null }> {
  const response = await fetch(url);
  const retryAfter = response.headers.get("retry-after");
  return { status: response.status, body: await response.json(), retryAfter };
}

/** Locks the database against writes like another program, and returns a function that ends the lock. */
function lockDatabase(path: string): () => void {
  const foreign = new DatabaseSync(path);
  foreign.exec("BEGIN IMMEDIATE");
  const unlock = (): void => {
    if (foreign.isOpen) foreign.close();
  };
  onTestFinished(unlock);
  return unlock;
}

const ready = { status: 200, body: { status: "ready", store: "healthy" }, retryAfter: null };
const alive = { status: 200, body: { status: "ok" }, retryAfter: null };

describe("the health endpoints", () => {
  it.each([
    ["with its default options", {}, ""],
    ["with authentication", { authenticate: () => undefined, allowUnauthenticated: false }, ""],
    ["with a base path", { basePath: "/agents" }, ""],
  ] as const)("of a server %s report that it is ready", async (_, options, suffix) => {
    const { url } = await startServer(options);
    expect(await get(`${url}${suffix}/healthz`)).toEqual(alive);
    expect(await get(`${url}${suffix}/readyz`)).toEqual(ready);
    expect((await fetch(`${url}/readyz`, { method: "POST" })).status).toBe(405);
  });

  it("do not exist if they are switched off", async () => {
    const { url } = await startServer({ healthEndpoints: false });
    expect((await fetch(`${url}/healthz`)).status).toBe(404);
    expect((await fetch(`${url}/readyz`)).status).toBe(404);
  });

  it("leave the routes of an agent and of a tenant with the same name alone", async () => {
    const server = createServer({ healthz: messageCommandTestAgent }, { store: "memory" });
    onTestFinished(() => server.close());
    const send = (path: string): Promise<Response> =>
      server.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method: "POST",
          headers: V1_JSON_TEST_HEADERS,
          body: JSON.stringify({ message: buildTestMessage("echo hi") }),
        }),
      );
    expect((await send("/a2a/healthz/message:send")).status).toBe(200);
    expect((await send("/healthz/message:send")).status).toBe(200);
  });

  it("open the store of a server that has not received a request", async () => {
    const server = createServer(messageCommandTestAgent, { store: `sqlite:${join(folder, "lazy.db")}` });
    onTestFinished(() => server.close());
    expect((await server.fetch(new Request("http://127.0.0.1/readyz"))).status).toBe(200);
  });

  it("report a store that cannot be opened, and one that is closing", async () => {
    const errors: unknown[] = [];
    const observer = { onError: ({ error }: { error: unknown }): unknown => errors.push(error) };
    const server = createServer(messageCommandTestAgent, {
      store: `sqlite:${folder}/lazy.db/no/folder.db`,
      observer,
    });
    const response = await server.fetch(new Request("http://127.0.0.1/readyz"));
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: "unavailable", store: "closed" });
    expect(errors).toHaveLength(1);
    const other = createServer(messageCommandTestAgent, { store: "memory" });
    await other.close();
    expect((await other.fetch(new Request("http://127.0.0.1/readyz"))).status).toBe(503);
  });
});

it("while another program locks the store, all bindings refuse new messages at once and serve reads [E17]", async () => {
  const changes: StoreStateChange[] = [];
  const { url, path, grpcPort } = await startServer({
    observer: { onStoreState: (change) => changes.push(change) },
  });
  const clients = {
    "HTTP+JSON": await connect(url, { binding: "HTTP+JSON", retry: { maxRetries: 0 } }),
    JSONRPC: await connect(url, { binding: "JSONRPC", retry: { maxRetries: 0 } }),
    GRPC: await connect(url, { binding: "GRPC", grpc: {}, retry: { maxRetries: 0 } }),
  };
  expect(grpcPort).toBeGreaterThan(0);
  const done = await clients.JSONRPC.send("echo before");
  const taskId = "task" in done ? done.task.id : "";
  const unlock = lockDatabase(path);
  await expect(clients.JSONRPC.send("echo first")).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  expect(changes).toMatchObject([{ previousState: "healthy", state: "failing" }]);
  expect(await get(`${url}/readyz`)).toEqual({
    status: 503,
    body: { status: "unavailable", store: "failing" },
    retryAfter: "2",
  });
  expect(await get(`${url}/healthz`)).toEqual(alive);
  const run = vi.spyOn(StatementSync.prototype, "run");
  onTestFinished(() => run.mockRestore());
  const countWrites = (): number =>
    run.mock.contexts.filter((statement) => (statement as StatementSync).sourceSQL === "BEGIN IMMEDIATE")
      .length;
  for (const client of Object.values(clients)) {
    const refusal = { reason: "UNAVAILABLE", retryAfter: 2 };
    await expect(client.send("echo refused")).rejects.toMatchObject(refusal);
    expect(await client.tasks.get(taskId)).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
  }
  const rest = await fetch(`${url}/message:send`, {
    method: "POST",
    headers: V1_JSON_TEST_HEADERS,
    body: JSON.stringify({ message: buildTestMessage("echo refused") }),
  });
  expect([rest.status, rest.headers.get("retry-after")]).toEqual([503, "2"]);
  // The server refuses the messages at once, without another attempt to write to the locked store.
  expect(countWrites()).toBe(0);
  unlock();
  await expect.poll(() => get(`${url}/readyz`)).toEqual(ready);
  expect(changes.at(-1)).toMatchObject({ previousState: "failing", state: "healthy" });
  expect(await clients.GRPC.send("echo after")).toMatchObject({
    task: { status: { state: "TASK_STATE_COMPLETED" } },
  });
  expect(countWrites()).toBeGreaterThan(0);
});
