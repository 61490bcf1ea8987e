import {
  systemClock,
  withSafeListeners,
  type Engine,
  type Observer,
  type StoreState,
  type SweepReport,
} from "../../engine/index.ts";
import type { StoreSize, TaskSelector } from "../../stores/index.ts";
import { RetentionService, type RetentionOptions } from "../../stores/retention/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { ServerStore } from "../resolve-store.ts";

/** Name, state, and size of a server's task store. */
export interface StoreInfo extends StoreSize {
  /** Display name of the store, for example `sqlite:.colloquy/colloquy.db`. */
  readonly name: string;
  /** State of the store. A store without `TaskStore.health` is always `healthy`. */
  readonly state: StoreState;
}

/** Maintenance operations on the task store of a running server. All operations run in short steps. */
export interface StoreMaintenance {
  readInfo(): Promise<StoreInfo>;
  /**
   * Applies the retention policy now, instead of at the next interval. The periods count from the wall clock, also
   * after a jump of the clock.
   */
  sweep(): Promise<SweepReport>;
  /** Returns the free space of the store's file to the file system, and resolves with the new size. */
  compact(): Promise<StoreInfo>;
  /**
   * Erases all matching tasks with their events, message ids, and webhooks. Running agents of these tasks are
   * canceled first. Resolves with the number of erased tasks once the deletion is durable. The content in the
   * store's file is overwritten. Throws `INVALID_PARAMS` if `selector` contains neither a task, a context, nor
   * a principal.
   */
  eraseTasks(selector: TaskSelector): Promise<{ readonly erasedTasks: number }>;
  /**
   * Copies the store to the new file `target`, whose path must be absolute. The copy also works while the store is
   * `lost`, and blocks the event loop. Throws `UNSUPPORTED_OPERATION` if the store has no file.
   */
  backUp(target: string): Promise<{ readonly file: string }>;
}

interface StoreMaintenanceOptions {
  readonly store: ServerStore;
  readonly retention: RetentionOptions | false;
  readonly observer: Observer;
  readonly findEngine: (agentId: string) => Engine | undefined;
  /** Opens the store, and resolves once the store is open. */
  readonly openStore: () => Promise<void>;
  /** Starts the maintenance socket next to the store's file. Undefined if the server has no socket. */
  readonly startSocket:
    | ((storeFile: string, maintenance: StoreMaintenance) => Promise<{ close(): Promise<void> }>)
    | undefined;
}

/** Runs the sweeper of a server, and offers the maintenance operations to the application and the CLI. */
export class StoreMaintenanceService implements StoreMaintenance {
  readonly #options: StoreMaintenanceOptions;
  readonly #retention: RetentionService | undefined;
  #socket: { close(): Promise<void> } | undefined;
  #stopSocketRestarts: (() => void) | undefined;

  constructor(options: StoreMaintenanceOptions) {
    const { store, retention, observer, findEngine } = options;
    this.#options = options;
    this.#retention =
      store.deletionStore &&
      new RetentionService({
        deletionStore: store.deletionStore,
        retention,
        clock: systemClock,
        observer: withSafeListeners(observer),
        isTaskInUse: (scope, taskId) => findEngine(scope.agent)?.isTaskInUse(scope, taskId) ?? false,
        endTask: async (scope, taskId) => findEngine(scope.agent)?.endTaskForErasure(scope, taskId),
        onTaskErased: (scope, taskId) => findEngine(scope.agent)?.forgetErasedTask(scope, taskId),
      });
  }

  /** Starts the sweeper and the maintenance socket. The store must be open. */
  async start(): Promise<void> {
    await this.#retention?.start();
    await this.#startSocket();
    // The loss of the store's folder removes the socket, but `colloquy store backup` still needs the socket.
    this.#stopSocketRestarts = this.#options.store.health?.onChange(({ state }) => {
      if (state === "lost") void this.#startSocket();
    });
  }

  async #startSocket(): Promise<void> {
    const { store, observer, startSocket } = this.#options;
    if (!startSocket || !store.file) return;
    try {
      await this.#socket?.close();
      this.#socket = await startSocket(store.file.path, this);
    } catch (error) {
      // Requests do not need the socket, so the server works without the socket.
      observer.onError?.({ where: "maintenance", error });
    }
  }

  async close(): Promise<void> {
    this.#stopSocketRestarts?.();
    await this.#socket?.close();
    await this.#retention?.close();
  }

  async readInfo(): Promise<StoreInfo> {
    await this.#requireRetention();
    return this.#createInfo(await this.#measureSize());
  }

  async sweep(): Promise<SweepReport> {
    return await (await this.#requireRetention()).sweep();
  }

  /** Applies the retention policy as a sweep at the interval does, which waits after a jump of the wall clock. */
  async sweepOnSchedule(): Promise<void> {
    await (await this.#requireRetention()).sweepOnSchedule();
  }

  async compact(): Promise<StoreInfo> {
    const retentionService = await this.#requireRetention();
    return this.#createInfo(await retentionService.compact());
  }

  #createInfo(size: StoreSize): StoreInfo {
    const { name, health } = this.#options.store;
    return { name, state: health?.state ?? "healthy", ...size };
  }

  async eraseTasks(selector: TaskSelector): Promise<{ readonly erasedTasks: number }> {
    assertSelectsSomeTasks(selector);
    const retentionService = await this.#requireRetention();
    return { erasedTasks: await retentionService.erase(selector) };
  }

  async backUp(target: string): Promise<{ readonly file: string }> {
    const { openStore, store } = this.#options;
    await openStore();
    if (!store.file)
      throw new A2AError("UNSUPPORTED_OPERATION", `The store ${store.name} has no file to copy.`);
    await store.file.backUp(target);
    return { file: target };
  }

  async #measureSize(): Promise<StoreSize> {
    return (await this.#options.store.deletionStore?.measureSize()) ?? { usedBytes: 0, freeBytes: 0 };
  }

  async #requireRetention(): Promise<RetentionService> {
    await this.#options.openStore();
    if (this.#retention) return this.#retention;
    const text = `The store ${this.#options.store.name} does not support maintenance; implement "deletionStore".`;
    throw new A2AError("UNSUPPORTED_OPERATION", text);
  }
}

/** Throws an error if the selector would match all tasks. */
function assertSelectsSomeTasks({ taskId, contextId, principal }: TaskSelector): void {
  if (taskId !== undefined || contextId !== undefined || principal !== undefined) return;
  const description = "no tasks are selected; set taskId, contextId, or principal";
  throw A2AError.invalidParams([{ field: "selector", description }]);
}
