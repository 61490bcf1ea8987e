import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { openTrafficFileSink, type TrafficFileLimits } from "./traffic-file-sink.ts";
import {
  createTrafficWriter,
  QueuedTrafficWriter,
  type TrafficWriter,
  type TrafficWriterOptions,
} from "./traffic-writer.ts";

/** Options of a record in a file. */
export interface TrafficRecordOptions extends TrafficFileLimits {
  /** Path of the file. Existing lines remain. */
  readonly file: string;
  /**
   * Whether the record contains the bodies of requests, responses, events, model calls, and tool calls. Without bodies,
   * the record contains ids, states, and times. Default: true.
   */
  readonly bodies?: boolean;
  /**
   * Whether the record contains each frame of a stream. Without frames, it contains the events of the server's own
   * agents, and the task at the end of each stream that the agents receive, without headers. Default: true.
   */
  readonly frames?: boolean;
  /** Maximum length of one body in characters. A longer body is replaced by its beginning. Default: 65,536. */
  readonly maxBodyLength?: number;
}

/**
 * A place for the traffic record: the path of a file, options with the path, or a writer. The owner of a writer closes
 * it.
 */
export type TrafficRecordOption = string | TrafficRecordOptions | TrafficWriter;

/** A writer for the traffic of a server or a client, and the function that ends the record. */
export interface OpenTrafficRecord {
  readonly writer: TrafficWriter;
  /** Closes a writer that `openTrafficRecord` has created. Flushes a writer of the caller. */
  readonly close: () => Promise<void>;
}

const assertKnownOptions = defineOptionNames<TrafficRecordOptions>()(
  'the option "record"',
  "bodies file frames maxBodyLength maxBytes maxFiles",
);

/** Opens the record of an option `record`. A relative path is relative to the working directory. */
export function openTrafficRecord(
  record: TrafficRecordOption,
  writerOptions: Pick<TrafficWriterOptions, "vantage" | "name" | "code" | "onLoss" | "secrets">,
): OpenTrafficRecord {
  if (typeof record === "object" && "write" in record) {
    const writer = withSafeCalls(record, writerOptions.onLoss);
    return { writer, close: () => writer.flush() };
  }
  if (typeof record === "object") assertKnownOptions(record);
  const { file, maxBytes, maxFiles, ...bodyOptions } = typeof record === "string" ? { file: record } : record;
  const limits = { ...(maxBytes !== undefined && { maxBytes }), ...(maxFiles !== undefined && { maxFiles }) };
  const writer = createTrafficWriter(openTrafficFileSink(file, limits), { ...writerOptions, ...bodyOptions });
  return { writer, close: () => writer.close() };
}

/**
 * Returns a writer whose methods neither throw nor reject, because a record must not make a request fail. Returns the
 * same writer if `createTrafficWriter` has created it. `onLoss` receives the first error.
 */
function withSafeCalls(writer: TrafficWriter, onLoss: TrafficWriterOptions["onLoss"]): TrafficWriter {
  if (writer instanceof QueuedTrafficWriter) return writer;
  let hasReportedLoss = false;
  let lastCallNumber = 0;
  const reportLoss = (cause: unknown): void => {
    if (hasReportedLoss) return;
    hasReportedLoss = true;
    try {
      onLoss?.(cause);
    } catch {
      // An error of the callback must not affect the traffic.
    }
  };
  const callSafely = <T>(call: () => T, fallback: T): T => {
    try {
      return call();
    } catch (cause) {
      reportLoss(cause);
      return fallback;
    }
  };
  const { id, vantage, bodies, frames, header } = writer;
  return {
    id,
    vantage,
    bodies,
    frames,
    header,
    write: (line, rawMembers) => callSafely(() => writer.write(line, rawMembers), false),
    createCallId: () => callSafely(() => writer.createCallId(), `failed-${++lastCallNumber}`),
    subscribe: (listener) => writer.subscribe(listener),
    flush: async () => await callSafely(() => writer.flush(), undefined)?.catch(reportLoss),
    close: async () => await callSafely(() => writer.close(), undefined)?.catch(reportLoss),
  };
}
