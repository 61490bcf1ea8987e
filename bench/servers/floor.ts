import { createServer, type ServerResponse } from "node:http";
import type { Hosted, Lesson } from "../host.ts";
import { perform, type Job } from "../job.ts";
import { listen } from "./listen.ts";

/**
 * The least that a Node server can do: `node:http` reads the body of the POST as text and writes bytes that it was
 * given beforehand, one write per event. No JSON, no ids, no task, no store: nothing that speaks HTTP through Node
 * can be faster, and no protocol can be served like this.
 */
export async function hostFloor(): Promise<Hosted> {
  const lessons = new Map<string, Lesson>();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => {
      const lesson = lessons.get(request.url ?? "");
      if (!lesson || body === "") response.writeHead(404).end();
      else if (lesson.contentType === "application/json") writeWhole(response, lesson);
      else void writeFrames(response, lesson);
    });
  });
  return { url: await listen(server), teach: (lesson) => lessons.set(lesson.path, lesson) };
}

function writeWhole(response: ServerResponse, { contentType, frames: [text = ""] }: Lesson): void {
  response.writeHead(200, { "Content-Type": contentType, "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

async function writeFrames(response: ServerResponse, lesson: Lesson): Promise<void> {
  const { contentType, frames, turns, atOnce = frames.length } = lesson;
  response.writeHead(200, { "Content-Type": contentType, "Cache-Control": "no-cache" });
  for (const [at, frame] of frames.entries()) {
    if (at === atOnce) await released();
    if (turns) await turn();
    response.write(frame);
  }
  response.end();
}

const WAIT: Job = { kind: "wait", count: 0 };

async function released(): Promise<void> {
  for await (const _ of perform(WAIT));
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
