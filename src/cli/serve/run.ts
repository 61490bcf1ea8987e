import type { Agent, Observer } from "../../engine/index.ts";
import {
  createServer,
  type Address,
  type Server,
  type ServerOptions,
  type StoreChoice,
} from "../../server/index.ts";
import type { Context } from "../context.ts";
import { Output, type Format } from "../output.ts";
import { Problem } from "../problem.ts";
import { packageVersion } from "../version.ts";
import { AdkAgents } from "./adk.ts";
import { authenticationOf, hasAuthentication, sendingOf, type AuthOptions } from "./authentication.ts";
import { agentLines, type Served } from "./banner.ts";

/** What `serve` and `demo` have in common. */
export interface ServeOptions extends AuthOptions {
  port: number;
  strictPort?: boolean;
  grpcPort?: number;
  openai?: boolean;
  host: string;
  store: string;
  publicUrl?: string;
  allowUnauthenticated?: boolean;
  allowPrivateWebhooks?: boolean;
  output: Format;
}

/** What is to be served, and what to tell people of it once it can be reached. */
export interface Lineup {
  /** By the names under which they are served; the first is the default. */
  agents: Record<string, Agent>;
  /** A line for the top. */
  about?: string;
  /** What stands below the list of agents. */
  below(served: readonly Served[], header?: string): string;
  /** Ends what was begun for the agents. */
  close?: () => Promise<void>;
}

const PORTS_TRIED = 20;

/** Serves until the user stops it. What people read goes to stderr; stdout gets one document, and only in JSON. */
export async function serveUntilStopped(
  options: ServeOptions,
  context: Context,
  load: (adk: AdkAgents) => Promise<Lineup>,
): Promise<void> {
  const observer = errorsTo(context);
  const adk = new AdkAgents(options.store, observer);
  const lineup = await load(adk);
  // After the agents, because their .env may have the tokens.
  const authenticate = authenticationOf(options, process.env);
  const server = created(lineup.agents, {
    store: options.store as StoreChoice,
    observer,
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    ...(authenticate ? { authenticate } : {}),
    ...(options.allowUnauthenticated ? { allowUnauthenticated: true } : {}),
    ...(options.allowPrivateWebhooks ? { push: { allowPrivate: true } } : {}),
    ...(options.openai
      ? { beside: [(await import("../../facade/index.ts")).openaiFacade({ observer })] }
      : {}),
  });
  try {
    const address = await listen(server, options, context);
    const { url, agents, grpc } = address;
    const openai = options.openai ? { openai: `${url}/v1` } : {};
    new Output(context.streams, options.output).fact({ url, agents, ...(grpc ? { grpc } : {}), ...openai });
    context.streams.err(await banner(lineup, address, options, authenticate && sendingOf(authenticate)));
    await stopped(context.interrupted);
    context.streams.err("Stopping; Ctrl-C again stops at once.\n");
  } finally {
    await server.close();
    await lineup.close?.();
    adk.close();
  }
}

/** What a server refuses before it listens is in what it was told. */
function created(agents: Record<string, Agent>, options: ServerOptions): Server {
  try {
    return createServer(agents, options);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Problem("A2ACLI_ERR_USAGE", message, "colloquy serve --help shows the flags.", error);
  }
}

async function banner(
  lineup: Lineup,
  { url, agents, grpc }: Address,
  { store, openai }: ServeOptions,
  sending: ReturnType<typeof sendingOf> | undefined,
): Promise<string> {
  const served = await Promise.all(
    agents.map(async ({ id, url }) => ({
      id,
      url,
      description: await (lineup.agents[id] as Agent).describe(),
    })),
  );
  const top = `colloquy ${packageVersion()} · node ${process.version} · ${store}\n`;
  const carried = grpc ? `  over gRPC, too: ${grpc.host}:${grpc.port}\n` : "";
  const beside = openai ? `  as models of OpenAI's API, too: ${url}/v1\n` : "";
  const who = sending ? `${sending.hint}\n\n` : "";
  const about = lineup.about === undefined ? "" : `${lineup.about}\n`;
  return `${top}${about}\n${agentLines(served)}${carried}${beside}\n${who}${lineup.below(served, sending?.header)}\nCtrl-C stops it.\n`;
}

/** Listens on the port, or on the next that is free. */
async function listen(server: Server, options: ServeOptions, { streams }: Context): Promise<Address> {
  const { port, strictPort, host, grpcPort } = options;
  const grpc = grpcPort === undefined ? {} : { grpc: { port: grpcPort } };
  const last = strictPort || port === 0 ? port : port + PORTS_TRIED;
  for (let next = port; ; next++) {
    try {
      const address = await server.listen({ port: next, host, ...grpc });
      if (next !== port) streams.err(`Port ${port} is taken; using ${next}.\n`);
      return address;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw cannotStart(error, options);
      if (next < last) continue;
      throw new Problem(
        "A2ACLI_ERR_INTERNAL",
        strictPort ? `Port ${port} is taken.` : `The ports ${port} to ${last} are taken.`,
        "Choose another with --port; 0 takes any that is free.",
        error,
      );
    }
  }
}

/** What keeps a server from starting is its own, also where it says that something (its store) is not available. */
function cannotStart(error: unknown, options: ServeOptions): Problem {
  const { host, allowUnauthenticated } = options;
  const message = error instanceof Error ? error.message : String(error);
  const hint =
    host === "127.0.0.1" || allowUnauthenticated || hasAuthentication(options)
      ? undefined
      : "Pass --allow-unauthenticated if everybody who reaches this machine may come in, or say who may, for example with --auth-token-env.";
  return new Problem("A2ACLI_ERR_INTERNAL", message, hint, error);
}

/** What fails behind the scenes, on stderr. */
export function errorsTo({ streams }: Context): Observer {
  return {
    onError({ where, error, taskId }) {
      const task = taskId ? ` (task ${taskId})` : "";
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
      streams.err(`error in ${where}${task}: ${what}${cause}\n`);
    },
    onPush({ taskId, configId, outcome, reason = "" }) {
      if (outcome !== "dead") return;
      streams.err(`The webhook ${configId} of task ${taskId} is given up: ${reason}\n`);
    },
  };
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
