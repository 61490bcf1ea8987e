import { startTap } from "../../src/studio/tap/index.ts";
import { isRestError } from "../../src/studio/tap/recording/decode-recorded-result.ts";
import { decodeTrafficLines, type TrafficLine } from "../../src/observe/trace/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../src/observe/trace/recording/index.ts";
import { checkInjectedFaults, type FaultCheck } from "./check-injected-faults.ts";
import { PROTOCOL_VARIANTS, type ProtocolVariant, type ScenarioOutcome } from "./protocol-variants.ts";
import { runTheirClient, startPeerServers } from "./run-sdk-peer.ts";
import type { PeerServerAndClientCommands, SdkPeer } from "./sdk-peers.ts";

/** The client of one project and the server of another, or of the same one. */
export interface TappedPair {
  readonly client: SdkPeer;
  readonly clientPrograms: PeerServerAndClientCommands;
  readonly server: SdkPeer;
  readonly serverPrograms: PeerServerAndClientCommands;
  /** The variants to run, of those that both projects support. */
  readonly isChosen: (variant: ProtocolVariant) => boolean;
}

/** The outcomes of one pair in one variant, without and with the tap. */
export interface TappedPairResult {
  readonly pair: string;
  readonly variant: string;
  readonly scenarios: number;
  /** Scenarios whose outcome the tap changed. */
  readonly changed: readonly string[];
  /** Number of requests and frames in the record. */
  readonly requests: number;
  readonly frames: number;
  /** Causes of the streams that were cut. */
  readonly cuts: readonly string[];
  /** Texts of the A2A frames that the tap could not decode. */
  readonly undecoded: readonly string[];
}

/** Runs the scenarios of a client with a server directly and through the tap. Neither side has code of Colloquy. */
export async function* runPairThroughTap(
  { client, clientPrograms, server, serverPrograms, isChosen }: TappedPair,
  token: string,
): AsyncGenerator<TappedPairResult> {
  if (!serverPrograms.server || !clientPrograms.createClientCommand) return;
  const servers = await startPeerServers(serverPrograms.server, token);
  try {
    for (const variant of PROTOCOL_VARIANTS.filter(
      (one) => client.supports(one) && server.supports(one) && isChosen(one),
    )) {
      const run = async (url: string, securedUrl: string): Promise<ScenarioOutcome[]> => {
        const command = clientPrograms.createClientCommand?.(url, variant);
        const outcomes: ScenarioOutcome[] = [];
        if (command)
          for await (const outcome of runTheirClient([...command, securedUrl, token])) outcomes.push(outcome);
        return outcomes;
      };
      const direct = await run(servers.url, servers.securedUrl);
      const sink = createMemoryTrafficSink();
      const writer = createTrafficWriter(sink, { vantage: "tap", name: "tap" });
      const tap = await startTap({ targets: [{ url: servers.url }, { url: servers.securedUrl }], writer });
      const [target, securedTarget] = tap.targets;
      const tapped = await run(target?.url ?? "", securedTarget?.url ?? "");
      await tap.close();
      await writer.close();
      yield {
        pair: `${client.name} → ${server.name}`,
        variant: `${variant.binding} ${variant.version}`,
        scenarios: direct.length,
        changed: findChangedScenarios(direct, tapped),
        ...summarizeLines(decodeTrafficLines(sink.text())),
      };
    }
  } finally {
    servers.stop();
  }
}

/** One rule for each fault switch of the tap. */
const FAULT_RULES = [
  "cut:after=2",
  "drop:frame=2",
  "duplicate:frame=2",
  "delay:ms=100",
  "429:retry-after=1,every=2",
  "drop:every=3",
  "slow:bytes-per-s=20000",
  "kill:ms=200,after=1,every=2",
];
/** Time in milliseconds after which a client that waits for a withheld event is ended. */
const FAULTY_RUN_MS = 60_000;

/** The faults of one run, and how the record shows them. */
export interface FaultyPairResult extends FaultCheck {
  readonly pair: string;
  readonly variant: string;
  readonly rule: string;
  readonly scenarios: number;
  /** Number of scenarios that fail because of the fault. */
  readonly failed: number;
}

/** Runs the scenarios of a client with a server through the tap, once for each fault switch. */
export async function* runPairWithFaults(
  { client, clientPrograms, server, serverPrograms, isChosen }: TappedPair,
  token: string,
): AsyncGenerator<FaultyPairResult> {
  if (!serverPrograms.server || !clientPrograms.createClientCommand) return;
  const servers = await startPeerServers(serverPrograms.server, token);
  try {
    for (const variant of PROTOCOL_VARIANTS.filter(
      (one) => client.supports(one) && server.supports(one) && isChosen(one),
    ))
      for (const rule of FAULT_RULES) {
        const sink = createMemoryTrafficSink();
        const writer = createTrafficWriter(sink, { vantage: "tap", name: "tap" });
        const targets = [{ url: servers.url }, { url: servers.securedUrl }];
        const tap = await startTap({ targets, writer, faults: [rule] });
        const [target, securedTarget] = tap.targets;
        const command = clientPrograms.createClientCommand(target?.url ?? "", variant);
        const outcomes: ScenarioOutcome[] = [];
        const words = [...command, securedTarget?.url ?? "", token] as const;
        for await (const outcome of runTheirClient(words, AbortSignal.timeout(FAULTY_RUN_MS)))
          outcomes.push(outcome);
        await tap.close();
        await writer.close();
        yield {
          pair: `${client.name} → ${server.name}`,
          variant: `${variant.binding} ${variant.version}`,
          rule,
          scenarios: outcomes.length,
          failed: outcomes.filter(({ ok }) => !ok).length,
          ...checkInjectedFaults(decodeTrafficLines(sink.text())),
        };
      }
  } finally {
    servers.stop();
  }
}

function findChangedScenarios(
  direct: readonly ScenarioOutcome[],
  tapped: readonly ScenarioOutcome[],
): string[] {
  const names = new Set([...direct, ...tapped].map(({ scenario }) => scenario));
  return [...names].flatMap((name) => {
    const [before, after] = [direct, tapped].map((outcomes) =>
      outcomes.find(({ scenario }) => scenario === name),
    );
    return before?.ok === after?.ok ? [] : [`${name}: ${after?.detail ?? (after ? "ok" : "missing")}`];
  });
}

function summarizeLines(
  lines: readonly TrafficLine[],
): Pick<TappedPairResult, "requests" | "frames" | "cuts" | "undecoded"> {
  const count = (condition: (line: TrafficLine) => boolean): number => lines.filter(condition).length;
  return {
    requests: count(({ kind }) => kind === "request"),
    frames: count(({ kind }) => kind === "frame"),
    cuts: lines.flatMap((line) =>
      line.kind === "stream-end" && line.reason === "cut"
        ? [`after ${line.frames} frames: ${line.error}`]
        : [],
    ),
    undecoded: lines.flatMap((line) =>
      line.kind === "frame" && !line.event && isUndecodedText(line.text) ? [line.text ?? ""] : [],
    ),
  };
}

/**
 * Returns whether a frame without an event is one that the tap could not decode. SSE comments have no JSON. The error
 * of a JSON-RPC or HTTP+JSON stream is a frame without an event, whose message is in the `stream-end` line.
 */
function isUndecodedText(text = "{"): boolean {
  if (!text.startsWith("{")) return false;
  try {
    return !isRestError(JSON.parse(text));
  } catch {
    return true;
  }
}
