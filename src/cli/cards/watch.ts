import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { isSameSecret } from "../../base/data-structures/index.ts";
import { omitUndefined } from "../../base/usage-checks/index.ts";
import { readFileWriterState } from "../../cards/experiments/index.ts";
import { renderLiveHtmlReport } from "../../studio/pages/index.ts";
import type { CliContext } from "../cli-context.ts";
import { parsePort } from "../client-options.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { OutputWriter } from "../output-writer.ts";
import { waitForAbort } from "../wait-for-abort.ts";
import { addOutputFormatOptions, type CardsCommandOptions } from "./read-runs.ts";

interface CardsWatchOptions extends CardsCommandOptions {
  port: number;
  open?: boolean;
}

export function createCardsWatchCommand(context: CliContext): Command {
  return addOutputFormatOptions(new Command("watch"))
    .argument("<file>", "a recording (.cards.jsonl), which need not exist yet")
    .addOption(
      new Option("--port <number>", "port to listen on, on this machine only; 0 for any free port")
        .argParser(parsePort)
        .default(0),
    )
    .addOption(new Option("--run <id>", "id of the run, if the file has several (default: the first)"))
    .option("--open", "open the page in the browser")
    .action(async (file: string, { port, run, open, output }: CardsWatchOptions) => {
      const { streams, interruptSignal } = context;
      const server = await startWatchServer({
        file: resolve(file),
        title: file,
        port,
        ...omitUndefined({ runId: run }),
      });
      try {
        new OutputWriter(streams, output).writeResultIfJsonFormat({ url: server.url });
        streams.err(`Watching ${file}\n\n  ${server.url}\n\nCtrl-C stops it.\n`);
        if (open) openInBrowser(server.url, (why) => streams.err(`${why}\n`));
        await waitForAbort(interruptSignal);
      } finally {
        await server.close();
      }
    });
}

interface WatchServerOptions {
  readonly file: string;
  readonly title: string;
  readonly port: number;
  readonly runId?: string;
}

export interface WatchServer {
  /**
   * URL of the watch page, including an access token. The watch server rejects requests without the access
   * token.
   */
  readonly url: string;
  close(): Promise<void>;
}

/** Maximum number of bytes that one response contains. The page skips longer lines, because no record is that long. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;

/**
 * Starts a server for the watch page, which requests the new lines of a recording while the recording grows. The watch
 * server listens on 127.0.0.1 under an unguessable path. To prevent DNS rebinding, the watch server rejects requests
 * with a different host name. The watch server also rejects requests from other origins.
 */
export async function startWatchServer({
  file,
  title,
  port,
  runId,
}: WatchServerOptions): Promise<WatchServer> {
  const secret = randomBytes(18).toString("base64url");
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(RESPONSE_HEADERS)) response.setHeader(name, value);
    const refused = findRequestRefusal(request, getListeningHostAndPort(server), secret);
    if (refused) return sendRefusal(response, ...refused);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    if (pathname.endsWith("/")) {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(renderLiveHtmlReport("lines", { title, ...omitUndefined({ runId }) }));
      return;
    }
    try {
      const chunk = readLines(file, searchParams.get("file") ?? "", Number(searchParams.get("after")));
      const headers = { file: chunk.id, start: chunk.start, writer: readFileWriterState(file) };
      for (const [name, value] of Object.entries(headers)) response.setHeader(`x-record-${name}`, value);
      response.end(chunk.bytes);
    } catch (error) {
      sendRefusal(response, 500, `${file} cannot be read: ${String(error)}`);
    }
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://${getListeningHostAndPort(server)}/${secret}/`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Reads the complete lines of a file after a position. A file that was replaced or truncated is read from its start. A
 * missing file has no ID and no lines.
 */
function readLines(
  file: string,
  knownId: string,
  after: number,
): { readonly id: string; readonly start: number; readonly bytes: Buffer } {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return { id: "", start: 0, bytes: Buffer.alloc(0) };
  }
  try {
    // Another file can have the same inode number later.
    const { dev, ino, birthtimeMs, size } = fstatSync(descriptor);
    const id = `${dev}-${ino}-${birthtimeMs}`;
    const start = id === knownId && after >= 0 && after <= size ? after : 0;
    const buffer = Buffer.allocUnsafe(Math.min(MAX_CHUNK_BYTES, size - start));
    const chunk = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, start));
    const end = chunk.lastIndexOf("\n") + 1;
    return {
      id,
      start,
      bytes: chunk.length === MAX_CHUNK_BYTES && end === 0 ? chunk : chunk.subarray(0, end),
    };
  } finally {
    closeSync(descriptor);
  }
}

const RESPONSE_HEADERS = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  // This directive has no effect in the page's `<meta>` element.
  "content-security-policy": "frame-ancestors 'none'",
};

function getListeningHostAndPort(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function findRequestRefusal(
  { method, headers, url = "" }: IncomingMessage,
  host: string,
  secret: string,
): [status: number, why: string] | undefined {
  if (headers.host !== host) return [403, `This server accepts only the host name ${host}.`];
  if (headers.origin !== undefined && headers.origin !== `http://${host}`)
    return [403, "This server rejects requests from other origins."];
  if (method !== "GET") return [405, "Only GET is supported."];
  const [, token = ""] = /^\/([^/?]*)\/(?:lines(?:\?.*)?)?$/.exec(url) ?? [];
  if (!isSameSecret(token, secret))
    return [404, "Not found. Open the complete URL that the command printed."];
  return undefined;
}

function sendRefusal(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${why}\n`);
}
