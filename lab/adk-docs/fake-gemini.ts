import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface GeminiPart {
  readonly text?: string;
  readonly functionCall?: object;
  readonly functionResponse?: object;
}

interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

interface GeminiRequest {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly GeminiPart[] }[];
  readonly systemInstruction?: { readonly parts?: readonly GeminiPart[] };
  readonly tools?: readonly { readonly functionDeclarations?: readonly FunctionDeclaration[] }[];
}

interface FunctionDeclaration {
  readonly name: string;
  readonly parameters?: JsonSchema;
  readonly parametersJsonSchema?: JsonSchema;
}

/**
 * Starts a server that speaks the API of Gemini. Its answers depend only on the request: the first request of
 * a conversation calls the first tool, with arguments of the declared types. All other requests get a text,
 * in two chunks if the request streams.
 */
export async function startFakeGemini(): Promise<{ url: string; close: () => void }> {
  const server = createServer((incoming, outgoing) => {
    let body = "";
    incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
    incoming.on("end", () => {
      const parts = buildAnswer(JSON.parse(body) as GeminiRequest);
      const [part] = parts;
      if (!incoming.url?.includes("streamGenerateContent")) {
        outgoing.writeHead(200, { "content-type": "application/json" });
        outgoing.end(JSON.stringify(toResponse(parts, true)));
        return;
      }
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      const middle = Math.ceil((part?.text ?? "").length / 2);
      const chunks = part?.text
        ? [[{ text: part.text.slice(0, middle) }], [{ text: part.text.slice(middle) }]]
        : [parts];
      for (const [index, chunk] of chunks.entries())
        outgoing.write(`data: ${JSON.stringify(toResponse(chunk, index === chunks.length - 1))}\r\n\r\n`);
      outgoing.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function toResponse(parts: readonly GeminiPart[], isLast: boolean): object {
  return {
    candidates: [{ content: { role: "model", parts }, ...(isLast ? { finishReason: "STOP" } : {}) }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: "fake",
  };
}

function buildAnswer({ contents = [], systemInstruction, tools = [] }: GeminiRequest): readonly GeminiPart[] {
  const parts = contents.flatMap((content) => content.parts ?? []);
  const instruction = (systemInstruction?.parts ?? []).map(({ text = "" }) => text).join("\n");
  const texts = parts.map(({ text = "" }) => text).join("\n");
  const hasCalled = parts.some((part) => part.functionCall) || texts.includes("For context:");
  const [declaration] = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  if (!hasCalled && declaration) {
    const { name, parameters, parametersJsonSchema } = declaration;
    const args =
      name === "transfer_to_agent"
        ? { agentName: /Agent name: (\S+)/.exec(instruction)?.[1] ?? "" }
        : createSample(parametersJsonSchema ?? parameters ?? {});
    return [{ functionCall: { name, args } }];
  }
  const results = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
  const digest = createHash("sha256")
    .update(JSON.stringify([texts, removeIds(results)]))
    .digest("hex");
  return [{ text: `Answer ${digest.slice(0, 8)} to ${parts.length} parts.` }];
}

/** Creates a value that a schema accepts. */
function createSample(schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0];
  switch (schema.type?.toLowerCase() ?? "") {
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, createSample(property)]),
      );
    case "array":
      return schema.items ? [createSample(schema.items)] : [];
    case "number":
    case "integer":
      return 7;
    case "boolean":
      return true;
    default:
      return schema.properties ? createSample({ ...schema, type: "object" }) : "sample";
  }
}

/** Removes the ids of calls, which differ on every run. */
export function removeIds(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      /^(?:id|functionCallId|invocationId)$/.test(key) ? undefined : member,
    ),
  ) as unknown;
}
