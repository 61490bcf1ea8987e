import type { RecordLine } from "../../recording/index.ts";

/** What the server of a watched file says. */
export interface LiveEventCallbacks {
  /** Lines of the record, in their order. */
  readonly onLines: (lines: readonly RecordLine[]) => void;
  /** So many lines could not be read. */
  readonly onTornLines: (count: number) => void;
  /** The file is another one now, or begins again. */
  readonly onReset: () => void;
  /** Whether the server is there. */
  readonly onConnectionChange: (isConnected: boolean) => void;
}

/** Hears of new lines. The browser connects again by itself, and says from where on: the id of the last event. */
export function subscribeToLiveEvents(address: string, heard: LiveEventCallbacks): void {
  const source = new EventSource(address);
  source.addEventListener("open", () => heard.onConnectionChange(true));
  source.addEventListener("error", () => heard.onConnectionChange(false));
  source.addEventListener("reset", () => heard.onReset());
  source.addEventListener("torn", ({ data }: MessageEvent<string>) => heard.onTornLines(Number(data)));
  // The server has decoded them.
  source.addEventListener("lines", ({ data }: MessageEvent<string>) =>
    heard.onLines(JSON.parse(data) as RecordLine[]),
  );
}
