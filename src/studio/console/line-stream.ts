import {
  encodeNamedSseFrame,
  encodeSseFrame,
  EVENT_STREAM_HEADERS,
  SSE_HEARTBEAT,
} from "../../wire/index.ts";
import type { AgentReloadNotice, ConsoleStreamEnd } from "../console-api/index.ts";
import type { JournalEntry, LineJournal } from "./line-journal.ts";
import type { ReloadNotices } from "./reload-notices.ts";

/** A stream of journal lines for a page. */
export interface LineStream {
  readonly journal: LineJournal;
  /** The stream begins after this position in the journal. */
  readonly after: number;
  /** Returns whether the stream contains an entry. Default: all entries. */
  readonly includes?: (entry: JournalEntry) => boolean;
  /** Returns the end of the stream, or `undefined` if the stream continues. Default: the stream never ends. */
  readonly findEnd?: () => ConsoleStreamEnd | undefined;
  /** Notices that the stream contains in addition to the lines. Default: none. */
  readonly notices?: ReloadNotices;
  /** Called once, when the stream has ended or the page has closed it. */
  readonly onClose?: () => void;
}

const HEARTBEAT_MS = 15_000;
/** Maximum length of the text that one read of the stream returns, in characters. */
const MAX_CHUNK_LENGTH = 256 * 1024;

/** Creates an SSE response with the lines of a stream. The stream is as fast as its reader, and holds no lines. */
export function createLineStreamResponse(
  { journal, after, includes = () => true, findEnd = () => undefined, notices, onClose }: LineStream,
  headers: Readonly<Record<string, string>>,
): Response {
  const encoder = new TextEncoder();
  const closed = new AbortController();
  let cursor = after;
  let noticePosition = notices?.end ?? 0;
  const close = (): void => {
    if (closed.signal.aborted) return;
    closed.abort();
    onClose?.();
  };
  /** Returns the text of the next lines, and moves the cursor behind them. */
  const takeText = (): string => {
    const lost = journal.countLostLines(cursor);
    let text = encodeNotices(notices?.listAfter(noticePosition));
    noticePosition = notices?.end ?? 0;
    if (lost > 0) text += encodeSseFrame(formatLossLine(lost));
    cursor += lost;
    for (const entry of journal.entriesAfter(cursor)) {
      cursor = entry.cursor;
      if (includes(entry)) text += encodeSseFrame(entry.text, entry.cursor);
      if (text.length > MAX_CHUNK_LENGTH) break;
    }
    return text;
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(encoder.encode(SSE_HEARTBEAT + encodeNotices(notices?.listFailures()))),
    pull: async (controller) => {
      for (;;) {
        // The end is read before the lines, because the last lines are written before the end.
        const end = findEnd();
        const text = takeText();
        if (text !== "") return controller.enqueue(encoder.encode(text));
        if (end) {
          controller.enqueue(encoder.encode(encodeNamedSseFrame("end", JSON.stringify(end))));
          controller.close();
          return close();
        }
        if (closed.signal.aborted) return;
        if (!(await waitWithHeartbeat(journal, closed.signal)))
          return controller.enqueue(encoder.encode(SSE_HEARTBEAT));
      }
    },
    cancel: close,
  });
  return new Response(body, { headers: { ...headers, ...EVENT_STREAM_HEADERS } });
}

function encodeNotices(notices: readonly AgentReloadNotice[] = []): string {
  return notices.map((notice) => encodeNamedSseFrame("reload", JSON.stringify(notice))).join("");
}

/** Resolves with true after a change of the journal, and with false when a heartbeat is due. */
async function waitWithHeartbeat(journal: LineJournal, signal: AbortSignal): Promise<boolean> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), HEARTBEAT_MS);
  await journal.waitForChange(AbortSignal.any([signal, timeout.signal]));
  clearTimeout(timer);
  return !timeout.signal.aborted;
}

function formatLossLine(lines: number): string {
  return JSON.stringify({
    v: 1,
    kind: "loss",
    writer: "console",
    seq: 0,
    at: new Date().toISOString(),
    mono_ms: performance.now(),
    lines,
    reason: "the page reads more slowly than lines arrive",
  });
}
