import type { TrafficLine } from "../../../observe/trace/index.ts";
import type { RecordWriterState } from "./model/run-model.ts";

/** Callbacks for the server-sent events of a record that grows. */
interface LiveEventCallbacks {
  /** Called with decoded record lines in the order of the record file. */
  readonly onLines: (lines: readonly TrafficLine[]) => void;
  /** Called with the number of record lines that could not be decoded. */
  readonly onTornLines: (count: number) => void;
  /** Called when the record file is replaced or truncated. */
  readonly onReset: () => void;
  /** Called with the state of the process that writes the record. */
  readonly onWriterState: (state: RecordWriterState) => void;
  /** Called when the connection to the server opens or closes. */
  readonly onConnectionChange: (isConnected: boolean) => void;
}

/**
 * Subscribes to the event stream of a record that grows. After a disconnection, the browser reconnects
 * automatically and sends the ID of the last event.
 */
export function subscribeToLiveEvents(source: EventSource, callbacks: LiveEventCallbacks): void {
  source.addEventListener("open", () => callbacks.onConnectionChange(true));
  source.addEventListener("error", () => callbacks.onConnectionChange(false));
  source.addEventListener("reset", () => callbacks.onReset());
  source.addEventListener("writer", ({ data }: MessageEvent<string>) =>
    callbacks.onWriterState(data === "active" || data === "exited" ? data : "unknown"),
  );
  source.addEventListener("torn", ({ data }: MessageEvent<string>) => callbacks.onTornLines(Number(data)));
  // The server has already validated the lines.
  source.addEventListener("lines", ({ data }: MessageEvent<string>) =>
    callbacks.onLines(JSON.parse(data) as TrafficLine[]),
  );
}
