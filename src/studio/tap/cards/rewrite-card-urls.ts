import { isObject, type JsonObject, type JsonValue } from "../../../protocol/index.ts";

/** Returns the URL that replaces the URL of an interface, or `undefined` if the URL remains. */
export type InterfaceUrlMapper = (url: string, binding: string) => string | undefined;

/** An agent card in which the URLs of interfaces are replaced. */
export interface RewrittenCard {
  readonly card: JsonObject;
  /** Descriptions of the changes, for people. Empty if the card is unchanged. */
  readonly changes: readonly string[];
}

/** Returns whether JSON has the members of an agent card of A2A 1.0 or 0.3. */
export function isAgentCardJson(json: unknown): json is JsonObject {
  if (!isObject(json) || typeof json["name"] !== "string") return false;
  return findInterfaces(json) !== undefined || (typeof json["url"] === "string" && "capabilities" in json);
}

/**
 * Replaces the URLs of the interfaces of an agent card: `supportedInterfaces` in A2A 1.0, and `url` and
 * `additionalInterfaces` in A2A 0.3. Relative URLs remain, because they refer to the host of the card. No signature
 * covers the new URLs, so a changed card has no signatures.
 */
export function rewriteCardUrls(card: JsonObject, mapUrl: InterfaceUrlMapper): RewrittenCard {
  const changes: string[] = [];
  const replaceUrl = (
    url: JsonValue | undefined,
    binding: JsonValue | undefined,
    path: string,
  ): JsonObject => {
    if (typeof url !== "string" || url.startsWith("/")) return {};
    const mapped = mapUrl(url, typeof binding === "string" ? binding : "JSONRPC");
    if (mapped === undefined || mapped === url) return {};
    changes.push(`${path}: ${url} is now ${mapped}`);
    return { url: mapped };
  };
  const rewriteList = (name: string, bindingName: string): JsonObject => {
    const list = card[name];
    if (!Array.isArray(list)) return {};
    const interfaces = list.map((item, index) =>
      isObject(item)
        ? {
            ...item,
            ...replaceUrl(
              item["url"],
              item[bindingName] ?? item["protocol_binding"],
              `${name}[${index}].url`,
            ),
          }
        : item,
    );
    return { [name]: interfaces };
  };
  const rewritten: JsonObject = {
    ...card,
    ...replaceUrl(card["url"], card["preferredTransport"], "url"),
    ...rewriteList("supportedInterfaces", "protocolBinding"),
    ...rewriteList("supported_interfaces", "protocol_binding"),
    ...rewriteList("additionalInterfaces", "transport"),
  };
  if (changes.length === 0) return { card, changes };
  const { signatures, ...unsigned } = rewritten;
  if (!Array.isArray(signatures) || signatures.length === 0) return { card: rewritten, changes };
  changes.push("signatures: removed, because they do not cover the changed URLs");
  return { card: unsigned, changes };
}

/** An interface of a card of any version. */
export interface CardInterface {
  readonly url: string;
  readonly binding: string;
}

/** Lists the interfaces of a card of any version. */
export function listCardInterfaces(card: JsonObject): CardInterface[] {
  const found: CardInterface[] = [];
  rewriteCardUrls(card, (url, binding) => {
    found.push({ url, binding });
    return undefined;
  });
  return found;
}

function findInterfaces(card: JsonObject): JsonValue | undefined {
  return card["supportedInterfaces"] ?? card["supported_interfaces"];
}
