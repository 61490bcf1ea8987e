import type { AdkEvent, AdkFunctionResponse, GenaiPart } from "../types.ts";

/**
 * What another agent said, as a peer may read it: quoted, under a heading, in words. Files, code and results stay what
 * they are; thoughts are nobody else's.
 */
export function renderContextParts({ author = "agent", content }: AdkEvent): GenaiPart[] {
  const told = (content?.parts ?? []).flatMap((part) => renderContextPart(author, part) ?? []);
  return told.length > 0 ? [{ text: "For context:" }, ...told] : [];
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

/** An answer of the user's to a call that the peer did not make, and which would mean nothing to it. */
export function renderToolAnswer({ name = "", response }: AdkFunctionResponse): GenaiPart | undefined {
  return isInternalCall(name) ? undefined : { text: `Tool ${name} returned: ${formatJson(response)}` };
}

/** Calls between ADK and itself or its user, which are nobody else's business; credentials are among them. */
function isInternalCall(name: string | undefined): boolean {
  return name === "transfer_to_agent" || (name?.startsWith("adk_request_") ?? false);
}

function formatJson(value: object | undefined): string {
  return JSON.stringify(value ?? {});
}
