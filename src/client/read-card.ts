import { A2AError, type AgentCard, type AgentInterface } from "../protocol/index.ts";
import { v1 } from "../wire/index.ts";
import { isObject } from "./http.ts";

/** A card as it came from a URL, against which the places in it are read. */
export function readCard(json: unknown, cardUrl: string): AgentCard {
  if (!isCard(json)) throw new A2AError("INVALID_AGENT_RESPONSE", "not an agent card");
  const card = v1.decodeCard(json);
  const supportedInterfaces = [...card.supportedInterfaces, ...olderInterfaces(json)].map((one) =>
    one.url.startsWith("/") ? { ...one, url: new URL(one.url, cardUrl).href } : one,
  );
  return { ...card, supportedInterfaces };
}

/** A card of 0.3 has its first interface spread over its top level. */
function olderInterfaces(json: Record<string, unknown>): AgentInterface[] {
  const { url, preferredTransport: protocolBinding = "JSONRPC", protocolVersion = "0.2" } = json;
  if (typeof url !== "string" || typeof protocolBinding !== "string" || typeof protocolVersion !== "string") {
    return [];
  }
  return [{ url, protocolBinding, protocolVersion }];
}

function isCard(json: unknown): json is Record<string, unknown> {
  return (
    isObject(json) &&
    typeof json["name"] === "string" &&
    ("supportedInterfaces" in json || "supported_interfaces" in json || "url" in json)
  );
}
