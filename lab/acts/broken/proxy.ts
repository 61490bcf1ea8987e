import * as grpc from "@grpc/grpc-js";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { GRPC_SERVICE_V1 } from "../../../src/wire/grpc/index.ts";
import type { BrokenServer, ProxiedRequest } from "./servers.ts";

/** What a proxy changes. */
export type ProxyChanges = Partial<Omit<BrokenServer, "name" | "binding" | "pass" | "seenBy">>;

/** A proxy in front of a good server. Its card has the addresses of the proxy. */
export interface BreakingProxy {
  readonly url: string;
  close(): void;
}

export async function startBreakingProxy(target: string, changes: ProxyChanges): Promise<BreakingProxy> {
  const grpcProxy = changes.dropsGrpcDetails
    ? await startGrpcProxy(await findGrpcAddress(target))
    : undefined;
  const server = createServer((incoming, outgoing) => {
    void forward(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const original = await readRequest(incoming);
    const { method, path, headers, body } = changes.changeRequest?.(original) ?? original;
    const ended = new AbortController();
    outgoing.once("close", () => ended.abort());
    const hasBody = method !== "GET" && method !== "HEAD";
    const response = await fetch(`${target}${path}`, {
      method,
      headers,
      body: hasBody ? body : null,
      signal: ended.signal,
    });
    const contentType = response.headers.get("content-type") ?? "";
    const replyHeaders = Object.fromEntries(
      [...response.headers].filter(([name]) => name !== "content-length" && name !== "content-encoding"),
    );
    changes.changeHeaders?.(replyHeaders);
    if (contentType.startsWith("text/event-stream")) {
      const { keepsEvent = () => true, changeEvent = (event: string) => event } = changes;
      outgoing.writeHead(response.status, replyHeaders);
      const held: string[] = [];
      for await (const event of readEvents(response)) {
        if (!keepsEvent(event)) continue;
        if (changes.holdsStreams) held.push(changeEvent(event));
        else outgoing.write(changeEvent(event));
      }
      outgoing.end(held.join(""));
      return;
    }
    const good = { status: response.status, contentType, body: moveAddresses(await response.text()) };
    const reply = changes.changeResponse?.(good, original) ?? good;
    outgoing.writeHead(reply.status, {
      ...replyHeaders,
      ...(reply.contentType === "" ? {} : { "content-type": reply.contentType }),
    });
    outgoing.end(reply.body);
  }

  function moveAddresses(body: string): string {
    const moved = body.replaceAll(target, url);
    return grpcProxy ? moved.replaceAll(grpcProxy.target, grpcProxy.address) : moved;
  }

  return {
    url,
    close() {
      server.close();
      server.closeAllConnections();
      grpcProxy?.close();
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ProxiedRequest> {
  const { method = "GET", url: path = "/", headers } = incoming;
  const forwarded = Object.entries(headers).flatMap(([name, value]) =>
    /^(host|connection|content-length|transfer-encoding|accept-encoding)$/.test(name) || value === undefined
      ? []
      : [[name, String(value)] as const],
  );
  return { method, path, headers: Object.fromEntries(forwarded), body: await text(incoming) };
}

/** Yields the events of a stream with their final empty lines. */
async function* readEvents(response: Response): AsyncIterable<string> {
  let buffered = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = (buffered + chunk).split("\n\n");
    buffered = blocks.pop() ?? "";
    for (const block of blocks) yield `${block}\n\n`;
  }
}

async function findGrpcAddress(target: string): Promise<string> {
  const headers = { "A2A-Version": "1.0" };
  const response = await fetch(`${target}/.well-known/agent-card.json`, { headers });
  const card = (await response.json()) as { supportedInterfaces: { protocolBinding: string; url: string }[] };
  const [entry] = card.supportedInterfaces.filter(({ protocolBinding }) => protocolBinding === "GRPC");
  if (!entry) throw new Error("The good server has no gRPC interface.");
  return entry.url;
}

function asBuffer(bytes: Buffer): Buffer {
  return bytes;
}

/** Forwards gRPC calls, and replaces the metadata of errors by empty metadata. */
async function startGrpcProxy(target: string): Promise<{ target: string; address: string; close(): void }> {
  const client = new grpc.Client(target, grpc.credentials.createInsecure());
  const server = new grpc.Server();
  const codecs = {
    requestSerialize: asBuffer,
    requestDeserialize: asBuffer,
    responseSerialize: asBuffer,
    responseDeserialize: asBuffer,
  };
  const definition: Record<string, grpc.MethodDefinition<Buffer, Buffer>> = {};
  const handlers: Record<string, grpc.UntypedHandleCall> = {};
  for (const { path, operation, isStreaming } of Object.values(GRPC_SERVICE_V1.methods)) {
    definition[operation] = { path, requestStream: false, responseStream: isStreaming, ...codecs };
    handlers[operation] = isStreaming
      ? (call: grpc.ServerWritableStream<Buffer, Buffer>) => {
          const stream = client.makeServerStreamRequest(
            path,
            asBuffer,
            asBuffer,
            call.request,
            call.metadata,
          );
          stream.on("data", (message: Buffer) => call.write(message));
          stream.on("error", (error: grpc.ServiceError) => call.destroy(withoutMetadata(error) as Error));
          stream.on("end", () => call.end());
          call.on("cancelled", () => stream.cancel());
        }
      : (call: grpc.ServerUnaryCall<Buffer, Buffer>, respond: grpc.sendUnaryData<Buffer>) => {
          client.makeUnaryRequest(path, asBuffer, asBuffer, call.request, call.metadata, (error, message) => {
            if (error) respond(withoutMetadata(error));
            else respond(null, message ?? null);
          });
        };
  }
  server.addService(definition, handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return {
    target,
    address: `127.0.0.1:${port}`,
    close() {
      server.forceShutdown();
      client.close();
    },
  };
}

function withoutMetadata({ code, details }: grpc.ServiceError): grpc.StatusObject & Error {
  return Object.assign(new Error(details), { code, details, metadata: new grpc.Metadata() });
}
