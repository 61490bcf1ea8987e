import { isObject, type AgentCard } from "../../protocol/index.ts";
import type { TrafficModel } from "../../observe/trace/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import type { ConsoleCardObservation, ConsoleCardProblem, ConsoleCardReport } from "../console-api/index.ts";
import { checkCardSignatures, type CardKeySources } from "./check-card-signatures.ts";

/** A card as the agent served it. */
export interface ServedCard {
  readonly card: AgentCard;
  readonly json: unknown;
  readonly cardUrl: string;
}

/** Checks a card, and compares its claims with the observed traffic of the agent. */
export async function createCardReport(
  { card, json, cardUrl }: ServedCard,
  model: TrafficModel,
  keySources: CardKeySources,
): Promise<ConsoleCardReport> {
  return {
    card: isObject(json) ? json : {},
    cardUrl,
    problems: findCardProblems(json, card, cardUrl),
    signature: await checkCardSignatures({ json, cardUrl, signatures: card.signatures ?? [] }, keySources),
    observed: observeClaims(card, model),
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
  model: TrafficModel,
): ConsoleCardObservation[] {
  const traffic = countTraffic(name, model);
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
  readonly deliveries: number;
  readonly callsByInterface: Map<string, number>;
}

/** Counts the traffic of an agent. A client and the server can both observe a request, which counts once. */
function countTraffic(agent: string, model: TrafficModel): ObservedTraffic {
  const tasks = [...model.tasks.values()].filter((task) => task.agent === agent);
  const deliveries = tasks
    .flatMap(({ entries }) => entries)
    .filter(({ line }) => line.kind === "push" && line.outcome === "delivered").length;
  const traffic: ObservedTraffic = {
    streams: 0,
    failedStreams: 0,
    frames: 0,
    deliveries,
    callsByInterface: new Map(),
  };
  for (const { to, operation, calls, frames } of model.exchanges) {
    if (to !== agent) continue;
    const { binding = "", protocol_version: version = "" } = calls[0]?.request?.line ?? {};
    const key = `${binding} ${version.split(".", 2).join(".")}`;
    traffic.callsByInterface.set(key, (traffic.callsByInterface.get(key) ?? 0) + 1);
    traffic.frames += frames;
    if (!/Stream|Subscribe/.test(operation)) continue;
    if (calls.some(({ isStream }) => isStream)) traffic.streams += 1;
    else if (calls.some(({ response }) => response)) traffic.failedStreams += 1;
  }
  return traffic;
}
