import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSameSecret } from "../../../base/data-structures/index.ts";
import { type FileWriterState, readFileWriterState } from "../../../cards/experiments/index.ts";
import { renderLiveHtmlReport } from "../../../studio/pages/index.ts";
import { streamRecordingAsSse } from "./stream-recording-as-sse.ts";

interface WatchServerOptions {
  readonly file: string;
  readonly title: string;
  readonly port: number;
  readonly runId?: string;
  /** Callback for a watched file that contains lines of another run. The watch page shows only one run. */
  readonly onForeignRun?: (runId: string) => void;
}

export interface WatchServer {
  /**
   * URL of the watch page, including an access token. The watch server rejects requests without the access
   * token.
   */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Maximum number of simultaneous event streams. Each event stream reads the recording file separately, so the
 * number of event streams is limited.
 */
const MAX_STREAMS = 16;
/** How often the server checks whether the process that writes the recording still exists, in milliseconds. */
const WRITER_CHECK_INTERVAL_MS = 1_000;

/**
 * Starts a server for the watch page, which shows a recording while the recording grows. The watch server
 * listens on 127.0.0.1 under an unguessable path. To prevent DNS rebinding, the watch server rejects requests
 * with a different host name. The watch server also rejects requests from other origins.
 */
export async function startWatchServer(options: WatchServerOptions): Promise<WatchServer> {
  const secret = randomBytes(18).toString("base64url");
  const closing = new AbortController();
  let streams = 0;
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(RESPONSE_HEADERS)) response.setHeader(name, value);
    const refused = findRequestRefusal(request, getListeningHostAndPort(server), secret);
    if (refused) return sendRefusal(response, ...refused);
    if (request.url?.endsWith("/")) {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(renderLiveHtmlReport("events", { title: options.title }));
      return;
    }
    if (streams >= MAX_STREAMS) return sendRefusal(response, 503, "Too many pages are open. Close one.");
    streams += 1;
    void streamRecordingToBrowser(response, options, closing.signal).finally(() => (streams -= 1));
  });
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://${getListeningHostAndPort(server)}/${secret}/`,
    async close() {
      closing.abort();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
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
  const [, token = ""] = /^\/([^/?]*)\/(?:events)?$/.exec(url) ?? [];
  if (!isSameSecret(token, secret))
    return [404, "Not found. Open the complete URL that the command printed."];
  return undefined;
}

function sendRefusal(response: ServerResponse, status: number, why: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${why}\n`);
}

/**
 * Streams existing and new lines, as fast as the reader accepts them, until the reader disconnects or the
 * server closes.
 */
async function streamRecordingToBrowser(
  response: ServerResponse,
  { file, runId, onForeignRun }: WatchServerOptions,
  closing: AbortSignal,
): Promise<void> {
  const disconnection = new AbortController();
  response.on("close", () => disconnection.abort());
  const signal = AbortSignal.any([disconnection.signal, closing]);
  let sentState: FileWriterState | undefined;
  const sendWriterState = (): void => {
    const state = readFileWriterState(file);
    if (state === sentState || signal.aborted) return;
    sentState = state;
    response.write(`event: writer\ndata: ${state}\n\n`);
  };
  const timer = setInterval(sendWriterState, WRITER_CHECK_INTERVAL_MS);
  try {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("retry: 1000\n\n");
    sendWriterState();
    const events = streamRecordingAsSse(file, signal, {
      ...(runId !== undefined && { runId }),
      ...(onForeignRun && { foreign: onForeignRun }),
    });
    for await (const event of events) {
      if (!response.write(event)) await once(response, "drain", { signal });
    }
  } catch {
    // The reader has disconnected, or the file became unreadable. The browser reconnects and then receives
    // the error.
  } finally {
    clearInterval(timer);
    response.destroy();
  }
}
