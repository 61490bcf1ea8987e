import { randomUUID } from "node:crypto";
import type { Client, Notification } from "pg";
import { Deferred } from "../../base/data-structures/index.ts";
import type { NodeHint, NodeHints } from "../../cluster/index.ts";
import { decodeHints, PendingHints } from "./encode-hint.ts";
import { defineStatement } from "./define-statement.ts";
import { importPg } from "./import-pg.ts";
import type { PostgresConnection } from "./postgres-pool.ts";

const CHANNEL = "colloquy";
/** Payloads with this prefix test whether the connection receives notifications of other connections. */
const PROBE_PREFIX = "probe:";
/**
 * Shortest time in milliseconds between two notifications. Hints in between, and hints of the same job, become one
 * notification.
 */
const MIN_SEND_INTERVAL_MS = 3;
/** Time in milliseconds between two probes of the connection. */
const PROBE_INTERVAL_MS = 5000;
/** Time in milliseconds after which an unanswered probe means that the connection receives no notifications. */
const PROBE_TIMEOUT_MS = 3000;
const RECONNECT_DELAY_MS = 1000;
/** Delay in milliseconds before the next attempt, if a pooler does not forward notifications. */
const UNSUPPORTED_RETRY_DELAY_MS = 60_000;

const notifyStatement = defineStatement<[channel: string, payload: string]>(
  "notify",
  "SELECT pg_notify($1, $2)",
);

interface PostgresHintsOptions {
  readonly url: string;
  readonly connectTimeoutMs: number;
  readonly queryTimeoutMs: number;
  /** Another connection to the database, which sends the probes. */
  readonly connection: PostgresConnection;
  /** Called for each notification of another node. */
  readonly onOtherNode: () => void;
}

/**
 * Hints between nodes with `LISTEN` and `NOTIFY`, on a separate connection. A notification is sent after the commit
 * that it announces, because a notification in the transaction of a commit costs 3 to 5 times the throughput. Behind
 * PgBouncer in transaction mode, notifications reach whichever client uses the listening connection at that moment. Probes
 * through another connection detect this, at the start and while the hints are in use.
 */
export class PostgresHints implements NodeHints {
  readonly #options: PostgresHintsOptions;
  readonly #listeners = new Set<(hint: NodeHint) => void>();
  readonly #pending = new PendingHints();
  #client: Client | undefined;
  #isReceiving = false;
  #isOpen = false;
  /** Prefix of the probes of this node. */
  readonly #ownProbePrefix = `${PROBE_PREFIX}${randomUUID()}:`;
  #probe: { readonly payload: string; readonly resolve: () => void } | undefined;
  #probeCount = 0;
  #unsupportedReason: string | undefined;
  #unsupportedListener: ((reason: string) => void) | undefined;
  #isSending = false;
  #lastSentAt = 0;
  #timers = new Set<NodeJS.Timeout>();

  constructor(options: PostgresHintsOptions) {
    this.#options = options;
  }

  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  /** Connects in the background. Until then, and while the connection is lost, the nodes poll. */
  open(): void {
    this.#isOpen = true;
    void this.#connect();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#setReceiving(false);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    // The timer of the next notification is gone.
    this.#isSending = false;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  send(hint: NodeHint): void {
    if (!this.#isReceiving) return;
    this.#pending.add(hint);
    if (this.#isSending) return;
    this.#isSending = true;
    const waitMs = this.#lastSentAt + MIN_SEND_INTERVAL_MS - performance.now();
    if (waitMs > 0) this.#schedule(waitMs, () => void this.#sendPending());
    // One commit announces all of its tasks in the same job.
    else queueMicrotask(() => void this.#sendPending());
  }

  onHint(listener: (hint: NodeHint) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onUnsupported(listener: (reason: string) => void): void {
    this.#unsupportedListener = listener;
    if (this.#unsupportedReason) listener(this.#unsupportedReason);
  }

  async #sendPending(): Promise<void> {
    this.#lastSentAt = performance.now();
    const client = this.#client;
    try {
      if (client) await notify(client, this.#pending.takePayload());
    } catch {
      this.#reconnect(client, RECONNECT_DELAY_MS);
    }
    this.#isSending = false;
    if (this.#pending.isEmpty || !this.#isReceiving) return;
    this.send({ kind: "events", taskIds: [] });
  }

  async #connect(): Promise<void> {
    const { url, connectTimeoutMs, queryTimeoutMs } = this.#options;
    const { Client: PgClient } = await importPg();
    if (!this.#isOpen) return;
    const client = new PgClient({
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryTimeoutMs,
      keepAlive: true,
      application_name: "colloquy hints",
    });
    this.#client = client;
    const reconnect = (): void => this.#reconnect(client, RECONNECT_DELAY_MS);
    client.on("error", reconnect);
    client.on("end", reconnect);
    const ownProcess = client as Client & { readonly processID?: number };
    client.on("notification", (notification) => this.#receive(notification, ownProcess.processID));
    try {
      await client.connect();
      // A notification must not wait for a disk. Databases that do not know the setting ignore it.
      await client.query("SET synchronous_commit = off").catch(() => {});
      await client.query(`LISTEN ${CHANNEL}`);
    } catch {
      return reconnect();
    }
    const outcome = await this.#probeConnection(client);
    if (outcome === "silent") this.#reportUnsupported();
    if (outcome !== "received")
      return this.#reconnect(client, outcome === "silent" ? UNSUPPORTED_RETRY_DELAY_MS : RECONNECT_DELAY_MS);
    this.#setReceiving(true);
    // Tells the other nodes that this node is alive.
    this.send({ kind: "any" });
    this.#scheduleProbe(client);
  }

  /**
   * Resolves with `received` if the connection receives the notification of another connection in time, with `silent` if
   * the notification was sent and does not arrive, and with `failed` if a connection fails.
   */
  async #probeConnection(client: Client): Promise<"received" | "silent" | "failed"> {
    if (this.#client !== client) return "failed";
    const payload = `${this.#ownProbePrefix}${++this.#probeCount}`;
    const received = new Deferred<"received" | "silent">();
    this.#probe = { payload, resolve: () => received.resolve("received") };
    try {
      await this.#options.connection.query(notifyStatement, [CHANNEL, payload]);
    } catch {
      return "failed";
    }
    this.#schedule(PROBE_TIMEOUT_MS, () => received.resolve("silent"));
    const outcome = await received.promise;
    return this.#client === client ? outcome : "failed";
  }

  /** Reports once that the database forwards no hints. */
  #reportUnsupported(): void {
    if (this.#unsupportedReason || !this.#isOpen) return;
    this.#unsupportedReason =
      "The servers receive no notifications of each other from PostgreSQL, probably because of a pooler in transaction mode. " +
      "The servers poll every 50 ms instead. Connect to PostgreSQL without the pooler, or set the option `hints: false`.";
    this.#unsupportedListener?.(this.#unsupportedReason);
  }

  #scheduleProbe(client: Client): void {
    this.#schedule(PROBE_INTERVAL_MS, () => {
      void this.#probeAgain(client);
    });
  }

  async #probeAgain(client: Client): Promise<void> {
    if ((await this.#probeConnection(client)) === "received") this.#scheduleProbe(client);
    else this.#reconnect(client, RECONNECT_DELAY_MS);
  }

  #receive({ payload = "", processId }: Notification, ownProcessId: number | undefined): void {
    if (payload === this.#probe?.payload) this.#probe.resolve();
    if (processId === ownProcessId || payload.startsWith(this.#ownProbePrefix)) return;
    this.#options.onOtherNode();
    if (payload.startsWith(PROBE_PREFIX)) return;
    for (const hint of decodeHints(payload)) this.#notifyListeners(hint);
  }

  #reconnect(client: Client | undefined, delayMs: number): void {
    if (!this.#isOpen || !client || client !== this.#client) return;
    this.#client = undefined;
    this.#setReceiving(false);
    client.end().catch(() => {});
    this.#schedule(delayMs, () => void this.#connect());
  }

  /** Changes the state. Hints can have been lost before, so the listeners read everything. */
  #setReceiving(isReceiving: boolean): void {
    if (this.#isReceiving === isReceiving) return;
    this.#isReceiving = isReceiving;
    this.#notifyListeners({ kind: "any" });
  }

  #notifyListeners(hint: NodeHint): void {
    for (const listener of this.#listeners) listener(hint);
  }

  #schedule(ms: number, callback: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      callback();
    }, ms);
    timer.unref();
    this.#timers.add(timer);
  }
}

async function notify(client: Client, payload: string): Promise<void> {
  await client.query(notifyStatement.text, [CHANNEL, payload]);
}
