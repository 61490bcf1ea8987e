import type { AgentReloadNotice } from "../../console-api/index.ts";
import type { TrafficLine } from "../../../observe/trace/index.ts";
import { parseSse } from "../../../wire/index.ts";
import { parseWellFormedJson } from "./parse-well-formed-json.ts";
import { readBytes } from "./read-bytes.ts";
import type { WatchConnection } from "./traffic-source.ts";

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;

/**
 * Follows the stream of all lines, and reconnects after the last cursor. Lines that arrive within one frame of the
 * browser form one batch.
 */
export function watchConsoleLines(
  open: (cursor: string | undefined, signal: AbortSignal) => Promise<Response>,
  onLines: (lines: readonly TrafficLine[]) => void,
  onConnection: (state: WatchConnection) => void = () => undefined,
  onReload: (notice: AgentReloadNotice) => void = () => undefined,
): () => void {
  const stopped = new AbortController();
  let cursor: string | undefined;
  let batch: TrafficLine[] = [];
  const flush = (): void => {
    const lines = batch;
    batch = [];
    onLines(lines);
  };
  const follow = async (onOpen: () => void): Promise<void> => {
    const response = await open(cursor, stopped.signal);
    onOpen();
    for await (const { id, event, data } of parseSse(readBytes(response))) {
      if (id !== undefined) cursor = id;
      if (event === "reload") onReload(JSON.parse(data) as AgentReloadNotice);
      // Lines have no event name.
      if (event !== undefined) continue;
      // A hidden page draws no frames, so a timer delivers the batch.
      if (batch.length === 0) setTimeout(flush, 16);
      batch.push(parseWellFormedJson(data) as TrafficLine);
    }
  };
  const run = async (): Promise<void> => {
    for (let attempt = 1; !stopped.signal.aborted; attempt++) {
      let message = "The console closed the connection.";
      try {
        await follow(() => {
          attempt = 0;
          onConnection({ state: "live" });
        });
      } catch (error) {
        message = error instanceof Error ? error.message : String(error);
      }
      if (stopped.signal.aborted) return;
      onConnection({ state: "reconnecting", attempt: attempt + 1, error: message });
      await waitFor(Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt), stopped.signal);
    }
  };
  onConnection({ state: "connecting" });
  void run();
  return () => stopped.abort();
}

function waitFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
