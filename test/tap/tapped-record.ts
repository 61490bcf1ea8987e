import {
  createMemoryTrafficSink,
  createTrafficWriter,
  type TrafficWriter,
} from "../../src/observe/trace/recording/index.ts";
import {
  decodeTrafficLine,
  loadTrafficModel,
  type TrafficLine,
  type TrafficModel,
} from "../../src/observe/trace/index.ts";
import { type RunningTap, startTap, type TapOptions } from "../../src/studio/tap/index.ts";

/** A tap whose record stays in memory. */
export interface RecordingTestTap {
  readonly tap: RunningTap;
  /** URL of the first target through the tap. */
  readonly url: string;
  readonly writer: TrafficWriter;
  readonly warnings: string[];
  readLines(): Promise<TrafficLine[]>;
  readModel(): Promise<TrafficModel>;
  close(): Promise<void>;
}

export async function startTestTap(
  targets: readonly (string | { readonly name: string; readonly url: string })[],
  options: Partial<TapOptions> = {},
): Promise<RecordingTestTap> {
  const sink = createMemoryTrafficSink();
  const writer = createTrafficWriter(sink, { vantage: "tap", name: "tap" });
  const warnings: string[] = [];
  const tap = await startTap({
    targets: targets.map((target) => (typeof target === "string" ? { url: target } : target)),
    writer,
    onWarning: (text) => warnings.push(text),
    ...options,
  });
  const readDecoded = async () => {
    await writer.flush();
    return sink
      .text()
      .split("\n")
      .filter((line) => line !== "")
      .map(decodeTrafficLine);
  };
  return {
    tap,
    url: tap.targets[0]?.url ?? "",
    writer,
    warnings,
    readLines: async () =>
      (await readDecoded()).map((decoded) => {
        if (decoded.type === "traffic") return decoded.line;
        throw new Error(`The record contains a line that is not valid: ${JSON.stringify(decoded)}`);
      }),
    readModel: async () => loadTrafficModel(await readDecoded()).model,
    close: async () => {
      await tap.close();
      await writer.close();
    },
  };
}

/** Waits until a condition holds for the lines of the record. */
export async function waitForLines(
  tap: RecordingTestTap,
  condition: (lines: readonly TrafficLine[]) => boolean,
): Promise<TrafficLine[]> {
  for (;;) {
    // Subscribes before reading, so that no line is missed.
    const { promise: written, resolve } = Promise.withResolvers<void>();
    const stop = tap.writer.subscribe(() => resolve());
    const lines = await tap.readLines();
    if (condition(lines)) {
      stop();
      return lines;
    }
    await written;
    stop();
  }
}
