import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempFolder } from "../../../test/support/store-factories.ts";
import { agent } from "../../agents/adapters/index.ts";
import { connect, type A2AClient } from "../../client/index.ts";
import { createServer, readMaintenanceAddress, type Server, type ServerOptions } from "../../server/index.ts";
import { buildTestMessage, messageCommandTestAgent } from "../../server/server.fixture.ts";
import { runCliInTestProcess, type CliTestProcessResult } from "../cli-test-process.fixture.ts";
import { expectFileMode, isWindows } from "../../../test/support/is-windows.ts";

describe("colloquy store", () => {
  let folder: string;
  let remove: () => Promise<void>;
  let file: string;
  let server: Server | undefined;

  beforeEach(async () => {
    ({ folder, remove } = await createTempFolder());
    file = join(folder, "tasks.db");
  });

  afterEach(async () => {
    await stopServer();
    await remove();
  });

  async function startServer(options: Partial<ServerOptions> = {}): Promise<A2AClient> {
    server = createServer({ parrot: messageCommandTestAgent }, { store: `sqlite:${file}`, ...options });
    return await connect((await server.listen()).url);
  }

  async function stopServer(): Promise<void> {
    await server?.close({ graceMs: 50 });
    server = undefined;
  }

  async function send(client: A2AClient, text: string, more: object = {}): Promise<string> {
    const response = await client.send(buildTestMessage(text, more) as never);
    return "task" in response ? response.task.id : "";
  }

  const runStore = (...args: string[]): Promise<CliTestProcessResult> =>
    runCliInTestProcess(["store", ...args, "--store", `sqlite:${file}`]);
  async function runStoreJson(...args: string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await runStore(...args, "-o", "json");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    return JSON.parse(out) as Record<string, unknown>;
  }

  it("info shows the size and the server process, with and without a server", async () => {
    await send(await startServer(), "echo hello");
    const info = await runStoreJson("info");
    expect(info).toMatchObject({ file, serverProcess: process.pid, state: "healthy" });
    expect(info["usedBytes"]).toBeGreaterThan(4096);
    await stopServer();
    expect(await runStoreJson("info")).toMatchObject({ serverProcess: null, state: null });
  });

  it("info shows that the store is failing while another program has locked the file", async () => {
    server = createServer({ parrot: messageCommandTestAgent }, { store: `sqlite:${file}` });
    const client = await connect((await server.listen()).url, { retry: { maxRetries: 0 } });
    const other = new DatabaseSync(file);
    other.exec("BEGIN IMMEDIATE");
    await expect(send(client, "echo hello")).rejects.toThrow("cannot store messages");
    expect(await runStoreJson("info")).toMatchObject({ state: "failing" });
    other.exec("ROLLBACK");
    other.close();
    await expect.poll(() => runStoreJson("info")).toMatchObject({ state: "healthy" });
  });

  it("sweep applies the server's retention policy, and is refused without a server", async () => {
    const client = await startServer({
      retention: { keepTasksMs: 1, keepEventsMs: 1, sweepIntervalMs: 2 ** 30 },
    });
    await send(client, "echo hello");
    await expect.poll(() => runStoreJson("sweep")).toMatchObject({ deletedTasks: 1 });
    expect((await client.tasks.list()).totalSize).toBe(0);
    await stopServer();
    const { code, err } = await runStore("sweep");
    expect(code).toBe(3);
    expect(err).toContain("Only the server knows its retention policy");
  });

  it("backup copies the store while its server works", async () => {
    const client = await startServer();
    const id = await send(client, "ask");
    const target = join(folder, "copy.db");
    expect(await runStoreJson("backup", target)).toMatchObject({ file: target, keyFile: `${file}.key` });
    expectFileMode(target, 0o600);
    expect(existsSync(`${target}.incomplete`)).toBe(false);
    await send(client, "echo later");
    await stopServer();
    file = target;
    const restored = await startServer();
    expect((await restored.tasks.list()).tasks.map((task) => task.id)).toEqual([id]);
    expect(await send(restored, "echo answer", { taskId: id })).toBe(id);
  });

  it("backup does not overwrite a file", async () => {
    await send(await startServer(), "echo hello");
    const target = join(folder, "precious.txt");
    writeFileSync(target, "precious");
    expect(await runStore("backup", target)).toMatchObject({ code: 2, out: "" });
    expect(readFileSync(target, "utf8")).toBe("precious");
  });

  it.each(["with", "without"])("compact shrinks the file %s a running server", async (mode) => {
    const client = await startServer();
    for (let n = 0; n < 20; n++) await send(client, `echo ${"x".repeat(100_000)}`);
    const full = (await runStoreJson("info"))["usedBytes"] as number;
    expect(full).toBeGreaterThan(2_000_000);
    expect(await runStoreJson("erase", "--principal", "")).toEqual({ erasedTasks: 20 });
    if (mode === "without") await stopServer();
    expect(await runStoreJson("compact")).toMatchObject({ freeBytes: 0 });
    expect(statSync(file).size).toBeLessThan(200_000);
  });

  it.each(["with", "without"])(
    "erase deletes tasks and overwrites their content %s a running server",
    async (mode) => {
      // The name of the record that `colloquy dev` writes.
      const record = `${file}-record.jsonl`;
      const client = await startServer({ record });
      const secret = `secret-${crypto.randomUUID()}`;
      await send(client, `echo ${secret} ${"x".repeat(50_000)}`);
      const other = await send(client, "echo other");
      const isInFiles = (): boolean =>
        [file, `${file}-wal`, record].some((path) => existsSync(path) && readFileSync(path).includes(secret));
      expect(isInFiles()).toBe(true);
      const [task] = (await client.tasks.list()).tasks.filter(({ id }) => id !== other);
      if (mode === "without") await stopServer();
      expect(await runStoreJson("erase", "--task", task?.id ?? "")).toEqual({ erasedTasks: 1 });
      expect(isInFiles()).toBe(false);
      if (mode === "with") expect((await client.tasks.list()).tasks.map(({ id }) => id)).toEqual([other]);
    },
  );

  it("erase overwrites deleted events and replaced snapshots of the tasks", async () => {
    const secret = `secret-${crypto.randomUUID()}`;
    const writer = agent({ name: "writer", description: "Writes" }, async function* () {
      for (let n = 0; n < 100; n++) {
        yield `${secret} `.repeat(100);
        await new Promise(setImmediate);
      }
    });
    server = createServer(
      { writer },
      { store: `sqlite:${file}`, retention: { keepEventsMs: 1, sweepIntervalMs: 2 ** 30 } },
    );
    const client = await connect((await server.listen()).url);
    const id = await send(client, "write");
    await expect.poll(() => runStoreJson("sweep")).toMatchObject({ trimmedTasks: 1 });
    expect(await runStoreJson("erase", "--task", id)).toEqual({ erasedTasks: 1 });
    await stopServer();
    expect(readFileSync(file).includes(secret)).toBe(false);
  });

  it("erase waits for a program that reads the file, because the write-ahead log keeps the content", async () => {
    const client = await startServer();
    const secret = `secret-${crypto.randomUUID()}`;
    const id = await send(client, `echo ${secret}`);
    const reader = new DatabaseSync(file, { readOnly: true });
    reader.exec("BEGIN; SELECT count(*) FROM task;");
    let isErased = false;
    const erasure = runStoreJson("erase", "--task", id).finally(() => (isErased = true));
    await expect.poll(async () => (await client.tasks.list()).totalSize).toBe(0);
    await runStoreJson("info");
    expect(isErased).toBe(false);
    reader.close();
    expect(await erasure).toEqual({ erasedTasks: 1 });
    expect(readFileSync(`${file}-wal`).includes(secret)).toBe(false);
  });

  it("erase without a selection is a usage error", async () => {
    await startServer();
    expect((await runStore("erase", "--agent", "parrot")).code).toBe(2);
  });

  it("works after a server was killed, and names a server without a socket", async () => {
    await send(await startServer({ maintenanceSocket: false }), "echo hello");
    expect(readMaintenanceAddress(file)).toBeUndefined();
    const { err } = await runStore("erase", "--principal", "");
    expect(err).toContain(`is in use by process ${process.pid}`);
    await stopServer();
    const dead = { pid: 1, socket: join(folder, "gone"), token: "t" };
    writeFileSync(`${file}-maintenance`, JSON.stringify(dead));
    expect(await runStoreJson("erase", "--principal", "")).toEqual({ erasedTasks: 1 });
  });

  it("is refused for a store without a file, and for a missing file", async () => {
    expect((await runCliInTestProcess(["store", "info", "--store", "memory"])).code).toBe(2);
    const { code, err } = await runStore("info");
    expect(code).toBe(2);
    expect(err).toContain("There is no task store at");
    expect(existsSync(file)).toBe(false);
  });

  it.skipIf(isWindows)(
    "info needs no server, and other commands end, while the server is stopped",
    async () => {
      await send(await startServer({ maintenanceSocket: false }), "echo hello");
      // A stopped process accepts connections, but does not reply.
      const stopped = createTcpServer(() => {});
      await new Promise<void>((resolve) => stopped.listen(join(folder, "silent"), resolve));
      const address = { pid: 4711, socket: join(folder, "silent"), token: "t" };
      writeFileSync(`${file}-maintenance`, JSON.stringify(address));
      expect(await runStoreJson("info")).toMatchObject({ serverProcess: 4711, state: "unresponsive" });
      const { code, err } = await runStore("sweep");
      expect(code).toBe(3);
      expect(err).toContain("process 4711, does not respond");
      stopped.close();
    },
  );

  it("the maintenance socket is private, and rejects requests without the token [SEC-45]", async () => {
    await startServer();
    await runStoreJson("info");
    const { socket = "" } = readMaintenanceAddress(file) ?? {};
    expectFileMode(`${file}-maintenance`, 0o600);
    expectFileMode(socket, 0o600);
    const status = await new Promise((resolve, reject) => {
      request({ socketPath: socket, method: "POST", path: "/erase" }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on("error", reject)
        .end("{}");
    });
    expect(status).toBe(401);
    await stopServer();
    expect([existsSync(socket), existsSync(`${file}-maintenance`)]).toEqual([false, false]);
  });
});
