import { isObject, A2AError, type AgentCard, type AgentInterface } from "../../protocol/index.ts";
import { v0_3, v1, type PeerLeniency } from "../../wire/index.ts";

/**
 * Decodes the JSON of an A2A 1.0 card, an A2A 0.3 card, or a card that combines both versions. Relative URLs
 * of interfaces are resolved against `cardUrl`. If `isVerified` is true, the function ignores the 0.3 members
 * of a combined card, because the signature does not cover them.
 */
export function decodeCard(
  json: unknown,
  cardUrl: string,
  isVerified: boolean,
  leniency: PeerLeniency,
): AgentCard {
  if (!isObject(json) || typeof json["name"] !== "string") throw createNotACardError();
  const isV1 = "supportedInterfaces" in json || "supported_interfaces" in json;
  const isV0_3 = "url" in json;
  if (!isV1 && !isV0_3) throw createNotACardError();
  const card = isV1 ? v1.decodeCard(json, leniency) : v0_3.decodeCard(json);
  const v0_3Interfaces = isV1 && isV0_3 && !isVerified ? v0_3.decodeCard(json).supportedInterfaces : [];
  const supportedInterfaces = [...card.supportedInterfaces, ...v0_3Interfaces].map((agentInterface) =>
    agentInterface.url.startsWith("/")
      ? { ...agentInterface, url: new URL(agentInterface.url, cardUrl).href }
      : agentInterface,
  );
  return { ...card, supportedInterfaces: supportedInterfaces.filter(isFirstInterfaceOccurrence) };
}

/**
 * Returns false if the agent card already lists an equal interface before this one. A combined card lists its
 * 0.3 interfaces twice, and a 0.3 card lists its preferred interface twice.
 */
function isFirstInterfaceOccurrence(
  agentInterface: AgentInterface,
  index: number,
  interfaces: readonly AgentInterface[],
): boolean {
  return index === interfaces.findIndex((other) => isSameInterface(agentInterface, other));
}

function isSameInterface(agentInterface: AgentInterface, other: AgentInterface): boolean {
  const { url, protocolBinding, protocolVersion } = agentInterface;
  return (
    url === other.url &&
    protocolBinding === other.protocolBinding &&
    toMajorMinor(protocolVersion) === toMajorMinor(other.protocolVersion)
  );
}

function toMajorMinor(version: string): string {
  return version.split(".", 2).join(".");
}

function createNotACardError(): A2AError {
  return new A2AError("INVALID_AGENT_RESPONSE", "not an agent card");
}
