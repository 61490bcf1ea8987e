import { isReservedCallName } from "../reserved-calls.ts";
import type { AdkEvent, AdkFunctionResponse, GenaiPart } from "../types.ts";

/**
 * Renders an event of another agent as context for a peer. Text and calls are quoted as text under a heading.
 * Files, code, and code results are kept unchanged, and thoughts are omitted.
 */
export function renderContextParts({ author = "agent", content }: AdkEvent): GenaiPart[] {
  const rendered = (content?.parts ?? []).flatMap((part) => renderContextPart(author, part) ?? []);
  return rendered.length > 0 ? [{ text: "For context:" }, ...rendered] : [];
}

function renderContextPart(author: string, part: GenaiPart): GenaiPart | undefined {
  const { text, thought, functionCall: call, functionResponse: response } = part;
  if (thought || text === "" || isInternalCall((call ?? response)?.name)) return undefined;
  if (text !== undefined) return { text: `[${author}] said: ${text}` };
  if (call) {
    return { text: `[${author}] called tool ${call.name ?? ""} with parameters: ${formatJson(call.args)}` };
  }
  if (!response) return part;
  return {
    text: `[${author}] ${response.name ?? ""} tool returned result: ${formatJson(response.response)}`,
  };
}

/** Renders a user's response to a call as text, for a peer that did not make the call. */
export function renderToolAnswer({ name = "", response }: AdkFunctionResponse): GenaiPart | undefined {
  return isInternalCall(name) ? undefined : { text: `Tool ${name} returned: ${formatJson(response)}` };
}

/**
 * Returns true for calls that must not be sent to peers: transfers, and requests of ADK to its user, which
 * may contain credentials.
 */
function isInternalCall(name: string | undefined): boolean {
  return name === "transfer_to_agent" || isReservedCallName(name);
}

function formatJson(value: object | undefined): string {
  return JSON.stringify(value ?? {});
}
