import { isReservedCallName } from "../reserved-calls.ts";
import type { AdkEvent, AdkFunctionResponse, GenaiPart } from "../adk-structural-types.ts";

/**
 * Converts an event of another agent to message parts that the peer receives as context. The converted
 * text and calls are quoted as text under a heading. The conversion keeps files, code, and code results
 * unchanged, and omits thoughts.
 */
export function renderEventAsContextParts({ author = "agent", content }: AdkEvent): GenaiPart[] {
  const rendered = (content?.parts ?? []).flatMap((part) => renderContextPart(author, part) ?? []);
  return rendered.length > 0 ? [{ text: "For context:" }, ...rendered] : [];
}

function renderContextPart(author: string, part: GenaiPart): GenaiPart | undefined {
  const { text, thought, functionCall: call, functionResponse: response } = part;
  if (thought || text === "" || isCallHiddenFromPeers((call ?? response)?.name)) return undefined;
  if (text !== undefined) return { text: `[${author}] said: ${text}` };
  if (call) {
    return {
      text: `[${author}] called tool ${call.name ?? ""} with parameters: ${formatCallPayloadAsJson(call.args)}`,
    };
  }
  if (!response) return part;
  return {
    text: `[${author}] ${response.name ?? ""} tool returned result: ${formatCallPayloadAsJson(response.response)}`,
  };
}

/** Converts a user's response to text for a peer that did not make the corresponding call. */
export function renderFunctionResponseAsText({
  name = "",
  response,
}: AdkFunctionResponse): GenaiPart | undefined {
  return isCallHiddenFromPeers(name)
    ? undefined
    : { text: `Tool ${name} returned: ${formatCallPayloadAsJson(response)}` };
}

/**
 * Returns true for calls that must not be sent to peers. The function returns true for agent transfers and
 * for ADK's requests to the user, which may contain credentials.
 */
function isCallHiddenFromPeers(name: string | undefined): boolean {
  return name === "transfer_to_agent" || isReservedCallName(name);
}

function formatCallPayloadAsJson(value: object | undefined): string {
  return JSON.stringify(value ?? {});
}
