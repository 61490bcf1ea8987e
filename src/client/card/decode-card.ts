import { A2AError, type AgentCard, type AgentInterface } from "../../protocol/index.ts";
import { v0_3, v1 } from "../../wire/index.ts";
import { isObject } from "../http/json.ts";

/**
 * A card of 1.0, of 0.3, or one that is both, as it came from a URL, against which the places in it are read. `verified`:
 * of one that is both only the card of 1.0 is read, because its signature is over nothing else.
 */
export function decodeCard(json: unknown, cardUrl: string, verified: boolean): AgentCard {
  if (!isObject(json) || typeof json["name"] !== "string") throw createNotACardError();
  const isNew = "supportedInterfaces" in json || "supported_interfaces" in json;
  const isOld = "url" in json;
  if (!isNew && !isOld) throw createNotACardError();
  const card = isNew ? v1.decodeCard(json) : v0_3.decodeCard(json);
  const older = isNew && isOld && !verified ? v0_3.decodeCard(json).supportedInterfaces : [];
  const supportedInterfaces = [...card.supportedInterfaces, ...older].map((one) =>
    one.url.startsWith("/") ? { ...one, url: new URL(one.url, cardUrl).href } : one,
  );
  return { ...card, supportedInterfaces: supportedInterfaces.filter(isFirstOccurrence) };
}

/** A card that is both lists its interfaces of 0.3 twice, and one of 0.3 the preferred one. */
function isFirstOccurrence(one: AgentInterface, index: number, all: readonly AgentInterface[]): boolean {
  return index === all.findIndex((other) => isSameInterface(one, other));
}

function isSameInterface(one: AgentInterface, other: AgentInterface): boolean {
  const { url, protocolBinding, protocolVersion } = one;
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
