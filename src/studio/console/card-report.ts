import { isObject, type AgentCard } from "../../protocol/index.ts";
import { decodeTrafficLine } from "../../observe/trace/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import type { ConsoleCardObservation, ConsoleCardProblem, ConsoleCardReport } from "../console-api/index.ts";
import { checkCardSignatures, type CardKeySources } from "./check-card-signatures.ts";
import type { LineJournal } from "./line-journal.ts";

/** A card as the agent served it. */
export interface ServedCard {
  readonly card: AgentCard;
  readonly json: unknown;
  readonly cardUrl: string;
}

/** Checks a card, and compares its claims with the observed traffic of the agent. */
export async function createCardReport(
  { card, json, cardUrl }: ServedCard,
  journal: LineJournal,
  keySources: CardKeySources,
): Promise<ConsoleCardReport> {
  return {
    card: isObject(json) ? json : {},
    cardUrl,
    problems: findCardProblems(json, card, cardUrl),
    signature: await checkCardSignatures({ json, cardUrl, signatures: card.signatures ?? [] }, keySources),
    observed: observeClaims(card, journal),
  };
}

function findCardProblems(json: unknown, card: AgentCard, cardUrl: string): ConsoleCardProblem[] {
  const isV1 = isObject(json) && ("supportedInterfaces" in json || "supported_interfaces" in json);
  const violations = isV1 ? v1.validateAgentCard(json, "strict") : [];
  return [
    ...violations.map(({ field, description }): ConsoleCardProblem => {
      return { path: field, message: description, severity: "error" };
    }),
    ...findUnreachableInterfaces(card, cardUrl),
  ];
}

/** Finds interfaces that only the machine of the agent can reach, although the card came from another machine. */
function findUnreachableInterfaces(
  { supportedInterfaces }: AgentCard,
  cardUrl: string,
): ConsoleCardProblem[] {
  const cardHost = URL.parse(cardUrl)?.hostname ?? "";
  return supportedInterfaces.flatMap(({ url, protocolBinding }, at): ConsoleCardProblem[] => {
    // The address of a gRPC interface is usually `host:port`, without a scheme.
    const host = (URL.parse(url) ?? (protocolBinding === "GRPC" ? URL.parse(`grpc://${url}`) : null))
      ?.hostname;
    const path = `supportedInterfaces[${at}].url`;
    if (host === undefined)
      return [
        { path, message: `${JSON.stringify(url.slice(0, 100))} is no absolute URL`, severity: "error" },
      ];
    if (host === "0.0.0.0" || (isLoopback(host) && !isLoopback(cardHost)))
      return [
        {
          path,
          message: `names ${host}, which other machines cannot reach; set the public URL`,
          severity: "warning",
        },
      ];
    return [];
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.startsWith("127.") || host === "[::1]";
}

/** Compares the claims of a card with the traffic of the agent. Claims without traffic are not listed. */
function observeClaims(
  { name, capabilities, supportedInterfaces }: AgentCard,
  journal: LineJournal,
): ConsoleCardObservation[] {
  const traffic = countTraffic(name, journal);
  const observations: ConsoleCardObservation[] = [];
  if (traffic.streams > 0 || traffic.failedStreams > 0) {
    const isStreaming = capabilities.streaming ?? false;
    observations.push({
      claim: `capabilities.streaming: ${isStreaming}`,
      observation:
        `${pluralize(traffic.streams, "stream")} with ${pluralize(traffic.frames, "event")}, ` +
        pluralize(traffic.failedStreams, "refused stream"),
      isConsistent: isStreaming ? traffic.streams > 0 : traffic.streams === 0,
    });
  }
  if (traffic.deliveries > 0) {
    const isPushing = capabilities.pushNotifications ?? false;
    const observation = pluralize(traffic.deliveries, "push notification");
    observations.push({
      claim: `capabilities.pushNotifications: ${isPushing}`,
      observation,
      isConsistent: isPushing,
    });
  }
  for (const [key, calls] of traffic.callsByInterface) {
    const isDeclared = supportedInterfaces.some(
      ({ protocolBinding, protocolVersion }) =>
        key === `${protocolBinding} ${protocolVersion.split(".", 2).join(".")}`,
    );
    const claim = `supportedInterfaces: ${key}`;
    observations.push({ claim, observation: pluralize(calls, "request"), isConsistent: isDeclared });
  }
  return observations;
}

function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

interface ObservedTraffic {
  streams: number;
  failedStreams: number;
  frames: number;
  deliveries: number;
  readonly callsByInterface: Map<string, number>;
}

function countTraffic(agent: string, journal: LineJournal): ObservedTraffic {
  const traffic: ObservedTraffic = {
    streams: 0,
    failedStreams: 0,
    frames: 0,
    deliveries: 0,
    callsByInterface: new Map(),
  };
  /** Operations of the agent's calls. */
  const operations = new Map<string, string>();
  for (const { text, callKey = "" } of journal.entriesAfter(0)) {
    const decoded = decodeTrafficLine(text);
    if (decoded.type !== "traffic") continue;
    const { line } = decoded;
    if (line.kind === "request" && line.to === agent) {
      operations.set(callKey, line.operation);
      const key = `${line.binding} ${(line.protocol_version ?? "").split(".", 2).join(".")}`;
      traffic.callsByInterface.set(key, (traffic.callsByInterface.get(key) ?? 0) + 1);
    } else if (line.kind === "push" && line.agent === agent && line.outcome === "delivered")
      traffic.deliveries += 1;
    const operation = operations.get(callKey);
    if (operation === undefined) continue;
    if (line.kind === "frame") traffic.frames += 1;
    if (line.kind !== "response" || !/Stream|Subscribe/.test(operation)) continue;
    if (line.is_stream) traffic.streams += 1;
    else traffic.failedStreams += 1;
  }
  return traffic;
}
