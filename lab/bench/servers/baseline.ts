import { createServer, type ServerResponse } from "node:http";
import type { StartedSystem, RecordedResponse } from "../system-process-main.ts";
import { generateJobChunks, WAIT_UNTIL_RELEASED_JOB, yieldToEventLoop } from "../benchmark-job.ts";
import { listenOnFreePort } from "./listen-on-free-port.ts";
import { readRequestText } from "./read-request-text.ts";

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
