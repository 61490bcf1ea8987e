import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/** Ids and names of a hostile agent stay shorter than the limits of a URL. */
const MAX_NAME_LENGTH = 300;

/** A server of A2A 1.0 without code of Colloquy, with hostile text in each member that it may choose. */
export interface HostileAgentServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server. Half surrogate pairs become replacement characters, because the client rejects them. */
export async function startHostileAgentServer(text: string): Promise<HostileAgentServer> {
  const hostile = text.toWellFormed();
  let url = "";
  const server = createServer((request, response) => {
    void respond(request, response, url, hostile);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  url: string,
  hostile: string,
): Promise<void> {
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(buildCard(url, hostile)));
    return;
  }
  const { id, method } = JSON.parse(await readText(request)) as { id: JsonValue; method: string };
  const encode = (result: JsonObject): string => JSON.stringify({ jsonrpc: "2.0", id, result });
  if (method === "SendStreamingMessage") {
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "x-hostile": encodeURI(hostile).slice(0, 500),
    });
    for (const event of buildEvents(hostile)) response.write(`data: ${encode(event)}\n\n`);
    response.end();
    return;
  }
  response.writeHead(200, { "content-type": "application/json" });
  if (method === "ListTasks") {
    const tasks = [buildTask(hostile)];
    response.end(encode({ tasks, nextPageToken: "", pageSize: 50, totalSize: 1 }));
  } else if (method === "GetTask") response.end(encode(buildTask(hostile)));
  else {
    const error = {
      code: -32_603,
      message: hostile,
      data: [{ "@type": hostile, reason: hostile, domain: hostile }],
    };
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  }
}

function buildCard(url: string, hostile: string): JsonObject {
  return {
    name: hostile,
    description: hostile,
    version: hostile,
    provider: { organization: hostile, url: hostile },
    documentationUrl: hostile,
    iconUrl: hostile,
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true, extensions: [{ uri: hostile, description: hostile }] },
    defaultInputModes: [hostile],
    defaultOutputModes: [hostile],
    skills: [{ id: hostile, name: hostile, description: hostile, tags: [hostile], examples: [hostile] }],
    securitySchemes: {
      [hostile]: { apiKeySecurityScheme: { location: "header", name: hostile, description: hostile } },
      other: { httpAuthSecurityScheme: { scheme: hostile, bearerFormat: hostile, description: hostile } },
    },
    signatures: [{ protected: hostile, signature: hostile, header: { kid: hostile } }],
    [hostile]: hostile,
  };
}

function buildIds(hostile: string): { readonly id: string; readonly contextId: string } {
  return {
    id: `task ${hostile.slice(0, MAX_NAME_LENGTH)}`,
    contextId: `context ${hostile.slice(0, MAX_NAME_LENGTH)}`,
  };
}

function buildMessage(hostile: string): JsonObject {
  const { id, contextId } = buildIds(hostile);
  return {
    messageId: hostile,
    role: "ROLE_AGENT",
    taskId: id,
    contextId,
    parts: buildParts(hostile),
    metadata: { [hostile]: hostile },
  };
}

function buildParts(hostile: string): JsonObject[] {
  const raw = Buffer.from(hostile).toString("base64");
  return [
    { text: hostile, mediaType: hostile },
    { raw, filename: hostile, mediaType: "image/png" },
    { raw, filename: hostile, mediaType: "image/svg+xml" },
    { raw, filename: hostile, mediaType: "video/mp4" },
    { raw, filename: hostile, mediaType: hostile },
    { url: hostile, filename: hostile, mediaType: hostile },
    { url: `https://attacker.invalid/${hostile.slice(0, MAX_NAME_LENGTH)}`, mediaType: "image/png" },
    { data: { name: hostile, args: { [hostile]: hostile } }, metadata: { adk_type: "function_call" } },
  ];
}

function buildTask(hostile: string): JsonObject {
  return {
    ...buildIds(hostile),
    status: { state: "TASK_STATE_INPUT_REQUIRED", message: buildMessage(hostile) },
    artifacts: [{ artifactId: hostile, name: hostile, description: hostile, parts: buildParts(hostile) }],
    history: [buildMessage(hostile)],
    metadata: { [hostile]: hostile },
  };
}

function buildEvents(hostile: string): JsonObject[] {
  const { id: taskId, contextId } = buildIds(hostile);
  const { status: _, ...task } = buildTask(hostile);
  const artifact = { artifactId: hostile, name: hostile, parts: buildParts(hostile), extensions: [hostile] };
  return [
    { task: { ...task, status: { state: "TASK_STATE_WORKING" } } },
    { artifactUpdate: { taskId, contextId, artifact, metadata: { [hostile]: hostile } } },
    {
      statusUpdate: {
        taskId,
        contextId,
        status: { state: "TASK_STATE_INPUT_REQUIRED", message: buildMessage(hostile) },
      },
    },
  ];
}
