import { systemClock, type Agent } from "../../engine/index.ts";
import { DurableObjectStore } from "../../stores/durable-object/index.ts";
import type { DurableObjectStorage, DurableObjectStoreOptions } from "../../stores/durable-object/index.ts";
import { PORTABLE_PLATFORM } from "../portable/create-server.ts";
import { createFetchPushService } from "../push/fetch-push-service.ts";
import type { Server } from "../server-interface.ts";
import type { ServerLimits, ServerOptions } from "../server-options.ts";
import type { ServerPlatform } from "../server-platform.ts";
import { createServerOnPlatform } from "../server.ts";

/** The part of Cloudflare's `DurableObjectState` that the server uses. The `ctx` of a Durable Object has this type. */
export interface DurableObjectContext {
  readonly storage: DurableObjectStorage;
  waitUntil(work: Promise<unknown>): void;
}

/** Options of `createDurableObjectServer`. */
export interface DurableObjectServerOptions extends Omit<
  ServerOptions,
  "store" | "maintenanceSocket" | "metrics" | "role"
> {
  /** Options of the store. */
  readonly store?: DurableObjectStoreOptions;
}

/** The server of a Durable Object. Call `fetch` and `alarm` from the functions of the class with the same names. */
export interface DurableObjectServer extends Omit<Server, "fetch" | "listen" | "listener"> {
  /** Handles a request. The object keeps running until its agents have ended. */
  fetch(request: Request): Promise<Response>;
  /**
   * Continues the turns and the push notifications of a process that has died, starts suspended turns that are due, and
   * applies the retention policy. Resolves when no agent runs, or after ten minutes. The store sets the next alarm.
   */
  alarm(): Promise<void>;
}

const DURABLE_OBJECT_PLATFORM: ServerPlatform = {
  ...PORTABLE_PLATFORM,
  createPushService: (options = {}, store, observer) => createFetchPushService(options, store, observer),
};

/**
 * Default limits. An object has 128 MB of memory, and stores at most 2 MB of JSON per message.
 */
const DEFAULT_LIMITS: ServerLimits = {
  bufferedBytes: 32 * 2 ** 20,
  listPageBytes: 2 ** 20,
  maxBodyBytes: 1.75 * 2 ** 20,
  taskSize: 16 * 2 ** 20,
  unfinishedMessageBytes: 16 * 2 ** 20,
};

/** Cloudflare ends the handler of an alarm after 15 minutes. */
const ALARM_TIME_LIMIT_MS = 10 * 60_000;
/** Interval in milliseconds of the alarms for sweeps. While the object runs, it sweeps more often. */
const SWEEP_ALARM_INTERVAL_MS = 24 * 60 * 60_000;

/**
 * Creates a server for one agent, or for an object with several agents by id, in a Durable Object with SQLite. The tasks
 * are in the storage of the object, and its alarm continues them after the process has died. The object must set no
 * other alarm. The worker needs the compatibility flag `nodejs_compat`.
 */
export function createDurableObjectServer(
  ctx: DurableObjectContext,
  agents: Agent | Readonly<Record<string, Agent>>,
  options: DurableObjectServerOptions = {},
): DurableObjectServer {
  const { store: storeOptions, ...serverOptions } = options;
  const store = new DurableObjectStore(ctx.storage, storeOptions);
  const server = createServerOnPlatform(DURABLE_OBJECT_PLATFORM, agents, {
    ...serverOptions,
    limits: { ...DEFAULT_LIMITS, ...serverOptions.limits },
    store,
  });
  const { retention = {} } = serverOptions;
  const sweepIntervalMs =
    retention === false ? undefined : (retention.sweepIntervalMs ?? SWEEP_ALARM_INTERVAL_MS);
  let nextSweepAt = 0;
  return {
    store: server.store,
    maintenance: server.maintenance,
    replaceAgents: (replacement) => server.replaceAgents(replacement),
    processDueWork: (dueWorkOptions) => server.processDueWork(dueWorkOptions),
    close: (closeOptions) => server.close(closeOptions),
    fetch: (request) => {
      const remoteAddress = request.headers.get("cf-connecting-ip") ?? undefined;
      return server.fetch(request, {
        remoteAddress,
        waitUntil: (work: Promise<unknown>) => ctx.waitUntil(work),
      });
    },
    alarm: async () => {
      // The process can die during the work, so the next alarm is set first.
      store.alarm.setForHandler();
      await server.processDueWork({ timeLimitMs: ALARM_TIME_LIMIT_MS });
      if (sweepIntervalMs !== undefined && systemClock.now() >= nextSweepAt) {
        nextSweepAt = systemClock.now() + sweepIntervalMs;
        await server.maintenance.sweepOnSchedule();
      }
      store.setNextAlarm(sweepIntervalMs === undefined ? undefined : nextSweepAt);
    },
  };
}
