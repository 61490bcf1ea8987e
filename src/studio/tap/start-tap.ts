import { randomBytes } from "node:crypto";
import { findCard } from "../../client/index.ts";
import { A2AError, isObject, isLoopbackHost } from "../../protocol/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import { AgentDirectory } from "./cards/agent-directory.ts";
import { CardRewriter } from "./cards/card-rewriter.ts";
import { startTapControl, type TapControl } from "./control-api.ts";
import { FaultSwitches } from "./faults/fault-switches.ts";
import type { RelayContext, TapCallSummary } from "./relay-context.ts";
import { TapListeners } from "./tap-listeners.ts";

/** An agent or a host to which the tap forwards. */
export interface TapTarget {
  /** Name of the agent in the record and in fault rules. Default: the name of its card. */
  readonly name?: string;
  /** URL of the agent, of its host, or of its card. */
  readonly url: string;
}

/** Options of `startTap`. */
export interface TapOptions {
  readonly targets: readonly TapTarget[];
  /** Receives the lines of the record. The caller closes the writer. */
  readonly writer: TrafficWriter;
  /**
   * Port for the first target. Each further target has the next port. Default: a free port for each target.
   */
  readonly port?: number;
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** Accepts requests of other machines, which the tap does not authenticate. Default: false. */
  readonly allowUnauthenticated?: boolean;
  /** Fault rules that are on from the beginning, such as `cut:after=3`. Default: none. */
  readonly faults?: readonly string[];
  /** Whether the tap checks the TLS certificates of agents. Default: true. */
  readonly verifyCertificates?: boolean;
  /** Maximum time in milliseconds for a connection to an agent. Default: 10,000. */
  readonly connectMs?: number;
  /** Called with warnings, such as a removed signature. */
  readonly onWarning?: (text: string) => void;
  /** Called after each call. */
  readonly onCallEnd?: (call: TapCallSummary) => void;
}

/** A running tap. */
export interface RunningTap {
  /** The targets, each with the URL under which clients reach it through the tap. */
  readonly targets: readonly { readonly name?: string; readonly url: string; readonly target: string }[];
  /** Switches faults on and off. */
  readonly faults: FaultSwitches;
  readonly control: TapControl;
  /** Closes all connections, and writes the ends of their calls to the record. */
  close(): Promise<void>;
}

/** Time in milliseconds for fetching the card of a target at the start. */
const CARD_FETCH_MS = 3_000;

/**
 * Starts a recording reverse proxy. Each target has its own port, so that paths and bodies pass unchanged. The URLs in
 * agent cards lead to the tap. Rejects if an option is invalid, or if a port is in use.
 */
export async function startTap(options: TapOptions): Promise<RunningTap> {
  const { writer, port = 0, host = "127.0.0.1", onWarning = () => {}, faults = [] } = options;
  assertMayListen(host, options.allowUnauthenticated ?? false);
  const targets = options.targets.map(({ name, url }) => ({ name, url: parseTargetUrl(url) }));
  if (targets.length === 0) throw invalidOption("targets", "is empty; pass the URL of an agent");
  const switches = new FaultSwitches();
  for (const fault of faults) switches.add(fault);
  const directory = new AgentDirectory();
  for (const { name, url } of targets) directory.addTarget(name, url);
  const cards = new CardRewriter({
    directory,
    writer,
    openPort: (address) => listeners.openPortForInterface(address),
    warn: onWarning,
  });
  const stop = new AbortController();
  const context: RelayContext = {
    writer,
    switches,
    directory,
    cards,
    pseudonym: `colloquy-tap-${randomBytes(6).toString("hex")}`,
    verifyCertificates: options.verifyCertificates ?? true,
    connectMs: options.connectMs ?? 10_000,
    monotonicNow: () => performance.now(),
    stopSignal: stop.signal,
    onCallEnd: options.onCallEnd ?? (() => {}),
  };
  const listeners = new TapListeners(
    context,
    host,
    targets.map(({ url }) => url),
  );
  const shownHost = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  try {
    const addresses = [];
    for (const [index, { name, url }] of targets.entries()) {
      const ownPort = await listeners.openPort("http", new URL(url.origin), port === 0 ? 0 : port + index);
      const tapUrl = `http://${shownHost.includes(":") ? `[${shownHost}]` : shownHost}:${ownPort}${url.pathname}${url.search}`;
      addresses.push({
        ...(name === undefined ? {} : { name }),
        url: tapUrl.replace(/\/$/, ""),
        target: url.href,
      });
    }
    await Promise.all(targets.map(({ url }) => readTargetCard(url, cards, shownHost, onWarning)));
    const control = await startTapControl(switches, addresses);
    return {
      targets: addresses,
      faults: switches,
      control,
      close: async () => {
        stop.abort(new Error("The tap stopped."));
        await Promise.all([control.close(), listeners.close()]);
      },
    };
  } catch (error) {
    await listeners.close();
    throw error;
  }
}

/** Reads the card of a target, so that its name and its other addresses are known before the first request. */
async function readTargetCard(
  url: URL,
  cards: CardRewriter,
  shownHost: string,
  warn: (text: string) => void,
): Promise<void> {
  try {
    const found = await findCard(url.href, {
      timeouts: { connectMs: CARD_FETCH_MS },
      retry: { maxRetries: 0 },
    });
    if (isObject(found.json)) await cards.rewrite(found.json, new URL(found.url), shownHost);
  } catch {
    warn(
      `The tap found no agent card at ${url.href}. Check the URL, or start the agent. The tap forwards requests anyway.`,
    );
  }
}

function parseTargetUrl(text: string): URL {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url;
  throw invalidOption(
    "targets",
    `has ${JSON.stringify(text.slice(0, 200))}; pass a URL such as http://127.0.0.1:4120`,
  );
}

/** Other machines can reach the agents through the tap, so that the user must allow this. */
function assertMayListen(host: string, allowUnauthenticated: boolean): void {
  if (isLoopbackHost(host) || allowUnauthenticated) return;
  throw invalidOption(
    "host",
    `is ${host}, which other machines can reach; listen on 127.0.0.1, or set allowUnauthenticated`,
  );
}

function invalidOption(field: string, description: string): A2AError {
  return A2AError.invalidParams([{ field, description }]);
}
