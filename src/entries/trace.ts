/**
 * The `colloquy/trace` entry point writes and reads traffic records, and computes tasks, calls, diagrams, and critical
 * paths from them. The writers and readers of files require Node.js.
 */
export * from "../observe/trace/public.ts";
export {
  createMemoryTrafficSink,
  createTrafficWriter,
  openTrafficFileSink,
  readTrafficFile,
  type TrafficRecordOption,
  type TrafficRecordOptions,
  type TrafficSink,
  type TrafficWriter,
  type TrafficWriterOptions,
} from "../observe/trace/recording/index.ts";
