/**
 * Writers and readers of traffic records, for Node.js. The folder `trace` itself contains the format and the model,
 * which also run in browsers.
 */
export { createMemoryTrafficSink, type MemoryTrafficSink, type TrafficSink } from "./traffic-sink.ts";
export { createTrafficWriter, type TrafficWriter, type TrafficWriterOptions } from "./traffic-writer.ts";
export { openTrafficFileSink, type TrafficFileLimits } from "./traffic-file-sink.ts";
export {
  openTrafficRecord,
  type OpenTrafficRecord,
  type TrafficRecordOption,
  type TrafficRecordOptions,
} from "./traffic-record.ts";
export { listTrafficFiles, readTrafficFile, type ReadTrafficLine } from "./read-traffic-files.ts";
export { SharedTextEncoder } from "./shared-text-encoder.ts";
export { redactSecretHeaders } from "../../logging/index.ts";
