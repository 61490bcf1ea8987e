import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HostileServer } from "./attack.ts";

/** Starts an HTTP server that serves an agent card, and answers all other requests as the attack chooses. */
export async function startHostileHttpServer(
  answer: (response: ServerResponse, request: IncomingMessage, url: string) => void,
  describeCard: (url: string) => object = () => ({}),
): Promise<HostileServer> {
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}`;
    if (request.url?.startsWith("/.well-known/"))
      response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify({ ...buildCard(url), ...describeCard(url) }));
    else answer(response, request, url);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function buildCard(url: string): object {
  return {
    name: "hostile",
    description: "Attacks its clients",
    version: "1",
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
}

/** Writes a chunk again and again until the client closes the connection. */
export function writeEndlessly(response: ServerResponse, chunk: string): void {
  const extra = (): void => void (response.destroyed || response.write(chunk, () => setImmediate(extra)));
  extra();
}

/** Resolves with the text of the error that a call throws, or with "no error", or with "no end" after `ms`. */
export async function describeOutcome(work: Promise<unknown>, ms: number): Promise<string> {
  const outcome = work.then(
    () => "no error",
    (error: unknown) => String(error),
  );
  const end = new Promise<string>((resolve) => setTimeout(() => resolve("no end"), ms));
  return await Promise.race([outcome, end]);
}
