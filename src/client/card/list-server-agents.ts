import { isObject, parseJsonOrUndefined } from "../../protocol/index.ts";
import { readBoundedText } from "../http/fetch-without-redirects.ts";
import { JSON_MEDIA_TYPES, limitCardBytes, sendRequest } from "../transport/send-http-request.ts";
import type { TransportOptions } from "../transport/transport.ts";

/**
 * Returns the URLs of the agents that the server of `url` lists at `/a2a`, in the order of the list. Servers other than
 * Colloquy have no such list, so the result is empty for them and for servers that do not answer.
 */
export async function listServerAgentUrls(
  transportOptions: TransportOptions,
  { origin, pathname }: URL,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const end = pathname.indexOf("/a2a/");
  const url = `${origin}${end < 0 ? "" : pathname.slice(0, end)}/a2a`;
  try {
    const response = await sendRequest(transportOptions, {
      method: "GET",
      url,
      accept: JSON_MEDIA_TYPES,
      signal,
    });
    const text = await readBoundedText(limitCardBytes(transportOptions), response, signal);
    const json = parseJsonOrUndefined(text);
    const agents = isObject(json) && Array.isArray(json["agents"]) ? json["agents"] : [];
    const ids = agents.map((agent) => (isObject(agent) ? agent["id"] : undefined));
    return ids.filter(isAgentId).map((id) => `${url}/${id}`);
  } catch {
    return [];
  }
}

/** Returns whether a value is a valid agent id, which an error message can contain unescaped. */
function isAgentId(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9._~-]{1,100}$/.test(value);
}
