import { omitUndefined } from "../../base/usage-checks/index.ts";
import { createLogObserver, type LogFormat } from "../../observe/logging/index.ts";
import type { Console } from "../../studio/console/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import type { RetentionOptions } from "../../stores/retention/index.ts";
import { A2AError } from "../../protocol/index.ts";
import {
  createServer,
  type ServerAddress,
  type Server,
  type ServerOptions,
  type ServerRole,
  type StoreOption,
} from "../../server/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter, type OutputFormat } from "../output-writer.ts";
import type { TrafficRecordOptions, TrafficWriter } from "../../observe/trace/recording/index.ts";
import { assertRecordWritable, getRecordFilePath } from "../assert-record-writable.ts";
import { CliError, createPortInUseError, createUsageError, isPortInUseError } from "../cli-error.ts";
import { untilAborted } from "../../client/index.ts";
import { waitForAbort } from "../wait-for-abort.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { readPackageVersion } from "../package-version.ts";
import { AdkAgentFactory } from "./adk-agent-factory.ts";
import {
  createAuthSchemes,
  hasAuthOptions,
  describeClientCredentials,
  type ServeAuthOptions,
} from "./serve-auth-options.ts";
import type { MountedConsole, ServeConsoleOptions } from "./serve-console.ts";
import { renderAgentList, type ServedAgentSummary } from "./banner.ts";

/** Options that the commands `serve` and `demo` share. */
export interface ServeOptions extends ServeAuthOptions, ServeConsoleOptions {
  port: number;
  strictPort?: boolean;
  grpcPort?: number;
  grpcUnlisted?: boolean;
  openai?: boolean;
  textIndex?: boolean;
  host: string;
  store: string;
  keepTasks?: number;
  role?: ServerRole;
  /** Milliseconds for which the stopping server still serves requests. */
  drain?: number;
  /** Bearer token of `POST /tick`. Only the configuration file contains this option. */
  tickToken?: string;
  /** Whether the command processes the due work and exits. */
  once?: boolean;
  /** Maximum time in milliseconds for the due work. */
  timeLimit?: number;
  publicUrl?: string;
  corsOrigin?: string[];
  allowUnauthenticated?: boolean;
  allowPrivateWebhooks?: boolean;
  logFormat?: LogFormat;
  logRequests?: boolean;
  /** File of the traffic record. */
  record?: string | TrafficRecordOptions;
  /** URL of the collector that receives spans and metrics. */
  otlp?: string;
  metricsPort?: number;
  output: OutputFormat;
  /** Name of the command in hints. Default: `serve`. */
  commandName?: string;
}

/** The agents to serve, and the banner texts that the command prints after the server has started. */
export interface AgentsToServe {
  /** Agents by name. The first agent is the default agent. */
  agents: Record<string, Agent>;
  /** Text line at the top of the banner. */
  headline?: string;
  /** Renders the banner text below the list of agents. */
  renderBannerFooter(served: readonly ServedAgentSummary[], header?: string): string;
  /** Server options that no flag sets. */
  serverOptions?: Pick<ServerOptions, "cardMaxAgeSeconds">;
  /** Replaces the log for people. Default: the log of servers. */
  createLog?: (log: Observer) => Observer;
  /** Mode of the console. Default: `serve`. */
  consoleMode?: "dev" | "serve";
  /** Record that the console shows. Default: a record of the server. */
  consoleRecord?: TrafficWriter;
  /** URLs of other agents that the console shows. Default: none. */
  consoleAgentUrls?: readonly string[];
  /** Called once the server listens. `console` is the console of the option `--console`. */
  onListening?: (server: Server, console: Console | undefined) => void;
  /** Releases the resources of the served agents. */
  close?: () => Promise<void>;
}

/** The options of a command that listens on a port. */
export type ListenOptions = ServeAuthOptions &
  Pick<ServeOptions, "port" | "strictPort" | "host" | "grpcPort" | "grpcUnlisted" | "allowUnauthenticated">;

const MAX_PORT_TRIES = 20;
const SQLITE_PREFIX = "sqlite:";
const DAY_MS = 24 * 60 * 60 * 1000;

function toRetention(days: number): RetentionOptions | false {
  return days > 0 && { keepTasksMs: days * DAY_MS };
}

function toCorsOrigins(origins: readonly string[]): readonly string[] | "*" {
  return origins.includes("*") ? "*" : origins;
}

/**
 * Serves the agents until the user stops the command. The command writes human-readable text to stderr. In
 * JSON format, the command writes one JSON document to stdout.
 */
export async function serveUntilStopped(
  options: ServeOptions,
  context: CliContext,
  load: (adk: AdkAgentFactory) => Promise<AgentsToServe>,
): Promise<void> {
  if (options.record !== undefined) await assertRecordWritable(getRecordFilePath(options.record));
  const observer = createStderrLogObserver(context, options);
  const adk = new AdkAgentFactory(observer);
  // The import of an agent file may never end.
  const plan = await untilAborted(load(adk), context.interruptSignal);
  // Runs after the agents are loaded, because their `.env` files may contain the tokens.
  const authenticate = createAuthSchemes(options, process.env);
  const mounted = await mountConsole(options, plan, authenticate !== undefined);
  const server = createServerOrUsageError(plan.agents, options.commandName, {
    store: options.store as StoreOption,
    observer:
      plan.createLog && getLogFormat(context, options) === "pretty" ? plan.createLog(observer) : observer,
    ...mounted?.serverOptions,
    ...plan.serverOptions,
    ...(options.keepTasks === undefined ? {} : { retention: toRetention(options.keepTasks) }),
    ...omitUndefined({ role: options.role, tickToken: options.tickToken, publicUrl: options.publicUrl }),
    ...(options.corsOrigin === undefined ? {} : { cors: { origins: toCorsOrigins(options.corsOrigin) } }),
    // The console shows the traffic that goes to the record.
    ...(options.record === undefined || mounted ? {} : { record: options.record }),
    ...(authenticate ? { authenticate } : {}),
    ...(options.allowUnauthenticated ? { allowUnauthenticated: true } : {}),
    ...(options.textIndex ? { textIndex: true } : {}),
    ...(options.allowPrivateWebhooks ? { push: { allowPrivate: true } } : {}),
    ...(options.otlp === undefined ? {} : { telemetry: { otlp: options.otlp } }),
    ...(options.metricsPort === undefined
      ? {}
      : { metrics: { port: options.metricsPort, host: options.host } }),
    ...(options.openai
      ? {
          mountedHandlers: [
            (await import("../../agents/openai-facade/index.ts")).createOpenAiFacade({ observer }),
            ...(mounted ? [mounted.console] : []),
          ],
        }
      : {}),
  });
  let isListening = false;
  try {
    if (options.once) {
      await processDueWorkOnce(server, options, context);
      return;
    }
    const address = await listenOnNextFreePort(server, options, context);
    isListening = true;
    context.continueWithoutReader?.();
    const { url, agents, grpc, metrics } = address;
    const openai = options.openai ? { openai: `${url}/v1` } : {};
    const consoleUrl = mounted?.renderUrl(url);
    new OutputWriter(context.streams, options.output).writeResultIfJsonFormat({
      url,
      agents,
      ...(grpc ? { grpc } : {}),
      ...(metrics ? { metrics } : {}),
      ...openai,
      ...(consoleUrl === undefined ? {} : { console: consoleUrl }),
    });
    context.streams.err(
      await renderBanner(
        plan,
        address,
        server.store.name,
        options,
        authenticate && describeClientCredentials(authenticate),
        consoleUrl,
      ),
    );
    plan.onListening?.(server, mounted?.console);
    if (options.open && consoleUrl !== undefined) openInBrowser(consoleUrl);
    await waitForAbort(context.interruptSignal);
    context.streams.err("Stopping. Press Ctrl-C again to stop at once.\n");
  } finally {
    await server.close(isListening && options.drain !== undefined ? { drainMs: options.drain } : {});
    mounted?.console.close();
    await plan.close?.();
  }
}

/** Creates the console of the option `--console`. */
async function mountConsole(
  options: ServeOptions,
  { consoleMode = "serve", consoleRecord, consoleAgentUrls = [] }: AgentsToServe,
  isAuthenticated: boolean,
): Promise<MountedConsole | undefined> {
  const { console, host, publicUrl, allowPrivateAgents, open } = options;
  const { operatorTokenFile, record: recordFile, prices: priceFile } = options;
  if (!console) {
    if (operatorTokenFile !== undefined)
      throw createUsageError("--operator-token-file requires --console, which operators use.");
    if (open) throw createUsageError("--open requires --console.");
    if (priceFile !== undefined)
      throw createUsageError("--prices requires --console, which shows the costs.");
    if (allowPrivateAgents) throw createUsageError("--allow-private-agents requires --console.");
    return undefined;
  }
  const { createMountedConsole } = await import("./serve-console.ts");
  return createMountedConsole({
    mode: consoleMode,
    name: "Colloquy",
    host,
    publicUrl,
    allowPrivateAgents,
    isAuthenticated,
    operatorTokenFile,
    sessionSecretFile: options.store.startsWith(SQLITE_PREFIX)
      ? `${options.store.slice(SQLITE_PREFIX.length)}-console-secret`
      : undefined,
    record: consoleRecord,
    recordFile,
    priceFile,
    agentUrls: consoleAgentUrls,
  });
}

/** Processes the due work, and prints its numbers. */
async function processDueWorkOnce(
  server: Server,
  { timeLimit: timeLimitMs, output }: ServeOptions,
  { streams, interruptSignal }: CliContext,
): Promise<void> {
  const processing = server.processDueWork(timeLimitMs === undefined ? {} : { timeLimitMs });
  const report = await untilAborted(processing, interruptSignal);
  new OutputWriter(streams, output).writeResultIfJsonFormat({ ...report });
  const { pluralize } = await import("../cards/text-table.ts");
  const { turns, notifications, isComplete } = report;
  const end = isComplete ? "" : " The time limit has passed before the work has ended.";
  streams.err(
    `Started ${pluralize(turns, "agent run")} and sent ${pluralize(notifications, "push notification")}.${end}\n`,
  );
}

/** Creates the server. Throws a usage error if the server options are invalid. */
function createServerOrUsageError(
  agents: Record<string, Agent>,
  commandName = "serve",
  options: ServerOptions,
): Server {
  try {
    return createServer(agents, options);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw createUsageError(message, `Run colloquy ${commandName} --help for the flags.`, error);
  }
}

async function renderBanner(
  plan: AgentsToServe,
  { url, agents, grpc, metrics }: ServerAddress,
  storeName: string,
  { openai, role }: ServeOptions,
  credentialHint: ReturnType<typeof describeClientCredentials> | undefined,
  consoleUrl: string | undefined,
): Promise<string> {
  const served = await Promise.all(
    agents.map(async ({ id, url }) => ({
      id,
      url,
      description: await (plan.agents[id] as Agent).describe(),
    })),
  );
  const top = `colloquy ${readPackageVersion()} · node ${process.version} · ${storeName}\n`;
  const grpcLine = grpc ? `  over gRPC, too: ${grpc.host}:${grpc.port}\n` : "";
  const metricsLine = metrics ? `  metrics: http://${metrics.host}:${metrics.port}/metrics\n` : "";
  const openaiLine = openai ? `  as models of OpenAI's API, too: ${url}/v1\n` : "";
  const consoleLine = consoleUrl === undefined ? "" : `  console: ${consoleUrl}\n`;
  const about = plan.headline === undefined ? "" : `${plan.headline}\n`;
  const footer = plan.renderBannerFooter(served, credentialHint?.header);
  const isWorker = role === "worker";
  const requestLine = isWorker
    ? `This worker accepts no A2A requests, only ${url}/healthz, /readyz, and /tick.\n`
    : credentialHint
      ? `${credentialHint.hint}\n\n`
      : "";
  const agentList = renderAgentList(isWorker ? served.map((one) => ({ ...one, url: "" })) : served);
  return `${top}${about}\n${agentList}${grpcLine}${openaiLine}${metricsLine}${consoleLine}\n${requestLine}${footer}\nCtrl-C stops it.\n`;
}

/** Ports from 1024 that fetch refuses (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10_080,
]);

function findOpenPort(port: number): number {
  return BLOCKED_PORTS.has(port) ? findOpenPort(port + 1) : port;
}

/** Listens on the requested port, or on the next free port if the requested port is in use. */
export async function listenOnNextFreePort(
  server: Server,
  options: ListenOptions,
  { streams }: CliContext,
): Promise<ServerAddress> {
  const { port, strictPort, host, grpcPort, grpcUnlisted = false } = options;
  const grpc = grpcPort === undefined ? {} : { grpc: { port: grpcPort, listedInCard: !grpcUnlisted } };
  const last = strictPort || port === 0 ? port : port + MAX_PORT_TRIES;
  for (let next = port; ; next++) {
    try {
      const address = await server.listen({ port: next, host, ...grpc });
      if (next !== port) streams.err(`Port ${port} is in use; using ${next}.\n`);
      if (BLOCKED_PORTS.has(next))
        streams.err(`hint: browsers and fetch refuse port ${next}; use --port ${findOpenPort(next)}.\n`);
      return address;
    } catch (error) {
      if (!isPortInUseError(error)) throw createStartError(error, options);
      if (next < last) continue;
      throw createPortInUseError(
        last === port
          ? `Port ${port} is in use. Stop the process that uses it, or choose another port.`
          : `The ports ${port} to ${last} are in use. Choose another port.`,
        error,
      );
    }
  }
}

/**
 * Creates the error for a server that cannot start. The code is `A2ACLI_ERR_UNREACHABLE` if the task store is not
 * available, and otherwise `A2ACLI_ERR_INTERNAL`.
 */
function createStartError(error: unknown, options: ListenOptions): CliError {
  const { host, allowUnauthenticated } = options;
  const message = error instanceof Error ? error.message : String(error);
  const hint =
    host === "127.0.0.1" || allowUnauthenticated || hasAuthOptions(options)
      ? undefined
      : "Configure authentication, for example with --auth-token-env, or pass --allow-unauthenticated to accept all callers.";
  const isUnavailable = error instanceof A2AError && error.reason === "UNAVAILABLE";
  return new CliError(isUnavailable ? "A2ACLI_ERR_UNREACHABLE" : "A2ACLI_ERR_INTERNAL", message, hint, error);
}

/** Creates an observer that writes the log to stderr. */
export function createStderrLogObserver(
  context: CliContext,
  options: Pick<ServeOptions, "logFormat" | "logRequests"> = {},
): Observer {
  return createLogObserver({
    write: (entry) => context.streams.err(entry),
    format: getLogFormat(context, options),
    requests: options.logRequests ?? false,
  });
}

function getLogFormat(
  { stderrColumns }: CliContext,
  { logFormat }: Pick<ServeOptions, "logFormat">,
): "json" | "pretty" {
  return logFormat ?? (stderrColumns === undefined ? "json" : "pretty");
}
