import {
  isObject,
  A2AError,
  type AgentCard,
  type AgentInterface,
  type JsonObject,
  MAX_URL_LENGTH,
} from "../../protocol/index.ts";
import { isDeviationAccepted, type PeerLeniency } from "../../wire/index.ts";
import * as v1 from "../../wire/v1/index.ts";

/**
 * Decodes the JSON of an A2A 1.0 card, an A2A 0.3 card, or a card that combines both versions. Relative URLs
 * of interfaces are resolved against `cardUrl`. If `isVerified` is true, the function ignores the 0.3 members
 * of a combined card, because the signature does not cover them.
 */
export async function decodeCard(
  json: unknown,
  cardUrl: string,
  isVerified: boolean,
  leniency: PeerLeniency,
): Promise<AgentCard> {
  if (!isObject(json) || typeof json["name"] !== "string") throw createNotACardError();
  const isV1 = "supportedInterfaces" in json || "supported_interfaces" in json;
  const isV0_3 = "url" in json;
  if (!isV1 && !isV0_3) throw createNotACardError();
  const card = isV1 ? v1.decodeCard(unwrapCases(json, leniency), leniency) : await decodeCard03(json);
  const v0_3Interfaces = isV1 && isV0_3 && !isVerified ? (await decodeCard03(json)).supportedInterfaces : [];
  const supportedInterfaces = [...card.supportedInterfaces, ...v0_3Interfaces].map((agentInterface) =>
    agentInterface.url.startsWith("/")
      ? { ...agentInterface, url: resolveInterfaceUrl(agentInterface.url, cardUrl) }
      : agentInterface,
  );
  assertInterfaceLimits(supportedInterfaces);
  return { ...card, supportedInterfaces: removeRepeatedInterfaces(supportedInterfaces) };
}

/** Returns the ProtoJSON of security schemes in the internal format of ts-proto: `{scheme: {$case, value}}`. */
function unwrapCases(json: JsonObject, leniency: PeerLeniency): JsonObject {
  const { securitySchemes: schemes } = json;
  if (!schemes || !isDeviationAccepted("oneofAsCase", leniency)) return json;
  const securitySchemes = JSON.parse(JSON.stringify(schemes), (_, value) => {
    const oneof = value?.scheme ?? value?.flow;
    return oneof?.$case ? { [oneof.$case]: oneof.value } : value;
  });
  return { ...json, securitySchemes };
}

/** A2A 0.3 is loaded on first use, so that web pages for A2A 1.0 do not contain it. */
async function decodeCard03(json: unknown): Promise<AgentCard> {
  const { decodeCard } = await import("../../wire/v0_3/index.ts");
  return decodeCard(json);
}

function resolveInterfaceUrl(url: string, cardUrl: string): string {
  const resolved = URL.parse(url, cardUrl);
  if (resolved) return resolved.href;
  const message = `the card has an interface with the invalid URL ${JSON.stringify(url.slice(0, 100))}`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}

/** Maximum number of interfaces in an agent card. Agents have one for each binding and version. */
const MAX_INTERFACES = 100;

/** Throws if an agent card has too many interfaces, or an interface with a too long URL. */
function assertInterfaceLimits(interfaces: readonly AgentInterface[]): void {
  if (interfaces.length > MAX_INTERFACES)
    throw new A2AError(
      "INVALID_AGENT_RESPONSE",
      `the card has ${interfaces.length} interfaces; the maximum is ${MAX_INTERFACES}`,
    );
  const index = interfaces.findIndex(({ url }) => url.length > MAX_URL_LENGTH);
  if (index < 0) return;
  const message = `the URL of interface ${index} of the card has ${interfaces[index]?.url.length} characters; the maximum is ${MAX_URL_LENGTH}`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}

/**
 * Keeps the first of equal interfaces. A combined card lists its 0.3 interfaces twice, and a 0.3 card lists its
 * preferred interface twice.
 */
function removeRepeatedInterfaces(interfaces: readonly AgentInterface[]): AgentInterface[] {
  const keys = new Set<string>();
  return interfaces.filter(({ url, protocolBinding, protocolVersion }) => {
    const key = JSON.stringify([url, protocolBinding, toMajorMinor(protocolVersion)]);
    return !keys.has(key) && keys.add(key);
  });
}

function toMajorMinor(version: string): string {
  return version.split(".", 2).join(".");
}

function createNotACardError(): A2AError {
  return new A2AError("INVALID_AGENT_RESPONSE", "not an agent card");
}
