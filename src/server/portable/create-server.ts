import type { Agent } from "../../engine/index.ts";
import type { RetentionOptions } from "../../stores/retention/index.ts";
import { redactUserInfo } from "../../observe/logging/index.ts";
import { resolveStore, type ServerStore, type StoreOption } from "../resolve-store.ts";
import type { Server } from "../server-interface.ts";
import type { ServerOptions } from "../server-options.ts";
import type { ServerListener, ServerPlatform } from "../server-platform.ts";
import { createServerOnPlatform } from "../server.ts";
import { createRunTracing } from "../instrument/create-run-tracing.ts";

/** Continues the traces of callers, without spans and metrics. Only Node.js, Bun, and Deno have tracers that record. */
const createPortableTelemetry: ServerPlatform["createTelemetry"] = ({
  telemetry = {},
  metrics,
  findCard,
  record,
}) => {
  if (metrics || (telemetry && telemetry.otlp !== undefined))
    throw new Error(
      `The options "metrics" and "telemetry.otlp" require Node.js, Bun, or Deno; omit the options.`,
    );
  return {
    runTracing: telemetry
      ? createRunTracing({ findCard, buildRunAttributes: () => ({}), record })
      : undefined,
  };
};

/** The platform of runtimes with web standards only. */
export const PORTABLE_PLATFORM: ServerPlatform = {
  environment: typeof process === "undefined" ? {} : process.env,
  resolveStore: resolvePortableStore,
  createPushService(options) {
    if (options) throw createNodeOnlyError(`The option "push"`, "omit the option");
    return undefined;
  },
  createTelemetry: createPortableTelemetry,
  openTrafficRecord(record) {
    if (typeof record === "object" && "write" in record)
      return { writer: record, close: () => record.flush() };
    throw createNodeOnlyError(`The option "record" with a file`, "pass a traffic writer");
  },
  startMaintenanceSocket: undefined,
  createNodeCooperation: undefined,
  createOtherNodeEvents: undefined,
  createListener: () => UNAVAILABLE_LISTENER,
};

const UNAVAILABLE_LISTENER: ServerListener = {
  listener: () => {
    throw createNodeOnlyError("server.listener", "call server.fetch");
  },
  listen: () => Promise.reject(createNodeOnlyError("server.listen", "call server.fetch in your host")),
  listInCards: () => {},
  drain: () => Promise.resolve(),
  closeStreamsAndIdleConnections: () => {},
  forceClose: () => {},
};

/**
 * Like `createServer` of the folder `node`, with web standards only. The server has no default store, sends no push
 * notifications, and does not listen. The host calls `server.fetch`.
 */
export function createServer(
  agents: Agent | Readonly<Record<string, Agent>>,
  options: ServerOptions = {},
): Server {
  return createServerOnPlatform(PORTABLE_PLATFORM, agents, options);
}

function resolvePortableStore(
  option: StoreOption | undefined,
  retention: RetentionOptions | false,
): ServerStore {
  if (option === undefined) throw createNodeOnlyError("The default store", ADVICE_FOR_STORES);
  const store = resolveStore(option, retention, (text) => {
    throw createNodeOnlyError(`The store ${JSON.stringify(redactUserInfo(text))}`, ADVICE_FOR_STORES);
  });
  if (store.nodes) throw createNodeOnlyError(`The store ${store.name}`, ADVICE_FOR_STORES);
  return store;
}

const ADVICE_FOR_STORES = `set "store" to "memory", or pass a task store`;

function createNodeOnlyError(subject: string, advice: string): Error {
  return new Error(`${subject} requires Node.js, Bun, or Deno; ${advice}.`);
}
