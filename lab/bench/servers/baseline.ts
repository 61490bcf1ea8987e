import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { generateJobChunks, WAIT_UNTIL_RELEASED_JOB, yieldToEventLoop } from "../benchmark-job.ts";
import type { RecordedResponse, StartedSystem } from "../system-process-main.ts";

/**
 * Starts a server that shows the lower bound of the cost of a Node server. `node:http` reads the body of the
 * POST request as text and writes recorded bytes at once, or with one write per event. The server has no JSON, ids,
 * tasks, or store, so no protocol implementation on Node's HTTP can be faster.
 */
export async function startBaselineServer(): Promise<StartedSystem> {
  const recordedResponses = new Map<string, RecordedResponse>();
  const server = createServer((request, response) => {
    readRequestText(request, (body) => {
      const recorded = recordedResponses.get(request.url ?? "");
      if (!recorded || body === "") response.writeHead(404).end();
      else if (recorded.contentType === "application/json") writeJsonResponse(response, recorded);
      else void writeFrames(response, recorded);
    });
  });
  return {
    url: await listenOnFreePort(server),
    setRecordedResponse: (recorded) => recordedResponses.set(recorded.path, recorded),
  };
}

function writeJsonResponse(
  response: ServerResponse,
  { contentType, frames: [text = ""] }: RecordedResponse,
): void {
  response.writeHead(200, { "Content-Type": contentType, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

async function writeFrames(response: ServerResponse, recorded: RecordedResponse): Promise<void> {
  const { contentType, frames, yieldsBetweenFrames, initialFrameCount = frames.length } = recorded;
  response.writeHead(200, { "Content-Type": contentType, "Cache-Control": "no-cache" });
  if (frames.length === 1) return void response.end(frames[0]);
  for (const [index, frame] of frames.entries()) {
    if (index === initialFrameCount) await waitUntilWaitingJobsReleased();
    if (yieldsBetweenFrames) await yieldToEventLoop();
    response.write(frame);
  }
  response.end();
}

async function waitUntilWaitingJobsReleased(): Promise<void> {
  for await (const _ of generateJobChunks(WAIT_UNTIL_RELEASED_JOB));
}

/** Starts the baseline of the gRPC rows: `node:http2` reads each call, and writes the recorded messages. */
export async function startGrpcBaselineServer(): Promise<StartedSystem> {
  const recordedMessages = new Map<string, readonly Buffer[]>();
  const server = createHttp2Server();
  server.on("stream", (stream: ServerHttp2Stream, { ":path": path = "" }) => {
    stream.on("data", () => {});
    stream.on("end", () => {
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      for (const message of recordedMessages.get(path) ?? []) stream.write(message);
      stream.end();
    });
  });
  return {
    url: await listenOnFreePort(server),
    setRecordedResponse: ({ path, frames }) =>
      recordedMessages.set(
        path,
        frames.map((frame) => Buffer.from(frame, "latin1")),
      ),
  };
}

/** Reads the body of `request` as UTF-8 and passes the body to `handle`, without a promise per request. */
export function readRequestText(request: IncomingMessage, handle: (text: string) => void): void {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    text += chunk;
  });
  request.on("end", () => {
    handle(text);
  });
}

/** Listens on a free port of the loopback interface and returns the base URL. */
export async function listenOnFreePort(server: Server | Http2Server | RequestListener): Promise<string> {
  const http = typeof server === "function" ? createServer(server) : server;
  await new Promise<void>((resolve) => http.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}
