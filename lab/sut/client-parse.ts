import { connect } from "../../src/client/index.ts";
import { A2AError } from "../../src/protocol/index.ts";

/** The data part of `tck-client-parse`: an operation, and the response of a server to it. */
export interface ClientRequest {
  readonly operation: string;
  readonly wire_payload: Readonly<Record<string, unknown>>;
}

/** The server of the payload has no address, because all its responses are in memory. */
const URL = "http://payload.invalid";

/**
 * Calls an operation with our client, whose connection replies with the payload, and returns what the client returned
 * as the JSON of A2A.
 */
export async function parseWithClient(request: ClientRequest): Promise<Record<string, unknown>> {
  try {
    const parsed = await callWithClient(request);
    const json = JSON.stringify(parsed, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
    );
    return JSON.parse(json) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

async function callWithClient({ operation, wire_payload: payload }: ClientRequest): Promise<unknown> {
  const client = await connect(URL, {
    fetch: async (input, init) => {
      const request = new Request(input, init);
      if (request.url.includes("/.well-known/"))
        return Response.json(operation === "get_agent_card" ? payload : createCard(payload));
      // The corpus has fixed ids, and a client rejects a response with the id of another request.
      const isJsonRpc = "jsonrpc" in payload;
      const { id } = isJsonRpc ? ((await request.json()) as { id: unknown }) : {};
      return Response.json(isJsonRpc ? { ...payload, id } : payload);
    },
  });
  switch (operation) {
    case "send_message":
      return await client.send("a message for the payload");
    case "get_task":
      return await client.tasks.get("task");
    case "get_agent_card":
      return client.card;
    case "get_extended_agent_card":
      return await client.getExtendedCard();
    default:
      throw new A2AError("UNSUPPORTED_OPERATION", `The scenario has no client call for ${operation}.`);
  }
}

/** Creates a public card with one interface, whose binding is that of the payload. */
function createCard(payload: object): object {
  return {
    name: "payload",
    description: "Replies with one payload.",
    version: "1.0.0",
    capabilities: { extendedAgentCard: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    supportedInterfaces: [
      {
        url: `${URL}/a2a`,
        protocolBinding: "jsonrpc" in payload ? "JSONRPC" : "HTTP+JSON",
        protocolVersion: "1.0",
      },
    ],
  };
}
