import { resolve } from "node:path";
import { Command, Option } from "commander";
import type { CliContext } from "../cli-context.ts";
import { parsePort } from "../client-options.ts";
import { OutputWriter } from "../output-writer.ts";
import { openInBrowser } from "../open-in-browser.ts";
import {
  addOutputFormatOptions,
  type OutputFormatOptions,
  type RunSelectionOptions,
} from "./cards-command-options.ts";
import { waitForAbort } from "../wait-for-abort.ts";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSameSecret } from "../../base/data-structures/index.ts";
import { type FileWriterState, readFileWriterState } from "../../cards/experiments/index.ts";
import { renderLiveHtmlReport } from "../../studio/pages/index.ts";
import { decodeRecordLines, findLineCards } from "../../cards/index.ts";
import { SharedTextDecoder, type TrafficLine } from "../../observe/trace/index.ts";
import { followFile } from "./watch/follow-file.ts";

interface CardsWatchOptions extends RunSelectionOptions, OutputFormatOptions {
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
    .action(async (file: string, options: CardsWatchOptions) => runCardsWatch(file, options, context));
}

async function runCardsWatch(
  file: string,
  { port, run, open, output }: CardsWatchOptions,
  context: CliContext,
): Promise<void> {
  const { streams } = context;
  const reportedRuns = new Set<string>();
  const server = await startWatchServer({
    file: resolve(file),
    title: file,
    port,
    ...(run !== undefined && { runId: run }),
    onForeignRun: (runId) => {
      if (!reportedRuns.has(runId))
        streams.err(`The file also has run ${runId}. Use --run ${runId} to watch it.\n`);
      reportedRuns.add(runId);
    },
  });
  try {
    new OutputWriter(streams, output).writeResultIfJsonFormat({ url: server.url });
    streams.err(`Watching ${file}\n\n  ${server.url}\n\nCtrl-C stops it.\n`);
    if (open) openInBrowser(server.url, (why) => streams.err(`${why}\n`));
    await waitForAbort(context.interruptSignal);
  } finally {
    await server.close();
  }
}

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

/** Text of one server-sent event for the watch page. */
type FormattedSseEvent = string;

/**
 * Yields the lines of a record as server-sent events. The first event is a `reset`, because a page that connects again
 * receives all lines again. A `lines` event contains decoded lines. A `torn` event contains the number of unreadable
 * lines. The function calls `foreign` once for each run of the record other than `runId`, which is the first run by
 * default.
 */
export async function* streamRecordingAsSse(
  file: string,
  signal: AbortSignal,
  options: { readonly runId?: string; readonly foreign?: (runId: string) => void } = {},
): AsyncGenerator<FormattedSseEvent, void, undefined> {
  const others = new Set<string>();
  let texts = new SharedTextDecoder();
  let { runId } = options;
  yield formatSseEvent("reset", "");
  for await (const found of followFile(file, signal)) {
    if (found === "reset") {
      ({ runId } = options);
      texts = new SharedTextDecoder();
      yield formatSseEvent("reset", "");
      continue;
    }
    const lines: TrafficLine[] = [];
    let torn = 0;
    for (const { line } of decodeRecordLines(found.lines, texts)) {
      if ("torn" in line) {
        torn += 1;
        continue;
      }
      const lineRunId = findLineRunId(line);
      runId ??= lineRunId;
      if (lineRunId === undefined || lineRunId === runId) lines.push(line);
      else if (!others.has(lineRunId)) {
        others.add(lineRunId);
        options.foreign?.(lineRunId);
      }
    }
    if (torn > 0) yield formatSseEvent("torn", String(torn));
    if (lines.length > 0) yield formatSseEvent("lines", JSON.stringify(lines));
  }
}

/** Returns the ID of the run to which a line or its message card belongs. */
function findLineRunId(line: TrafficLine): string | undefined {
  return "run_id" in line ? line.run_id : findLineCards(line)[0]?.metadata.run_id;
}

function formatSseEvent(event: string, data: string): FormattedSseEvent {
  return `event: ${event}\ndata: ${data}\n\n`;
}
