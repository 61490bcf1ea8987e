import { createServer, connect as connectSocket, type Socket } from "node:net";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  findPostgresPrograms,
  runTestSql,
  startTestPostgres,
  type TestPostgresServer,
} from "./postgres-server.fixture.ts";
import {
  aliceTestTaskScope,
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

const GENEROUS_LIMIT = { events: 100, maxBytes: 1_000_000 };
const PASSWORD = "s3cret-password";

/** A TCP proxy for a database that can drop the responses of the database and its connections. */
class TestDatabaseProxy {
  readonly #server = createServer((socket) => this.#forward(socket));
  readonly #sockets = new Set<Socket>();
  readonly #targetPort: number;
  /** If true, the next response breaks its connection instead of reaching the client. */
  dropsNextResponse = false;
  /** If true, nothing reaches the other end of any connection, and the connections stay open. */
  isSilent = false;
  /** Connections before this one are silent forever. */
  firstAudibleConnection = 0;
  #connectionCount = 0;

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
  }

  async listen(): Promise<number> {
    if (!this.#server.listening)
      await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as { port: number }).port;
  }

  /** Makes all present connections silent forever, as if their other ends had vanished. New connections work. */
  silencePresentConnections(): void {
    this.firstAudibleConnection = this.#connectionCount;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #forward(client: Socket): void {
    const database = connectSocket(this.#targetPort, "127.0.0.1");
    for (const socket of [client, database]) {
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        database.destroy();
      });
    }
    const number = this.#connectionCount++;
    const isSilent = (): boolean => this.isSilent || number < this.firstAudibleConnection;
    client.on("data", (request) => {
      if (!isSilent()) database.write(request);
    });
    database.on("data", (response) => {
      if (isSilent()) return;
      if (this.dropsNextResponse) client.destroy();
      else client.write(response);
    });
  }
}

describe.skipIf(findPostgresPrograms() === undefined)("a database that fails", () => {
  let server: TestPostgresServer;
  let proxy: TestDatabaseProxy;
  let store: PostgresStore;
  let taskId: string;
  let count = 0;

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());

  beforeEach(async () => {
    taskId = `t${++count}`;
    proxy = new TestDatabaseProxy(Number(new URL(server.url).port));
    const port = await proxy.listen();
    const url = Object.assign(new URL(server.url), { port: String(port), password: PASSWORD }).href;
    store = new PostgresStore(url, { connectTimeoutMs: 1000, queryTimeoutMs: 1000 });
    await store.open();
  });

  afterEach(async () => {
    await store.close();
    proxy.close();
  });

  const create = (): Promise<unknown> =>
    store.commit([createTestLogAppend(taskId, 0, [createTestSubmittedTaskEvent(taskId)])]);

  it("makes the store unavailable, and the store recovers without a restart", async () => {
    await create();
    const states: string[] = [];
    store.health.onChange(({ state }) => states.push(state));
    await server.stop("immediate");
    const append = createTestLogAppend(taskId, 1, [createTestChunkEvent(taskId, "a")]);
    await expect(store.commit([append])).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    await expect(store.load(aliceTestTaskScope, taskId)).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.not.stringContaining(PASSWORD) as string,
    });
    expect(store.health.state).not.toBe("healthy");
    await server.start();
    await expect.poll(() => store.health.state).toBe("healthy");
    expect(await store.commit([append])).toEqual([undefined]);
    expect(states.at(-1)).toBe("healthy");
  });

  it("that breaks the connection after a commit leaves the outcome unknown, and the retry is refused [E1]", async () => {
    await create();
    const append = createTestLogAppend(taskId, 1, [createTestChunkEvent(taskId, "a")]);
    proxy.dropsNextResponse = true;
    await expect(store.commit([append])).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    expect(store.health.state).toBe("failed");
    proxy.dropsNextResponse = false;
    await expect.poll(() => store.health.state).toBe("healthy");
    expect(await store.commit([append])).toEqual(["conflict"]);
    const events = await store.readEvents(aliceTestTaskScope, taskId, 0, GENEROUS_LIMIT);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  describe("without a word", () => {
    let patientStore: PostgresStore;
    let append: ReturnType<typeof createTestLogAppend>;

    beforeEach(async () => {
      await create();
      append = createTestLogAppend(taskId, 1, [createTestChunkEvent(taskId, "a")]);
      const port = await proxy.listen();
      // The timeouts of statements are the default, 30 seconds.
      patientStore = new PostgresStore(Object.assign(new URL(server.url), { port: String(port) }).href);
      await patientStore.open();
    });
    afterEach(() => patientStore.close());

    it("makes the store unavailable long before the statements time out [E21]", async () => {
      proxy.isSilent = true;
      const error = patientStore.commit([append]).catch((thrown: unknown) => thrown);
      await expect.poll(() => patientStore.health.state, { timeout: 20_000 }).not.toBe("healthy");
      expect(await error).toMatchObject({ reason: "UNAVAILABLE" });
      proxy.silencePresentConnections();
      proxy.isSilent = false;
      await expect.poll(() => patientStore.health.state, { timeout: 20_000 }).toBe("healthy");
      expect(await patientStore.commit([append])).toEqual([undefined]);
    });

    it("on the present connections loses these connections, and the next commit succeeds [E21]", async () => {
      proxy.silencePresentConnections();
      const error = patientStore.commit([append]).catch((thrown: unknown) => thrown);
      expect(await error).toMatchObject({ reason: "UNAVAILABLE" });
      await expect.poll(() => patientStore.health.state, { timeout: 20_000 }).toBe("healthy");
      expect(await patientStore.commit([append])).toEqual([undefined]);
    });

    it("on some connections loses these connections, although other connections answer [E21]", async () => {
      proxy.silencePresentConnections();
      let error: unknown;
      void patientStore.commit([append]).catch((thrown: unknown) => (error = thrown));
      // The pool opens connections for these reads once its silent connections are in use.
      const reading = setInterval(() => {
        patientStore.load(aliceTestTaskScope, taskId).catch(() => {});
      }, 50);
      onTestFinished(() => clearInterval(reading));
      await expect.poll(() => error, { timeout: 20_000 }).toMatchObject({ reason: "UNAVAILABLE" });
      clearInterval(reading);
      await expect.poll(() => patientStore.health.state, { timeout: 20_000 }).toBe("healthy");
      expect(await patientStore.commit([append])).toEqual([undefined]);
    });
  });

  it("whose disk is full keeps the store full until a write that needs space succeeds", async () => {
    await create();
    // An update of the node's row needs no space, so that it succeeds on a full disk.
    await runTestSql(
      server.url,
      `CREATE SEQUENCE refused_writes;
       CREATE FUNCTION refuse_write() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN PERFORM nextval('refused_writes'); RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$;
       CREATE TRIGGER refuse_write BEFORE INSERT ON colloquy.log EXECUTE FUNCTION refuse_write()`,
    );
    const states: string[] = [];
    store.health.onChange(({ state }) => states.push(state));
    const append = createTestLogAppend(taskId, 1, [createTestChunkEvent(taskId, "a")]);
    await expect(store.commit([append])).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    const countRefusedWrites = async (): Promise<number> =>
      Number((await runTestSql(server.url, "SELECT last_value FROM refused_writes"))[0]?.["last_value"]);
    await expect.poll(countRefusedWrites).toBeGreaterThan(3);
    expect(states).toEqual(["full"]);
    await runTestSql(server.url, "DROP TRIGGER refuse_write ON colloquy.log");
    await expect.poll(() => store.health.state).toBe("healthy");
    expect(await store.commit([append])).toEqual([undefined]);
    expect(await runTestSql(server.url, "SELECT * FROM colloquy.log WHERE task = -1")).toEqual([]);
  });

  it("that cancels a statement makes its request UNAVAILABLE, and the store stays healthy", async () => {
    await create();
    const other = new Client({ connectionString: server.url });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("BEGIN");
    await other.query("LOCK TABLE colloquy.task IN ACCESS EXCLUSIVE MODE");
    const error = store.load(aliceTestTaskScope, taskId).catch((thrown: unknown) => thrown);
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'colloquy' AND wait_event_type = 'Lock'`;
    while ((await other.query(cancel)).rowCount === 0);
    expect(await error).toMatchObject({
      reason: "UNAVAILABLE",
      message: expect.stringContaining("the database canceled the statement") as string,
    });
    expect(store.health.state).toBe("healthy");
    await other.query("ROLLBACK");
  });

  it("has a name with neither the user nor the password", async () => {
    const port = new URL(server.url).port;
    const missing = new PostgresStore(`postgres://someone:${PASSWORD}@127.0.0.1:${port}/missing`);
    expect(missing.name).toBe(`postgres://127.0.0.1:${port}/missing`);
    await expect(missing.open()).rejects.toThrow("check the user of the store's URL");
    const refused = new PostgresStore(`postgres://postgres:${PASSWORD}@127.0.0.1:1/x`);
    const error: unknown = await refused.open().catch((thrown: unknown) => thrown);
    expect(String(error)).toContain("start the database");
    expect(String(error)).not.toContain(PASSWORD);
    expect(() => new PostgresStore(`postgres://u:${PASSWORD}@[`)).toThrow(
      "The URL of the PostgreSQL store is invalid",
    );
  });
});
