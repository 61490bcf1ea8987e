import type { RecordLine } from "../../record/index.ts";

/** What the server of a watched file says. */
export interface Heard {
  /** Lines of the record, in their order. */
  readonly lines: (lines: readonly RecordLine[]) => void;
  /** So many lines could not be read. */
  readonly torn: (count: number) => void;
  /** The file is another one now, or begins again. */
  readonly reset: () => void;
  /** Whether the server is there. */
  readonly connected: (isConnected: boolean) => void;
}

/** Hears of new lines. The browser connects again by itself, and says from where on: the id of the last event. */
export function listen(address: string, heard: Heard): void {
  const source = new EventSource(address);
  source.addEventListener("open", () => heard.connected(true));
  source.addEventListener("error", () => heard.connected(false));
  source.addEventListener("reset", () => heard.reset());
  source.addEventListener("torn", ({ data }: MessageEvent<string>) => heard.torn(Number(data)));
  // The server has decoded them.
  source.addEventListener("lines", ({ data }: MessageEvent<string>) =>
    heard.lines(JSON.parse(data) as RecordLine[]),
  );
}
