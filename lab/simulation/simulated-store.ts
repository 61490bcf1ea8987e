import type {
  AppendRefusal,
  Clock,
  LogAppend,
  StoredTask,
  StoreHealth,
  TurnStore,
  TaskListPage,
  TaskListQuery,
  TaskScope,
} from "../../src/engine/index.ts";
import type { NodeHints, NodeStore } from "../../src/cluster/index.ts";
import type { PushStore } from "../../src/webhooks/index.ts";
import type { TaskDeletionStore } from "../../src/stores/index.ts";
import type { LogEvent } from "../../src/protocol/index.ts";
import type { PushSecretCipher } from "../../src/stores/push-secret-cipher.ts";
import { StoreHealthMonitor } from "../../src/stores/store-health-monitor.ts";
import {
  findPostgresStateAfterError,
  isOutcomeUnknown,
  toPostgresUnavailableError,
} from "../../src/stores/postgres/postgres-error-conversion.ts";
import { PostgresNodes } from "../../src/stores/postgres/postgres-nodes.ts";
import { PostgresTaskLeases } from "../../src/stores/postgres/postgres-task-leases.ts";
import { createStatementConnection } from "./statement-connection.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import type { ServerStore } from "../../src/stores/server-store.ts";

/** Runs a statement on the database, possibly with delays and faults. */
export type StatementRunner = <T>(name: string, statement: () => T | Promise<T>) => Promise<T>;

/** Runs each statement at once and without faults. */
export const runStatementAtOnce: StatementRunner = async (_, statement) => await statement();

export interface SimulatedStoreSettings {
  readonly leaseMs: number;
  readonly waitingTurnPollMs: number;
}

/**
 * The store of one process. Its leases are those of `PostgresStore`, and its reaction to errors is the same. Only the
 * statements run on a simulated database.
 */
export class SimulatedStore implements ServerStore {
  readonly name = "simulated";
  readonly isDurable = true;
  readonly turns: TurnStore;
  readonly nodes: NodeStore;
  readonly pushStore: PushStore;
  readonly deletionStore: TaskDeletionStore;
  readonly #database: SimulatedDatabase;
  readonly #run: StatementRunner;
  readonly #leases: PostgresTaskLeases;
  readonly #health: StoreHealthMonitor;

  constructor(
    database: SimulatedDatabase,
    run: StatementRunner,
    clock: Clock,
    { leaseMs, waitingTurnPollMs }: SimulatedStoreSettings,
    hints?: NodeHints,
  ) {
    this.#database = database;
    this.#run = run;
    const runOrReport: StatementRunner = (name, statement) => this.#runOrReport(name, statement);
    const connection = createStatementConnection(database, runOrReport);
    this.#leases = new PostgresTaskLeases(connection, leaseMs, () => clock.monotonic());
    this.turns = Object.assign(this.#leases, {
      waitingTurnPollMs,
      listQueued: () => runOrReport("list queued", () => database.listQueuedTasks(this.#leases.node)),
      isUnchanged: (...loaded: Parameters<TurnStore["isUnchanged"]>) =>
        runOrReport("compare", () => database.isTaskUnchanged(...loaded)),
      readSteps: (...turn: Parameters<TurnStore["readSteps"]>) =>
        runOrReport("read steps", () => database.tasks.turns.readSteps(...turn)),
    });
    this.nodes = new PostgresNodes(connection, this.#leases, { getCipher: () => PLAIN_CIPHER, hints });
    this.#health = new StoreHealthMonitor(
      this.name,
      () => this.#leases.extend(),
      (ms, callback) => clock.schedule(ms, callback),
    );
    const pushStore = database.webhookLeases.createPushStore(() => this.#leases.node);
    const { pollIntervalMs } = pushStore;
    this.pushStore = withStatements(
      pushStore,
      "webhooks",
      runOrReport,
      pollIntervalMs === undefined ? {} : { pollIntervalMs },
    );
    const { deletionStore } = database.tasks;
    this.deletionStore = {
      ...deletionStore,
      deleteTasks: async (tasks, options) => {
        const count = await deletionStore.deleteTasks(tasks, options);
        await database.removeDeletedTasks(tasks);
        return count;
      },
    };
  }

  /** Id of the node in the database. */
  get node(): string {
    return this.#leases.node;
  }

  get health(): StoreHealth {
    return this.#health;
  }

  open(): Promise<void> {
    return this.#leases.extend();
  }

  async close(): Promise<void> {
    await this.#leases.end().catch(() => {});
    this.#health.reset();
  }

  async commit(batch: readonly LogAppend[]): Promise<readonly (AppendRefusal | undefined)[]> {
    const { node } = this.#leases;
    try {
      const commit = (): Promise<(AppendRefusal | undefined)[]> => this.#database.commit(node, batch);
      const refusals = await this.#leases.recordCommit(batch, () => this.#run("commit", commit));
      this.#health.reportSuccess();
      return refusals;
    } catch (error) {
      throw this.#reportFailure(error, isOutcomeUnknown(error) ? "failed" : undefined);
    }
  }

  load(scope: TaskScope, taskId: string): Promise<StoredTask | undefined> {
    return this.#runOrReport("load", () => this.#database.load(this.#leases.node, scope, taskId));
  }

  readEvents(
    scope: TaskScope,
    taskId: string,
    after: number,
    limit: { readonly events: number; readonly maxBytes: number },
  ): Promise<LogEvent[]> {
    return this.#runOrReport("read", () => this.#database.tasks.readEvents(scope, taskId, after, limit));
  }

  list(scope: TaskScope, query: TaskListQuery): Promise<TaskListPage> {
    return this.#runOrReport("list", () => this.#database.tasks.list(scope, query));
  }

  findMessage(scope: TaskScope, messageId: string): Promise<{ taskId: string; seq: number } | undefined> {
    return this.#runOrReport("find message", () => this.#database.tasks.findMessage(scope, messageId));
  }

  async #runOrReport<T>(name: string, statement: () => T | Promise<T>): Promise<T> {
    try {
      return await this.#run(name, statement);
    } catch (error) {
      throw this.#reportFailure(error);
    }
  }

  #reportFailure(error: unknown, state = findPostgresStateAfterError(error)): unknown {
    if (state === undefined) return error;
    const failure = toPostgresUnavailableError(error);
    this.#health.reportFailure(state, failure);
    return failure;
  }
}

/** A cipher that keeps the secrets of the simulation in plain text. */
const PLAIN_CIPHER = {
  seal: (config: unknown) => config,
  open: (config: unknown) => ({ config }),
} as unknown as PushSecretCipher;

/** Returns a store whose methods run as statements. */
function withStatements<Store extends object>(
  store: Store,
  name: string,
  run: StatementRunner,
  otherMembers: Partial<Store> = {},
): Store {
  const members = Object.entries(store).map(([member, method]) => [
    member,
    (...args: unknown[]) => run(name, () => (method as (...args: unknown[]) => unknown)(...args)),
  ]);
  return { ...(Object.fromEntries(members) as Store), ...otherMembers };
}
